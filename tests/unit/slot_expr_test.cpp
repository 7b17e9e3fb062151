// SPDX-License-Identifier: Apache-2.0
#include "runtime/slot_expr.h"

#include <doctest/doctest.h>

#include <random>

using namespace ingot;

namespace {

Expr random_expr(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 2) return Expr::symbol(random() % 2 ? "m" : "n");
    return Expr(int64_t(random() % 21) - 5);
  }
  Expr a = random_expr(random, depth - 1), b = random_expr(random, depth - 1);
  switch (random() % 8) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return a / b;
  case 4: return a % b;
  case 5: return ceil_div(a, b);
  case 6: return min(a, b);
  default: return max(a, b);
  }
}

} // namespace

TEST_CASE("slot expression: same value as the tree, and within its bounds") {
  std::mt19937 random(3);
  SlotNames names;
  names["m"] = 0;
  names["n"] = 1;
  int num_bounded = 0;
  for (int round = 0; round < 4000; ++round) {
    Expr expr = random_expr(random, 4);
    auto flat = SlotExpr::flatten(expr, names);
    IntRange m{int64_t(random() % 20) - 5, 0}, n{int64_t(random() % 20) - 5, 0};
    m.most = m.least + int64_t(random() % 6);
    n.most = n.least + int64_t(random() % 6);
    auto bounds = flat.bounds({m, n});
    num_bounded += bounds.has_value();
    for (int64_t a = m.least; a <= m.most; ++a)
      for (int64_t b = n.least; b <= n.most; ++b) {
        auto value = flat.evaluate({a, b});
        auto expected =
            expr.evaluate([&](llvm::StringRef name) { return std::optional(name == "m" ? a : b); });
        REQUIRE_MESSAGE(value == expected, expr.text());
        if (!bounds) continue;
        REQUIRE_MESSAGE(value.has_value(), expr.text());
        REQUIRE_MESSAGE(*value >= bounds->least, expr.text());
        REQUIRE_MESSAGE(*value <= bounds->most, expr.text());
      }
  }
  CHECK(num_bounded > 1000);
}

TEST_CASE("slot expression: bounds are tight where the function is monotone") {
  SlotNames names;
  names["m"] = 0;
  Expr m = Expr::symbol("m");
  auto blocks = SlotExpr::flatten(ceil_div(m, 128) * 2, names);
  auto bounds = blocks.bounds({IntRange{1, 1000}});
  REQUIRE(bounds);
  CHECK(bounds->least == 2);
  CHECK(bounds->most == 16);
  CHECK_FALSE(blocks.bounds({IntRange{0, INT64_MAX}}) == std::nullopt);
  auto bytes = SlotExpr::flatten(m * 8, names);
  CHECK_FALSE(bytes.bounds({IntRange{0, INT64_MAX}}));
  CHECK(bytes.sole_slot() == std::nullopt);
  CHECK(bytes.uses(0));
  CHECK_FALSE(bytes.uses(1));
}

TEST_CASE("slot expression: a term that may overflow is bounded only by the min around it") {
  SlotNames names;
  names["m"] = 0;
  names["n"] = 1;
  const Expr m = Expr::symbol("m"), n = Expr::symbol("n");
  const IntRange any{0, INT64_MAX};
  auto most = [&](const Expr& expr) -> std::optional<int64_t> {
    auto flat = SlotExpr::flatten(expr, names);
    const auto bounds = flat.bounds({any, any});
    if (!bounds) return std::nullopt;
    return bounds->most;
  };
  const Expr product = m * n * 4, sum = m + n;
  for (const Expr& open : {product, sum}) {
    CHECK(most(min(open, 108) * 16) == 108 * 16);
    CHECK(most(min(108, open)) == 108);
    CHECK(most(108 / max(open, 1)) == 108);
    CHECK(most(max(min(open, 108), 1) - open) == 108);
    CHECK(most(open % 8) == 7);
    for (const Expr& none : {open, open / 1024, ceil_div(open, 256) * 256, min(open, product * 2),
                             max(open, 5), open - 1, open + 1, open / 1024 * 4})
      CHECK_MESSAGE(most(none) == std::nullopt, none.text());
  }
  // An operand that may be negative has no largest product to stop at.
  CHECK(most(min((m - 5) * n, 108)) == std::nullopt);
}
