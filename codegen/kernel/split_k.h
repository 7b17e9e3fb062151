// SPDX-License-Identifier: Apache-2.0
// How blocks share the tiles of a matmul that has too few to fill the machine: into how many parts
// its contraction is cut, and what memory the parts meet in. Used by schedules, lower and emitter.
#pragma once

#include "codegen/kernel/schedule.h"
#include "ir/fusion/plan.h"
#include "src/support/expr.h"

namespace ingot {

/// The tiles of a held kernel.
Expr tile_count(const Group& group, const Schedule& schedule);

/// Parts of each tile; 1 unless the scheduler is split_k.
Expr part_count(const Group& group, const Schedule& schedule);

/// Workspace for the sums of all parts, and state for a counter a tile. Zero at sizes that divide
/// no tile.
Expr split_sums_bytes(const Group& group, const Schedule& schedule);
Expr split_arrivals_bytes(const Group& group, const Schedule& schedule);

/// The shortest contraction of the group.
Expr depth_of(const Group& group);

} // namespace ingot
