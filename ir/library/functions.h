// SPDX-License-Identifier: Apache-2.0
// The implementations that library.def names, one declaration each.
#pragma once

#include "ir/library/call.h"

namespace ingot::library {

#define INGOT_FUNCTION(name, implementation, parameters, summary)                                  \
  Results implementation(Call& call);
#include "ir/library.def"

/// The same for every elementwise primitive: its operands by position.
Results elementwise(Call& call);

// Shared by composites.
Term sigmoid_of(const Term& x);
/// exp(x - m) / s along one axis.
Term softmax_of(const Term& x, int64_t axis);
/// The biased variance of x over axes, times n / (n - correction).
Term unbiased(const Term& biased, const Term& x, llvm::ArrayRef<int64_t> axes, double correction);

} // namespace ingot::library
