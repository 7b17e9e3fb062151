// SPDX-License-Identifier: Apache-2.0
// How blocks share the tiles of a matmul that has too few to fill the machine: into how many parts
// its contraction is cut, and what memory the parts meet in. Used by schedules and lower.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The tiles of a held kernel.
Expr tile_count(const TileBody& body, const Schedule& schedule);

/// Parts of each tile; 1 unless the scheduler is split_k.
Expr part_count(const TileBody& body, const Schedule& schedule);

/// Workspace for the sums of all parts, and state for a counter a tile. Zero at sizes that divide
/// no tile.
Expr split_sums_bytes(const TileBody& body, const Schedule& schedule);
Expr split_arrivals_bytes(const TileBody& body, const Schedule& schedule);

/// The shortest contraction of the kernel.
Expr depth_of(const TileBody& body);

} // namespace ingot
