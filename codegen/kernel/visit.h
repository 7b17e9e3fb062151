// SPDX-License-Identifier: Apache-2.0
// Walks the data of a kernel. Used where something is said of all its expressions.
#pragma once

#include "codegen/kernel/kernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Every expression that the generated code evaluates.
void for_each_expr(const Kernel& kernel, llvm::function_ref<void(const Expr&)> visit);

/// What a stage evaluates at each point; null: nothing.
const PointExpr* value_of(const Stage& stage);

/// Every parameter that an operand is made of, as often as it is read.
void for_each_read(MatrixOperand& operand, llvm::function_ref<void(uint32_t& parameter)> visit);

} // namespace ingot
