// SPDX-License-Identifier: Apache-2.0
// Packed operands of matmuls: their extents and memory, and the schedules of the kernel that packs
// them and of the guard.
#pragma once

#include "codegen/kernel/build_kernel.h"

namespace ingot {

/// Both operands of each matmul of a group.
std::vector<MatmulSide> matmul_sides(const Group& group);

/// The reads that an operand's elements are made of, as indices in Group::reads.
std::vector<size_t> operand_reads(const Graph& graph, const Group& group, MatmulSide of);

/// The format in which the mainloop of a schedule reads its operands.
PackFormat pack_format(const Schedule& schedule);

/// A matmul's operand in a format.
PackedOperand packed_operand(const Graph& graph, const Group& group, MatmulSide of,
                             PackFormat format);

/// The parameter of a kernel that reads or writes a packed operand.
KernelParameter packed_parameter(const PackedOperand& operand, const Buffer& buffer);

/// Makes an operand of a kernel packed. It gets a parameter with the memory of `buffer`, unless the
/// first matmul of a pair has the same matrix.
void add_packed(Kernel& kernel, MatmulSide of, const PackedOperand& packing,
                llvm::function_ref<Buffer()> buffer);

/// The bytes of a packed operand.
Expr packed_bytes(const PackedOperand& operand);

/// The bytes of the counters of a kernel that packs its own A for tiles of so many rows.
Expr pack_counters_bytes(const PackedOperand& a, int64_t tile_m);

/// True if rows may not suit the format of a schedule's operands, so that a guard follows.
bool needs_guard(const Schedule& schedule);

/// The schedule of the kernel that computes the tiles again whose rows do not suit, with the same
/// tiles as the kernel of `schedule`, which computes all of them.
Schedule guard_schedule(const Schedule& schedule);

/// The schedule of the kernel that packs an operand: a warp for each row, or, for contiguous rows
/// that are packed in blocks, as many threads as hold a row. `fetched`: how the matmul's own
/// schedule fetches the elements.
Schedule packing_schedule(const MatrixOperand& operand, const OperandSchedule& fetched);

} // namespace ingot
