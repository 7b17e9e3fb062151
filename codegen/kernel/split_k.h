// SPDX-License-Identifier: Apache-2.0
// Split K: blocks share the tiles of a matmul that has too few tiles to fill the machine. Computes
// the number of parts of its contraction, and the memory through which the parts are combined. Used
// by schedules and lower.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The tiles along the rows, of all matrices.
Expr row_tile_count(const TileBody& body, int64_t tile_m);
/// The tiles of a held or specialised kernel, also those of a cluster past the last row.
Expr tile_count(const TileBody& body, const Schedule& schedule);

/// The number of parts of each tile; 1 unless K is split.
Expr split_parts(const TileBody& body, const Schedule& schedule);

/// The workspace for the sums of all parts, and the state for one counter per tile. Both are 0 for
/// sizes at which no tile is divided.
Expr split_sums_bytes(const TileBody& body, const Schedule& schedule);
Expr split_arrivals_bytes(const TileBody& body, const Schedule& schedule);

/// The shortest contraction of the kernel.
Expr depth_of(const TileBody& body);

} // namespace ingot
