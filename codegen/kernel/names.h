// SPDX-License-Identifier: Apache-2.0
// Words of generated code: types, literals, and the values and ops that comments name.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace ingot {

/// The value's written name, or v<index>.
std::string value_name(const Graph& graph, ValueId value);
/// A value as a kernel reads it: `x`, or `transpose(w)` if it is rearranged on the way.
std::string moved_text(const Graph& graph, ValueId value);
/// `batch_norm` -> `BatchNorm`
std::string pascal(llvm::StringRef name);
/// A value's type as a comment: `bf16[128]`, or `bf16[128], stored as f32`.
std::string stored_text(const Graph& graph, ValueId value);
/// The type in registers: f32 for every float.
llvm::StringRef register_type(DType dtype);
/// A literal that the compiler reads back to the same value.
std::string literal(const ConstantAttributes& constant);
/// `h = add(v3, bias)`: one op in the text language, for comments. `name` gives the names of
/// operands; without it they come from value_name.
std::string op_line(const Graph& graph, const Op& op,
                    llvm::function_ref<std::string(ValueId)> name = {});

} // namespace ingot
