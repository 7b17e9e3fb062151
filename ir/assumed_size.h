// SPDX-License-Identifier: Apache-2.0
// The size that is assumed for a named dim before it is known, for choices and their costs.
#pragma once

#include "ir/types.h"
#include "src/support/expr.h"

#include <cstdint>
#include <map>
#include <string>

namespace ingot {

/// Wrong choices cost the most at large sizes, so the assumed size is large: 16384 rows, or
/// columns, fill every machine. From 65536 on, schedules of the chains in tests/chains and
/// tests/chains_as_typed are those of 16384 but for one, and plans store more operands of products.
inline constexpr int64_t kAssumedSize = 16384;

/// An extent with it, at most 2^40: sizes from 2^40 on all lead to the same choice, and sums of
/// them must not overflow.
int64_t assumed(const Dim& dim);

/// The same without a limit, for products of extents.
double likely_count(const Dim& dim);

/// The value of an expression with it, at most 2^40.
int64_t assumed(const Expr& expr);

/// The value of an expression. Names that `dims` does not list have the assumed size.
double likely_value(const Expr& expr, const std::map<std::string, int64_t>& dims);

} // namespace ingot
