// SPDX-License-Identifier: Apache-2.0
// Walks the data of a kernel. Used for properties of all its expressions.
#pragma once

#include "codegen/kernel/kernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Visits every expression that the generated code evaluates.
void for_each_expr(const Kernel& kernel, llvm::function_ref<void(const Expr&)> visit);

/// The expression that a stage evaluates at each point; null: none.
const PointExpr* value_of(const Stage& stage);

/// Visits every parameter from which an operand is computed, once per read.
void for_each_read(MatrixOperand& operand, llvm::function_ref<void(uint32_t& parameter)> visit);

} // namespace ingot
