// SPDX-License-Identifier: Apache-2.0
// The part of predict() for a product whose operand A the kernel computes.
#pragma once

#include "codegen/schedule/cost_model.h"

namespace ingot {

/// The work of such a kernel.
struct NestedWork {
  double tiles;
  double depth;  ///< K of the product
  double units;  ///< K of the inner product with its padding, and the tile's columns
  double blocks; ///< of an SM
  double share;  ///< of the rate of mma.sync that the resident warps reach
  double reads;  ///< bytes that the tile's stages read from memory at a point
};

/// Adds the costs of both products and of the tile's stages, of which `cost` has the seconds.
void add_nested(const NestedWork& work, const Schedule& schedule, const DeviceSpec& device,
                KernelCost& cost);

} // namespace ingot
