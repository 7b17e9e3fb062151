// SPDX-License-Identifier: Apache-2.0
// The functions that library.def names, one declaration each.
#pragma once

#include "ir/library/call.h"

namespace ingot::library {

#define INGOT_FUNCTION(name, implementation, parameters, summary)                                  \
  Results implementation(Call& call);
#include "ir/library.def"

/// The function of every elementwise primitive, with operands by position.
Results elementwise(Call& call);

/// The maximum number of results of a call.
inline constexpr int64_t kMostParts = 4096;

// Helpers that composites share.
// For the last two dims of a shape: whether column minus row is at least `diagonal` (`side` is
// greater_equal) or at most `diagonal` (less_equal).
Term is_beside(Builder& builder, const Shape& shape, OpKind side, int64_t diagonal);
/// x with `count` copies along one axis: of each element in a row, or of all elements behind each
/// other.
enum class Copies : uint8_t { in_a_row, behind_each_other };
Term copied(const Term& x, int64_t axis, const Dim& count, Copies order);
Term sigmoid_of(const Term& x);
Term log_sigmoid_of(const Term& x);
/// exp(x - m) / s along one axis.
Term softmax_of(const Term& x, int64_t axis);
Term log_softmax_of(const Term& x, int64_t axis);
/// The biased variance of x over axes, times n / (n - correction).
Term unbiased(const Term& biased, const Term& x, llvm::ArrayRef<int64_t> axes, double correction);

/// The reduction over all axes.
Term over_all(OpKind kind, const Term& x);
/// A loss after the reduction that the argument `reduction` names.
Results reduced(Call& call, const Term& loss);

} // namespace ingot::library
