// SPDX-License-Identifier: Apache-2.0
// The amount of data that a kernel reads and writes. explain counts these bytes, and the cost model
// charges them. Caches are assumed to keep the elements of one row or column, and nothing more.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The reads of a kernel through one parameter. A walk goes once over the rows of a tile.
struct ReadTraffic {
  /// The elements that each walk reads; for states, the results. Empty: nothing is read.
  std::vector<Expr> walks;
};

/// The reads by parameter. Each reduction of streamed rows reads them again if it needs them, and
/// so do the stores. If a matmul multiplies halves, the halves are read in place of the operand.
std::vector<ReadTraffic> read_traffic(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
