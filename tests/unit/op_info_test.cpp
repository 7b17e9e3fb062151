// SPDX-License-Identifier: Apache-2.0
// The columns of ops.def against the values of the interpreter's rules and against one another.
#include "ir/op_info.h"

#include "ir/interpreter/rules.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

using namespace ingot;

namespace {

template <typename Rule, int arity> std::optional<double> by_rule(double x, double y) {
  if constexpr (requires { sizeof(Rule); }) {
    if constexpr (arity == 1 && requires { Rule::value(x); })
      return static_cast<double>(Rule::value(x));
    if constexpr (arity == 2 && requires { Rule::value(x, y); })
      return static_cast<double>(Rule::value(x, y));
  }
  return std::nullopt;
}

/// The value of an elementwise op; y is unused if it has one operand. None for other ops.
std::optional<double> value_of(OpKind kind, double x, double y) {
  using Value = std::optional<double> (*)(double, double);
  static constexpr Value kValues[] = {
#define INGOT_OP(name, op_class, arity, ...) by_rule<rules::name, arity>,
#include "ir/ops.def"
  };
  return kValues[static_cast<size_t>(kind)](x, y);
}

bool has_reducer(OpClass op_class) {
  return op_class == OpClass::reduce || op_class == OpClass::scan;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kNumbers = {-kInf, -2.5, -1, -0.5, 0.25, 1, 1.5, 3, kInf};
// Operands of logical ops, too, are only 0 and 1.
const std::vector<double> kTruths = {0, 1};

const std::vector<double>& operands_of(const OpInfo& op) {
  return op.rule == TypeRule::logical ? kTruths : kNumbers;
}

bool equal(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

} // namespace

TEST_CASE("ops: exactly the ops with commuting values commute") {
  for (const OpInfo& op : all_ops()) {
    if (op.arity != 2 || !value_of(op.kind, 1, 1)) continue;
    INFO(op.name.str());
    bool commutes = true;
    for (double x : operands_of(op))
      for (double y : operands_of(op))
        commutes &= equal(*value_of(op.kind, x, y), *value_of(op.kind, y, x));
    CHECK(op.commutes() == commutes);
  }
}

TEST_CASE("ops: exactly the ops with f(x, x) = x are idempotent") {
  for (const OpInfo& op : all_ops()) {
    if (op.arity != 2 || !value_of(op.kind, 1, 1)) {
      CHECK(!op.is_idempotent());
      continue;
    }
    INFO(op.name.str());
    bool idempotent = true;
    for (double x : operands_of(op)) idempotent &= equal(*value_of(op.kind, x, x), x);
    CHECK(op.is_idempotent() == idempotent);
  }
}

TEST_CASE("ops: values keep the order of the table, and NaN stays") {
  int ordered = 0;
  for (const OpInfo& op : all_ops()) {
    if (op.order == Order::none) continue;
    INFO(op.name.str());
    ++ordered;
    CHECK(op.accuracy != Accuracy::approximate);
    for (double y : {-1.5, 2.0}) {
      CHECK(std::isnan(*value_of(op.kind, std::numeric_limits<double>::quiet_NaN(), y)));
      const bool falls = op.order == Order::falls || (op.order == Order::by_sign && y < 0);
      for (size_t i = 1; i < kNumbers.size(); ++i) {
        const double lower = *value_of(op.kind, kNumbers[i - 1], y);
        const double upper = *value_of(op.kind, kNumbers[i], y);
        CHECK((falls ? lower >= upper : lower <= upper));
      }
    }
  }
  CHECK(ordered >= 9);
}

TEST_CASE("ops: functions are exact where the table says so") {
  for (const OpInfo& op : all_ops()) {
    if (op.accuracy != Accuracy::exact_at_0 && op.accuracy != Accuracy::exact_at_1) continue;
    INFO(op.name.str());
    const double y = *value_of(op.kind, op.accuracy == Accuracy::exact_at_1 ? 1 : 0, 0);
    CHECK(y == std::round(y));
  }
}

TEST_CASE("ops: ops that need positive operands have no value below 0") {
  for (const OpInfo& op : all_ops()) {
    if (op.arity != 1 || op.rule != TypeRule::floating || !value_of(op.kind, 1, 0)) continue;
    INFO(op.name.str());
    // log1p takes operands down to -1.
    CHECK(op.needs_positive() == std::isnan(*value_of(op.kind, -0.5, 0)));
  }
}

TEST_CASE("ops: views have one operand, and functors have C++ names") {
  for (const OpInfo& op : all_ops()) {
    INFO(op.name.str());
    CHECK(is_view(op.kind) == (op.op_class == OpClass::movement && op.kind != OpKind::concat));
    if (is_view(op.kind)) CHECK(op.picks());
    if (op.keeps_all()) CHECK(op.op_class == OpClass::movement);
    CHECK(op.functor.starts_with(op.name));
    if (op.scales()) CHECK(op.op_class == OpClass::elementwise);
  }
  CHECK(info(OpKind::and_).name == "and");
  CHECK(info(OpKind::and_).functor == "and_");
}

TEST_CASE("ops: each reduction and scan has one reducer") {
  for (const OpInfo& op : all_ops()) {
    INFO(op.name.str());
    CHECK((reducer_of(op.kind) != nullptr) == has_reducer(op.op_class));
    if (op.is_linear() || op.divides()) CHECK(op.op_class == OpClass::reduce);
  }
  std::vector<OpKind> seen;
  for (const ReducerInfo& reducer : all_reducers()) {
    INFO(info(reducer.op).name.str());
    CHECK(reducer_of(reducer.op) == &reducer);
    CHECK(reducer.values >= 1);
    // A second result is accumulated about the first one.
    CHECK(reducer.sweeps == info(reducer.op).results);
    CHECK((reducer.of_parts == OfParts::spread) ==
          (info(reducer.op).divides() && info(reducer.op).results == 2));
  }
}

TEST_CASE("ops: ops that merge partial results commute and ignore the identity") {
  int merging = 0;
  for (const ReducerInfo& reducer : all_reducers()) {
    INFO(info(reducer.op).name.str());
    if (!reducer.combine) {
      CHECK(std::isnan(reducer.identity));
      continue;
    }
    ++merging;
    CHECK(info(*reducer.combine).commutes());
    for (double x : kNumbers) CHECK(equal(*value_of(*reducer.combine, reducer.identity, x), x));
    CHECK(is_extremum(reducer.op) == std::isinf(reducer.identity));
    CHECK((info(reducer.op).accuracy == Accuracy::exact) == is_extremum(reducer.op));
  }
  CHECK(merging == 6);
}
