// SPDX-License-Identifier: Apache-2.0
// Halves of f32 operands (tile/halves.cuh): their extents and memory, and the schedule of the
// kernel that makes them.
#pragma once

#include "codegen/kernel/build_kernel.h"

namespace ingot {

/// Both operands of each matmul of a group.
std::vector<MatmulSide> matmul_sides(const Group& group);

/// The reads that an operand's elements are made of, as indices in Group::reads.
std::vector<size_t> operand_reads(const Graph& graph, const Group& group, MatmulSide of);

/// The halves of an operand as this mainloop reads them.
HalvesExtents halves_extents(const Graph& graph, const Group& group, MatmulSide of,
                             MainloopKind mainloop = MainloopKind::halves);

/// The bytes of the halves in memory, in their layout.
Expr halves_bytes(const HalvesExtents& extents);

/// The schedule of the kernel that computes the tiles again whose halves do not suit, with the same
/// tiles as a kernel that computes all of them.
Schedule guard_schedule(const Schedule& schedule);

/// The schedule of the kernel that makes the halves of an operand: a warp for each row, or, for
/// packed halves of contiguous rows, as many threads as hold a row. `fetched`: how the matmul's own
/// schedule fetches the elements.
Schedule halving_schedule(const MatrixOperand& operand, const OperandSchedule& fetched);

} // namespace ingot
