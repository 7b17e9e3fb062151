// SPDX-License-Identifier: Apache-2.0
// log2, log10 and exp2 where their results are numbers of the type: the reference has them exactly
// and lets no kernel differ.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"

#include "llvm/Support/Error.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace ingot;

namespace {

/// The results of `expression` at `values`, f32.
Evaluated evaluate_at(const std::string& expression, const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(values.size());
  const std::string spec =
      "graph t(x: f32[" + std::to_string(count) + "]) { return " + expression + " }";
  const Graph graph = llvm::cantFail(parse_graph(spec, "case"));
  Tensor x(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) x.set(i, values[static_cast<size_t>(i)]);
  return std::move(llvm::cantFail(evaluate(graph, {&x}, {})).front());
}

/// That results are `wanted`, that those pass and that the next f32 numbers do not.
void check_exact(const std::string& expression, const std::vector<double>& values,
                 const std::vector<double>& wanted) {
  CAPTURE(expression);
  const auto output = evaluate_at(expression, values);
  const auto count = static_cast<int64_t>(values.size());
  Tensor right(DType::f32, {count}), wrong(DType::f32, {count});
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(wanted[static_cast<size_t>(i)]);
    right.set(i, value);
    wrong.set(i, std::nextafter(value, HUGE_VALF));
  }
  const Comparison exact = compare(output, right, 0);
  CHECK_MESSAGE(exact.pass, exact.problem);
  CHECK(exact.unbounded == 0);
  CHECK(compare(output, wrong, 0).failures == count);
}

} // namespace

TEST_CASE("log2 and exp2 are exact at every power of two of f32") {
  std::vector<double> powers, exponents;
  for (int n = -149; n < 128; ++n) {
    powers.push_back(std::ldexp(1.0, n));
    exponents.push_back(n);
  }
  check_exact("log2(x)", powers, exponents);
  check_exact("floor(log2(x))", powers, exponents);
  // Results below 2^-126 have the error of all small results.
  powers.erase(powers.begin(), powers.begin() + 23);
  exponents.erase(exponents.begin(), exponents.begin() + 23);
  check_exact("exp2(x)", exponents, powers);
}

TEST_CASE("log10 is exact at the powers of ten that f32 holds") {
  std::vector<double> powers, exponents;
  for (int n = 0; n <= 10; ++n) {
    powers.push_back(std::pow(10.0, n));
    exponents.push_back(n);
  }
  check_exact("log10(x)", powers, exponents);
  check_exact("floor(log10(x))", powers, exponents);
}

TEST_CASE("logarithms of zero, negative numbers, infinity and NaN") {
  for (const char* name : {"log2(x)", "log10(x)"}) {
    CAPTURE(name);
    const auto output = evaluate_at(name, {0, -0.0, HUGE_VAL});
    Tensor wanted(DType::f32, {3});
    for (const auto& [i, value] : {std::pair{0, -HUGE_VAL}, {1, -HUGE_VAL}, {2, HUGE_VAL}})
      wanted.set(i, value);
    CHECK(compare(output, wanted, 0).pass);
    const auto none = evaluate_at(name, {-1, NAN, -HUGE_VAL});
    for (int64_t i = 0; i < 3; ++i) wanted.set(i, NAN);
    CHECK(compare(none, wanted, 0).pass);
  }
}
