// SPDX-License-Identifier: Apache-2.0
// The part of predict() for products by wgmma.
#pragma once

#include "codegen/schedule/cost_model.h"

#include <array>

namespace ingot {

/// The work of such a kernel.
struct WgmmaWork {
  double tiles;    ///< of an SM
  double batches;  ///< matrices that the tiles belong to
  double depth;    ///< K of a tile
  double products; ///< of a tile: two over one A are a pair
  /// Of A and of B: as of lines_of_copies.
  std::array<double, 2> lines;
};

/// The lines of L2, from 1 to 2, that 128 bytes of an operand's row lie in, in the mean. Rows of
/// packed operands begin with lines.
double lines_of_copies(const Kernel& kernel, const MatrixOperand& operand);

/// Instructions that merge states of columns behind a product, for each of its elements.
double column_merges(const TileBody& body, const Schedule& schedule);

/// Adds the seconds of the units that the products keep busy. Returns the seconds that an SM spends
/// in the mainloop of one tile.
double add_wgmma(const WgmmaWork& work, const Schedule& schedule, const DeviceSpec& device,
                 KernelCost& cost);

} // namespace ingot
