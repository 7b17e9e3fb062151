// SPDX-License-Identifier: Apache-2.0
// See int_bounds.h.
#include "src/support/int_bounds.h"

#include <algorithm>

namespace ingot {

namespace {

using Kind = Expr::Kind;

/// The smallest and largest of the four corner results. They bound a function that is monotone in
/// each operand.
std::optional<IntRange> corners(Kind kind, const IntRange& a, const IntRange& b) {
  std::optional<IntRange> result;
  for (int64_t x : {a.least, a.most})
    for (int64_t y : {b.least, b.most}) {
      std::optional<int64_t> value = Expr::apply(kind, x, y);
      if (!value) return std::nullopt;
      if (!result) result = IntRange{*value, *value};
      result->least = std::min(result->least, *value);
      result->most = std::max(result->most, *value);
    }
  return result;
}

/// A product or sum of values of at least 0, or INT64_MAX on overflow. No evaluation yields a
/// larger value, and a later min may bound it.
int64_t saturated(Kind kind, int64_t a, int64_t b) {
  return Expr::apply(kind, a, b).value_or(INT64_MAX);
}

std::optional<IntRange> quotient_bounds(Kind kind, const IntRange& a, const IntRange& b) {
  if (b.least <= 0) return std::nullopt;
  if (kind != Kind::mod) return corners(kind, a, b);
  if (a.least == a.most && b.least == b.most) return corners(kind, a, b);
  if (a.least >= 0 && a.most < b.least) return a;
  return IntRange{0, b.most - 1};
}

/// A position within an extent, or 0.
IntRange within_bounds(const IntRange& position, const IntRange& extent) {
  if (position.most <= 0 || extent.most <= 0) return {0, 0};
  return {0, std::min(position.most, extent.most - 1)};
}

std::optional<IntRange> range_of(Kind kind, const IntRange& a, const IntRange& b) {
  switch (kind) {
  case Kind::div:
  case Kind::ceil_div:
  case Kind::mod: return quotient_bounds(kind, a, b);
  case Kind::add:
  case Kind::mul:
    if (a.least >= 0 && b.least >= 0)
      return IntRange{saturated(kind, a.least, b.least), saturated(kind, a.most, b.most)};
    return corners(kind, a, b);
  case Kind::within: return within_bounds(a, b);
  default: return corners(kind, a, b);
  }
}

/// Whether the upper end of a result is open.
bool opens(Kind kind, const IntBounds& a, const IntBounds& b) {
  switch (kind) {
  case Kind::add:
  case Kind::mul: return a.is_open || b.is_open || !Expr::apply(kind, a.range.most, b.range.most);
  case Kind::max: return a.is_open || b.is_open;
  case Kind::min:
  case Kind::within: return a.is_open && b.is_open;
  case Kind::mod: return b.is_open;
  default: return a.is_open; // a larger subtrahend or divisor gives a smaller result
  }
}

} // namespace

std::optional<IntBounds> apply(Kind kind, const IntBounds& a, const IntBounds& b) {
  const auto range = range_of(kind, a.range, b.range);
  if (!range) return std::nullopt;
  return IntBounds{*range, opens(kind, a, b)};
}

} // namespace ingot
