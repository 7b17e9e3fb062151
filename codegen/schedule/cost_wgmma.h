// SPDX-License-Identifier: Apache-2.0
// The part of predict() for products by wgmma.
#pragma once

#include "codegen/schedule/cost_model.h"

namespace ingot {

/// The work of such a kernel.
struct WgmmaWork {
  double tiles;    ///< of an SM
  double batches;  ///< matrices that the tiles belong to
  double depth;    ///< K of a tile
  double products; ///< of a tile: two over one A are a pair
};

/// Adds the seconds of the units that the products keep busy. Returns the seconds that an SM spends
/// in the mainloop of one tile.
double add_wgmma(const WgmmaWork& work, const Schedule& schedule, const DeviceSpec& device,
                 KernelCost& cost);

} // namespace ingot
