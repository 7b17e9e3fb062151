// SPDX-License-Identifier: Apache-2.0
// f32 products from halves on tensor cores (tile/halves.cuh): which matmuls are computed so, how
// much memory the halves of their operands take, and the kernels that make these.
#pragma once

#include "codegen/emit.h"

namespace ingot {

/// An operand of a matmul of a group.
struct MatmulSide {
  size_t matmul = 0; ///< index in Group::matmuls
  uint32_t side = 0; ///< 0: A, 1: B
  /// Where Schedule::operands has it.
  size_t index() const { return 2 * matmul + side; }
};
/// Both operands of each matmul of a group.
std::vector<MatmulSide> matmul_sides(const Group& group);

/// True for f32 products, promised as `highest`, that are large enough to pay for the halves of
/// their operands.
bool multiplies_halves(const Graph& graph, const Group& group, const ScheduleOptions& options);

/// The warps and stages of such a kernel: sums of all products, one of parts, and fragments of four
/// halves, so 64 sums of a product each thread at most, and 32 of each of a pair.
void set_halves_warps(const Group& group, Schedule& schedule);

/// Deep tiles of two stages measure better than shallow ones of three, and take more registers: for
/// sizes that are numbers and tiles of one product that blocks do not share, where they fit.
void deepen_halves_stages(const Graph& graph, const Group& group, const DeviceSpec& device,
                          Schedule& schedule);

/// An operand's matrices: rows are those of A or the columns of B.
struct HalvesExtents {
  Dim batches, rows, depth;
};
HalvesExtents halves_extents(const Graph& graph, const Group& group, MatmulSide of);

/// The size of Halves in memory.
Expr halves_bytes(const HalvesExtents& extents);

/// `{p.x_halves, 1, 1024, 8192}`: Halves in generated code.
std::string halves_code(const HalvesExtents& extents, const std::string& pointer);

/// What the operand's elements are made of, numbers that are computed included, as indices in
/// Group::reads.
std::vector<size_t> operand_reads(const Graph& graph, const Group& group, MatmulSide of);

/// An operand whose halves a kernel makes.
struct HalvedOperand {
  const Group& group;
  const Schedule& schedule; ///< of the group
  MatmulSide of;
};

/// Emits `entry`, which makes the halves of an operand.
KernelVariant emit_halving(const Graph& graph, const Ranges& ranges, const HalvedOperand& operand,
                           const BufferMap& buffers, const std::string& entry);

} // namespace ingot
