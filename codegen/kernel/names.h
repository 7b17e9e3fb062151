// SPDX-License-Identifier: Apache-2.0
// The text of a graph's values, constants and ops, for comments and dumps.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace ingot {

/// The value's written name, or v<index>.
std::string value_name(const Graph& graph, ValueId value);
/// A value as a kernel reads it: `x`, or `transpose(w)` if it is rearranged on the way.
std::string moved_text(const Graph& graph, ValueId value);
/// A value's type as a comment: `bf16[128]`, or `bf16[128], stored as f32`.
std::string stored_text(const Graph& graph, ValueId value);
/// `0.5`; a bool is 0 or 1.
std::string number_text(const ConstantAttributes& constant);
/// `h = add(v3, bias)`: one op in the text language, for comments. `name` gives the names of
/// operands; without it they come from value_name.
std::string op_line(const Graph& graph, const Op& op,
                    llvm::function_ref<std::string(ValueId)> name = {});

} // namespace ingot
