// SPDX-License-Identifier: Apache-2.0
// The precision contract of f32 matmuls, in PyTorch's words. The user chooses it, schedules honour
// it, and the interpreter's error bounds account for it.
#pragma once

#include "ir/types.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ingot {

/// The accuracy of a matmul of f32 operands. f16 and bf16 operands always accumulate in f32.
enum class MatmulPrecision : uint8_t {
  pedantic, ///< plain FMA in f32, one chain over K
  highest,  ///< componentwise error <= 2^-20 (|A||B|) for every finite input
  high,     ///< operands rounded to TF32, accumulation in f32
  medium,   ///< operands rounded to bf16, accumulation in f32
};

/// Products over at most this many elements are plain FMA in f32 in every precision. Storing the
/// result takes longer than multiplying (at K = 16, 32 FLOP for 4 stored bytes).
inline constexpr int64_t kShortContraction = 16;

/// Whether K is a number of at most kShortContraction. A named K is not.
bool is_short_contraction(const Dim& depth);
/// The precision in which a product of f32 operands over `depth` elements runs if `asked` is set.
MatmulPrecision precision_of(MatmulPrecision asked, const Dim& depth);

/// pedantic highest high medium.
llvm::StringRef spelling(MatmulPrecision precision);
std::optional<MatmulPrecision> parse_matmul_precision(llvm::StringRef text);
/// All four, most exact first.
llvm::ArrayRef<MatmulPrecision> all_matmul_precisions();

} // namespace ingot
