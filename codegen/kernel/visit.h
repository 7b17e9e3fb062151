// SPDX-License-Identifier: Apache-2.0
// Walks the data of a kernel. Used for properties of all its expressions.
#pragma once

#include "codegen/kernel/kernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Visits every expression that the generated code evaluates.
void for_each_expr(const Kernel& kernel, llvm::function_ref<void(const Expr&)> visit);

/// The matrix operands in the order of Schedule::operands: A and B of each matmul, and for an A
/// that is computed those of its own product.
std::vector<const MatrixOperand*> matrix_operands(const TileBody& body);
std::vector<MatrixOperand*> matrix_operands(TileBody& body);

/// The tile of the body's computed operand; null: none.
const ComputedTile* computed_tile(const TileBody& body);
/// That tile and the tiles before it, in the order in which they are computed.
std::vector<const ComputedTile*> computed_tiles(const TileBody& body);

/// The expression that a stage evaluates at each point; null: none.
const PointExpr* value_of(const Stage& stage);

/// Visits every parameter from which an operand is computed, once per read.
void for_each_read(MatrixOperand& operand, llvm::function_ref<void(uint32_t& parameter)> visit);

} // namespace ingot
