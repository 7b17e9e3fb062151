// SPDX-License-Identifier: Apache-2.0
// Decides which f32 products are computed from halves on tensor cores (tile/halves.cuh), and makes
// the schedule choices that are special to these products.
#pragma once

#include "codegen/kernel/packing.h"
#include "codegen/schedule/choose.h"

namespace ingot {

/// Products of promoted sums on tensor cores before they move to totals.
inline constexpr int64_t kTotalEvery = 2048;

/// True for f32 products with the precision `highest` that are large enough to pay for the halves
/// of their operands.
bool suits_halves(const Graph& graph, const Group& group, const ScheduleOptions& options);

/// True if six products of bf16 thirds make a group of f32 matmuls faster than FMA: all but small
/// ones, and those with reductions that demand wide tiles.
bool suits_thirds(const Graph& graph, const Group& group, const ScheduleOptions& options);

/// True if the operands of a group's matmuls can be packed without growing.
bool can_pack(const Graph& graph, const Group& group);

/// The number of elements of an operand that each launch packs. Operands that depend on params
/// alone have none. (A size that no param has would also move them to a launch. But a tensor that
/// is broadcast to such a size is not packed.) `params_only`: of depends_only_on_params.
double packed_in_launch(const Graph& graph, const Group& group, MatmulSide of,
                        const std::vector<bool>& params_only);

/// True for the mainloops of sm_80 that split f32 operands, into halves or bf16 thirds.
inline bool is_split(MainloopKind kind) {
  return kind == MainloopKind::halves || kind == MainloopKind::thirds;
}

/// Sets the warps and slots of such a kernel. A thread has sums of all products, one set of parts,
/// and fragments of the pieces of the operands. It has at most 64 sums of a single product, and 32
/// of each of a pair.
void set_split_warps(const Group& group, Schedule& schedule);

/// Sets deep tiles of two slots if they fit. They measure better than shallow tiles of three slots,
/// and take more registers. They are for constant sizes, and for tiles of one product without split
/// K.
void deepen_halves_tile(const ScheduleSite& site, Schedule& schedule);

} // namespace ingot
