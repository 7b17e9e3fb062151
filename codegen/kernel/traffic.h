// SPDX-License-Identifier: Apache-2.0
// The amount of data that a kernel reads and writes. explain counts these bytes, and the cost model
// charges them. Caches are assumed to keep the elements of one row or column, and nothing more.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The elements that a kernel moves through one parameter; for states, the results.
struct ParameterTraffic {
  std::vector<Expr> reads; ///< of each walk, which goes once over the rows of a tile
  std::vector<Expr> writes;
};

/// The traffic by parameter. Each walk (codegen/kernel/walks.h) reads rows again if it needs them.
/// If a matmul's operand is packed, its packed form is read in its place. If K is split, each block
/// writes sums of its part, and one block of each tile reads those of all.
std::vector<ParameterTraffic> traffic_of(const Kernel& kernel, const Schedule& schedule);

/// The bytes of `elements`. States and sums are moved as a whole.
Expr bytes_of(const KernelParameter& parameter, const Expr& elements);

} // namespace ingot
