// SPDX-License-Identifier: Apache-2.0
// Grid, block and shared memory of a kernel under a schedule. Used by build_kernel.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

LaunchShape tile_launch(const TileBody& body, const Schedule& schedule);

/// The distance of tiles along the columns.
Expr tile_columns_of(const TileBody& body, const Schedule& schedule);

LaunchShape packing_launch(const PackedOperand& operand, const Schedule& schedule);

} // namespace ingot
