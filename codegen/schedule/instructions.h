// SPDX-License-Identifier: Apache-2.0
// Instructions of a kernel outside its mainloops, for the cost model.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// Instructions of all stages and prologues, by elements: a step that depends on the row alone
/// counts once per row, and a prologue once per element of the operand. `value` gives the number
/// of an extent.
double stage_instructions(const Kernel& kernel, llvm::function_ref<double(const Expr&)> value);

/// Instructions of the stages for one element of the domain.
double instructions_of_element(const TileBody& body, llvm::function_ref<double(const Expr&)> value);

/// The seconds until the code of the stages has arrived at an SM that runs it first. The code is as
/// long as a thread has elements, or half of them where it runs in bands.
double code_seconds(const TileBody& body, const Schedule& schedule,
                    llvm::function_ref<double(const Expr&)> value);

} // namespace ingot
