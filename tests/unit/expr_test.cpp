// SPDX-License-Identifier: Apache-2.0
#include "src/support/expr.h"

#include "src/support/error.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using ingot::Expr;

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::optional<int64_t> at(const Expr& e, int64_t m) {
  return e.evaluate([m](llvm::StringRef name) -> std::optional<int64_t> {
    if (name == "m") return m;
    return std::nullopt;
  });
}

std::string parse_failure(llvm::StringRef text) {
  auto parsed = ingot::parse_expr(text);
  return parsed ? "read as " + parsed->text() : ingot::take_error(parsed.takeError()).second;
}

Expr random_expr(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 4 == 0)
    return random() % 2 ? Expr::symbol("m") : Expr(int64_t(random() % 41) - 20);
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

TEST_CASE("expr: constants fold when they are built") {
  CHECK((Expr(3) + 4).constant() == 7);
  CHECK(ceil_div(Expr(8191), 128).constant() == 64);
  CHECK((Expr(-7) / 2).constant() == -4);
  CHECK((Expr(-7) % 2).constant() == 1);
  CHECK(ceil_div(Expr(-7), 2).constant() == -3);
  CHECK(max(Expr(3), Expr(9)).constant() == 9);
  Expr m = Expr::symbol("m");
  CHECK((m * 1).text() == "m");
  CHECK((m + 0).text() == "m");
  CHECK((m * 0).constant() == 0);
  CHECK(ceil_div(m, 1).text() == "m");
  CHECK((m % 1).constant() == 0);
  CHECK(min(m, m).text() == "m");
}

TEST_CASE("expr: an expression that cannot be computed has no value") {
  CHECK_FALSE(at(Expr(kMost) + 1, 0));
  CHECK_FALSE(at(Expr(kLeast) - 1, 0));
  CHECK_FALSE(at(Expr(kMost) * 2, 0));
  CHECK_FALSE(at(Expr(4) / 0, 0));
  CHECK_FALSE(at(Expr(4) % Expr(-2), 0));
  CHECK_FALSE(at(ceil_div(Expr(4), Expr::symbol("m")), 0));
  CHECK_FALSE(at(Expr::symbol("n"), 0));
  CHECK(at(Expr(kLeast) / 1, 0) == kLeast);
  CHECK(at(ceil_div(Expr(kMost), 2), 0) == kMost / 2 + 1);
}

TEST_CASE("expr: text has the fewest parentheses that keep its meaning") {
  Expr m = Expr::symbol("m"), n = Expr::symbol("n");
  CHECK((ceil_div(m, 128) * 2).text() == "ceil_div(m, 128) * 2");
  CHECK((m - (n - 1)).text() == "m - (n - 1)");
  CHECK(((m + n) * 4).text() == "(m + n) * 4");
  CHECK((m * (n / 4)).text() == "m * (n / 4)");
  CHECK(min(m + 1, n * 2).text() == "min(m + 1, n * 2)");
  CHECK((m * -3).text() == "m * -3");
  CHECK(Expr(kLeast).text() == "-9223372036854775808");
}

TEST_CASE("expr: a style spells the leaves, the kinds, divisors and numbers of another language") {
  using Kind = Expr::Kind;
  const auto form = [](const Expr& e) -> Expr::Form {
    if (e.kind() == Kind::div) return {"(", " // ", ")", 3, 1, 2};
    return e.kind() == Kind::min ? Expr::Form{"least(", "; ", ")"} : Expr::plain_form(e);
  };
  const auto leaf = [](const Expr& e) { return "p." + e.name(); };
  const Expr::Style style{leaf, form, "some", "Int"};
  const Expr m = Expr::symbol("m"), n = Expr::coordinate("n");
  CHECK((min(m, n + 1) * 2).text(style) == "least(p.m; p.n + 1) * 2");
  CHECK(((m + 1) / 4).text(style) == "(p.m + 1 // 4)");
  CHECK((m / (n + 1) % n).text(style) == "(p.m // some(p.n + 1)) % some(p.n)");
  CHECK((Expr(7) / 0).text(style) == "(Int(7) // 0)");
  CHECK((m - Expr(kLeast)).text(style) == "p.m - Int(INT64_MIN)");
  CHECK((Expr(kLeast) - 1).text(style) == "Int(INT64_MIN) - 1");
  CHECK(within(m, n).text({leaf}) == "within(p.m, p.n)");
}

TEST_CASE("expr: parts come in the order of a stack machine") {
  const Expr m = Expr::symbol("m"), n = Expr::symbol("n");
  std::string order;
  (m - min(n, 2) * m).for_each_part([&](const Expr& part) { order += part.text() + "; "; });
  CHECK(order == "m; n; 2; min(n, 2); m; min(n, 2) * m; m - min(n, 2) * m; ");
  CHECK(Expr(3).stack_depth() == 1);
  CHECK((m + n + m + n).stack_depth() == 2);
  CHECK((m - (n - (m - n))).stack_depth() == 4);
}

TEST_CASE("expr: text reads back as the same function") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Expr e = random_expr(random, 5);
    auto parsed = ingot::parse_expr(e.text());
    REQUIRE_MESSAGE(bool(parsed), e.text());
    CHECK(*parsed == e);
    for (int64_t m : {-9, 0, 1, 7, 1024}) CHECK(at(*parsed, m) == at(e, m));
  }
}

TEST_CASE("expr: reading errors name the character and the expected text") {
  CHECK(parse_failure("m +") ==
        "expression 'm +', character 4: expected a number, a name or '(', got the end");
  CHECK(parse_failure("(m") == "expression '(m', character 3: expected ')', got the end");
  CHECK(parse_failure("m 2") ==
        "expression 'm 2', character 3: expected an operator or the end, got '2'");
  CHECK(parse_failure("log(m, 2)") ==
        "expression 'log(m, 2)', character 1: expected ceil_div, min or max before '(', got 'l'");
  CHECK(parse_failure("9223372036854775808") ==
        "expression '9223372036854775808', character 1: expected a 64-bit number, got '9'");
  CHECK(parse_failure(std::string(4000, '(')).find("nesting of at most 200") != std::string::npos);
  CHECK(parse_failure(std::string(100000, '1')).find("at most 4096 characters") !=
        std::string::npos);
}
