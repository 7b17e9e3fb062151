// SPDX-License-Identifier: Apache-2.0
// Writes the code that all variants of a kernel share: operands, stages and `template Kernel<V>`.
// emit_kernel uses it.
#pragma once

#include "codegen/emit/functors.h"

namespace ingot {

/// Writes `struct name`, an operand of a matmul (tile/matrix.cuh), and its prologue.
void write_operand_matrix(CodeWriter& out, const EmitContext& context, const MatrixOperand& operand,
                          size_t index, const std::string& name);

/// Writes the members of `struct Kernel`.
void write_tile_body(CodeWriter& out, const EmitContext& context, const TileBody& body);
void write_packing_body(CodeWriter& out, const EmitContext& context, const PackingBody& body);

} // namespace ingot
