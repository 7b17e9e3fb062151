// SPDX-License-Identifier: Apache-2.0
#include "src/support/int_bounds.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ingot;

namespace {

using Kind = Expr::Kind;

constexpr Kind kBinaryKinds[] = {Kind::add,      Kind::sub, Kind::mul, Kind::div,   Kind::mod,
                                 Kind::ceil_div, Kind::min, Kind::max, Kind::within};

/// The results of `kind` for all operands in `a` and `b`; nullopt if one has none.
std::optional<IntRange> results(Kind kind, const IntRange& a, const IntRange& b) {
  IntRange all{INT64_MAX, INT64_MIN};
  for (int64_t x = a.least; x <= a.most; ++x)
    for (int64_t y = b.least; y <= b.most; ++y) {
      const auto value = Expr::apply(kind, x, y);
      if (!value) return std::nullopt;
      all = {std::min(all.least, *value), std::max(all.most, *value)};
    }
  return all;
}

} // namespace

TEST_CASE("integer bounds: they hold all results, and most are as narrow as these") {
  for (Kind kind : kBinaryKinds) {
    int num_ranges = 0, num_exact = 0;
    for (int64_t a = -4; a <= 4; ++a)
      for (int64_t a_most = a; a_most <= a + 4; ++a_most)
        for (int64_t b = -4; b <= 4; ++b)
          for (int64_t b_most = b; b_most <= b + 4; ++b_most) {
            const IntRange left{a, a_most}, right{b, b_most};
            const auto all = results(kind, left, right);
            const auto bounds = apply(kind, IntBounds{left}, IntBounds{right});
            INFO(int(kind), ": ", a, "..", a_most, " with ", b, "..", b_most);
            REQUIRE(bounds.has_value() == all.has_value());
            if (!all) continue;
            REQUIRE_FALSE(bounds->is_open);
            REQUIRE(bounds->range.least <= all->least);
            REQUIRE(bounds->range.most >= all->most);
            ++num_ranges;
            num_exact +=
                bounds->range.least == all->least && bounds->range.most == all->most ? 1 : 0;
          }
    CHECK(num_ranges > 500);
    if (kind == Kind::mod || kind == Kind::within)
      CHECK(num_exact > num_ranges / 4);
    else
      CHECK(num_exact == num_ranges);
  }
}

TEST_CASE("integer bounds: an overflow opens the upper end, and only a bounded operand closes it") {
  const IntBounds any{{0, INT64_MAX}}, eight{{8, 8}}, zero{{0, 0}};
  const auto open = apply(Kind::mul, any, eight);
  REQUIRE(open);
  CHECK(open->is_open);
  CHECK(open->range.least == 0);
  for (Kind kind : {Kind::min, Kind::within}) {
    const auto closed = apply(kind, *open, eight);
    REQUIRE(closed);
    CHECK_FALSE(closed->is_open);
    CHECK(closed->range.most == (kind == Kind::min ? 8 : 7));
    CHECK(apply(kind, *open, *open)->is_open);
  }
  for (Kind kind : {Kind::add, Kind::sub, Kind::mul, Kind::div, Kind::ceil_div, Kind::max})
    CHECK(apply(kind, *open, eight)->is_open);
  CHECK_FALSE(apply(Kind::mod, *open, eight)->is_open);
  CHECK_FALSE(apply(Kind::div, *open, zero));
  // An operand that may be negative has no largest product to stop at.
  CHECK_FALSE(apply(Kind::mul, IntBounds{{-1, INT64_MAX}}, eight));
  CHECK(apply(Kind::within, any, IntBounds{{INT64_MIN, INT64_MIN}})->range.most == 0);
}
