// SPDX-License-Identifier: Apache-2.0
// The order of the tiles of kernels with a computed operand.
#pragma once

#include "kernels/scheduler.cuh"
#include "tile/operand.cuh"

namespace ingot {

/// The tile with a number in the order in which blocks take them. By conditions on positions
/// (`Admits`, tile/computed_steps.cuh), the tiles of a matrix have more or fewer steps: a causal
/// mask leaves the most to the last rows. Then all matrices' last rows come first, so that the
/// blocks end together. Else the tiles of a matrix come together, which read the same operands.
template <class... Admits>
INGOT_DEVICE i64 nested_tile(const TileGrid& grid, i64 number, List<Admits...>) {
  if constexpr (sizeof...(Admits) == 0) return number;
  const i64 of_matrix = grid.row_tiles() * grid.col_tiles();
  return number % grid.batch * of_matrix + of_matrix - 1 - number / grid.batch;
}

} // namespace ingot
