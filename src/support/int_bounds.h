// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic on 64-bit integers: bounds of an integer expression from bounds of its
// operands. The runtime bounds the sizes, grids and conditions of launches with it.
#pragma once

#include "src/support/expr.h"

#include <cstdint>
#include <optional>

namespace ingot {

/// All values from `least` to `most`.
struct IntRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// A range of values. If its upper end comes from an overflow, it bounds nothing.
struct IntBounds {
  IntRange range;
  bool is_open = false;
};

/// Bounds of Expr::apply of a binary `kind` to all values within `a` and `b`; nullopt if none are
/// known.
std::optional<IntBounds> apply(Expr::Kind kind, const IntBounds& a, const IntBounds& b);

} // namespace ingot
