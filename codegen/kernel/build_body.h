// SPDX-License-Identifier: Apache-2.0
// Builds the body of a kernel: its mainloops and stages as data. Used by build_kernel.
#pragma once

#include "codegen/kernel/build_kernel.h"

namespace ingot {

/// The parameters of a body's memory, as numbers in Kernel::parameters.
struct BodyParameters {
  std::map<ValueId, uint32_t> reads;
  std::vector<std::vector<uint32_t>> writes; ///< by Group::writes
  std::map<OpId, uint32_t> states;           ///< states of reductions that span tiles
};

/// The body for outline_kernel: the number of states of a reduction is still open.
TileBody build_body(const GroupSite& site, const BodyParameters& parameters);

} // namespace ingot
