// SPDX-License-Identifier: Apache-2.0
// The analysis of a kernel that computes operand A of its matmul: the operand's tile and the kernel
// behind it are analysed apart, and must have the same points. Used by legality alone.
#pragma once

#include "ir/fusion/legality.h"

namespace ingot {

/// Analyses a group that computes the operand of `matmul`: the operand's tile, which may compute an
/// operand in turn, then the kernel behind it.
std::variant<Group, Refusal> analyze_computing(const GroupContext& context,
                                               const std::vector<OpId>& ops,
                                               const std::vector<StoreTarget>& targets,
                                               OpId matmul);

/// True if the tile of a group's computed operand has the group's points: its batch and rows in one
/// order, and K as columns. Marks the reads of the group that are not from memory. Where the tile
/// multiplies other matrices along the group's rows, these become a batch of the group. `dims`:
/// those of the operand in the group's `space`.
bool place_tile(const Graph& graph, const Group& tile, AxisSpace& space, const AtomList& dims,
                Group& group);

} // namespace ingot
