// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, and the maximum rank of a tensor.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ingot {

enum class DType : uint8_t { f32, f16, bf16, i32, i64, boolean };

/// Bytes of one element. bool is stored as one byte, 0 or 1.
int64_t size_of(DType dtype);
/// The type's name in the text language: f32 f16 bf16 i32 i64 bool.
llvm::StringRef spelling(DType dtype);
std::optional<DType> parse_dtype(llvm::StringRef text);
bool is_float(DType dtype);
/// True for f16 and bf16.
bool is_16_bit(DType dtype);
bool is_integer(DType dtype);

/// The maximum number of dims of a tensor.
inline constexpr int64_t kMaxRank = 8;

} // namespace ingot
