// SPDX-License-Identifier: Apache-2.0
// Instructions of a kernel outside its mainloops, for the cost model.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// Of all stages and prologues, counted by elements: a step that depends on the row alone counts
/// once a row, and a prologue once an element of the operand. `value`: of an extent.
double stage_instructions(const Kernel& kernel, llvm::function_ref<double(const Expr&)> value);

} // namespace ingot
