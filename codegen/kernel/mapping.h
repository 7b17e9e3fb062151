// SPDX-License-Identifier: Apache-2.0
// Mapped operands of matmuls (sm_90a): operands that copies read by a tensor map, where they lie.
#pragma once

#include "codegen/kernel/build_kernel.h"

namespace ingot {

/// True if a schedule's mainloop reads an operand by a tensor map.
bool is_mapped(const Schedule& schedule, MatmulSide of);

/// True if an operand of an outline may be mapped: its elements are f16, bf16 or f32 and have no
/// prologue, and steps are multiples of kMapAlignment for every size. Those of the batch may be
/// several, as of heads that lie side by side in a row, or share a matrix. Variants ask for a
/// pointer that is a multiple too. A launch refuses extents that copies cannot count.
bool can_map(const Kernel& outline, const MatrixOperand& operand);

/// True if products of type `compute` multiply the operand as copies bring it: of their own type,
/// or f32 that copies round to TF32.
bool multiplies_copied(const Kernel& outline, const MatrixOperand& operand, ComputeType compute);

/// True if two operands of a kernel are one matrix in memory, which the product takes unchanged.
bool is_same_matrix(const MatrixOperand& a, const MatrixOperand& b);

/// The operand of the first matmul on a side, if it is the same matrix: a pair with one A has one
/// map, or one packed operand. Null: it is another matrix.
const MatrixOperand* shared_operand(const TileBody& body, MatmulSide of);

/// The alignment in bytes of a mapped tensor (CUDA driver API, cuTensorMapEncodeTiled).
inline constexpr int64_t kMapAlignment = 16;

/// The tensor of an operand that can be mapped: that of a matmul's side in a group, which is that
/// of the tile for the operands of a computed tile.
MappedOperand mapped_operand(const Graph& graph, const Group& group, MatmulSide of,
                             const MatrixOperand& operand);

/// The maps for the copies of a schedule, whose operands have their parameters. Operands that are
/// one matrix share a map.
std::vector<VariantMap> tensor_maps(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
