// SPDX-License-Identifier: Apache-2.0
// Identifiers, types and literals of generated code: each has its one owner here.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>
#include <string>

namespace ingot {

/// Hands out C++ identifiers that are unique within one scope and no word or macro of the language
/// and no name that generated code uses.
class Names {
public:
  /// `wanted` cleaned up; `_2`, `_3`, ... is appended when it is taken.
  std::string unique(llvm::StringRef wanted);

private:
  std::set<std::string> taken_;
};

/// The value's written name, or v<index>.
std::string value_name(const Graph& graph, ValueId value);
/// A value as a kernel reaches it: `x`, or `transpose(w)` of one that is rearranged on the way.
std::string moved_text(const Graph& graph, ValueId value);
/// `batch_norm` -> `BatchNorm`
std::string pascal(llvm::StringRef name);
/// The device library's name of an element in memory: f32 f16 bf16 i32 i64 bool.
llvm::StringRef storage_type(DType dtype);
/// A value's type as a comment: `bf16[128]`, or `bf16[128], stored as f32`.
std::string stored_text(const Graph& graph, ValueId value);
/// The type in registers: f32 for every float.
llvm::StringRef register_type(DType dtype);
/// A literal that the compiler reads back to the same value.
std::string literal(const ConstantAttributes& constant);
/// `h = add(v3, bias)`: one op in the text language, for comments. `name`: how an operand is
/// called, as value_name without it.
std::string op_line(const Graph& graph, const Op& op,
                    llvm::function_ref<std::string(ValueId)> name = {});

} // namespace ingot
