// SPDX-License-Identifier: Apache-2.0
// The part of predict() for a product whose operand A the kernel computes.
#pragma once

#include "codegen/schedule/cost_model.h"

namespace ingot {

/// The work of such a kernel.
struct NestedWork {
  double tiles;  ///< and their parts of K
  double depth;  ///< K of the product, or of a part
  double parts;  ///< of a tile
  double units;  ///< K of the inner product with its padding, and the tile's columns
  double blocks; ///< of an SM
  double share;  ///< of the rate of mma.sync that the resident warps reach
  double reads;  ///< bytes that the tile's stages read from memory at a point
};

/// The work of a kernel whose operand A is a tile with all of K.
struct ResidentWork {
  double tiles;
  double area;   ///< K times columns of each product, with their padding, added up
  double depth;  ///< K of the products whose operands are copied tile by tile, added up
  double blocks; ///< of an SM
  double share;  ///< of the rate of mma.sync that the resident warps reach
};

/// K times columns of the products of resident tiles and of the last one, with their padding.
double resident_area(const TileBody& body, const Schedule& schedule,
                     llvm::function_ref<double(const Expr&)> value);
/// K of all of them, but of the first one alone where weights stay in shared memory.
double copied_depth(const TileBody& body, const Schedule& schedule,
                    llvm::function_ref<double(const Expr&)> value);
/// Adds the costs of its products beside those of its stages.
void add_resident(const ResidentWork& work, const Schedule& schedule, const DeviceSpec& device,
                  KernelCost& cost);

/// Adds the costs of both products and of the tile's stages, of which `cost` has the seconds.
void add_nested(const NestedWork& work, const Schedule& schedule, const DeviceSpec& device,
                KernelCost& cost);

} // namespace ingot
