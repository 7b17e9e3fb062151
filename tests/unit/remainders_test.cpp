// SPDX-License-Identifier: Apache-2.0
// fmod and atan: the errors that the reference allows a kernel, and values by hand.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

#include "llvm/Support/Error.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace ingot;

namespace {

Tensor vector_of(const std::vector<double>& values) {
  Tensor result(DType::f32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) result.set(static_cast<int64_t>(i), values[i]);
  return result;
}

/// `expression` of a and b, f32.
Evaluated evaluate_at(const std::string& expression, const std::vector<double>& a,
                      const std::vector<double>& b) {
  const Graph graph = llvm::cantFail(
      parse_graph("graph t(a: f32[n], b: f32[n]) { return " + expression + " }", "case"));
  const Tensor left = vector_of(a), right = vector_of(b);
  return std::move(llvm::cantFail(evaluate(graph, {&left, &right}, {})).front());
}

/// How many of `values` the reference does not admit as results of a kernel.
int64_t refused(const Evaluated& result, const std::vector<double>& values) {
  return compare(result, vector_of(values), 0).failures;
}

} // namespace

TEST_CASE("remainders: fmod of numbers of the type is exact, and the next number is refused") {
  const std::vector<double> a = {7, -7, 7, -7, 1e30, 0x1p-149, 5}, b = {3, 3, -3, -3, 0.1f, 1, 8};
  const Evaluated result = evaluate_at("fmod(a, b)", a, b);
  const std::vector<double> wanted = {1, -1, 1, -1, std::fmod(1e30f, 0.1f), 0x1p-149, 5};
  std::vector<double> wrong;
  for (double value : wanted) wrong.push_back(std::nextafter(static_cast<float>(value), HUGE_VALF));
  CHECK(refused(result, wanted) == 0);
  CHECK(refused(result, wrong) == static_cast<int64_t>(wanted.size()));
}

TEST_CASE("remainders: fmod of a rounded value admits the next quotient where it is near a step") {
  // exp(0) is 1 but for its rounding, and exp(0) + 0.25 is far from a step.
  const Evaluated near = evaluate_at("fmod(exp(a), b)", {0}, {1});
  CHECK(refused(near, {0}) == 0);
  CHECK(refused(near, {0x1.fffffep-1}) == 0);
  const Evaluated far = evaluate_at("fmod(exp(a) + 0.25, b)", {0}, {1});
  CHECK(refused(far, {0.25}) == 0);
  CHECK(refused(far, {0.2501}) == 1);
  // A divisor that may be 0 may give NaN.
  const Evaluated open = evaluate_at("fmod(a, exp(b) - 1)", {3}, {0});
  CHECK(std::isnan(open.reals()[0]));
}

TEST_CASE("remainders: a remainder has the sign of the divisor") {
  const Evaluated result = evaluate_at("remainder(a, b)", {7, -7, 7, -7, -6, -5, HUGE_VAL},
                                       {3, 3, -3, -3, 3, HUGE_VAL, 2});
  CHECK(refused(result, {1, 2, -2, -1, 0, HUGE_VAL, NAN}) == 0);
  CHECK(refused(result, {1, -1, -2, -1, 0, HUGE_VAL, NAN}) == 1);
}

TEST_CASE("remainders: a quotient of floats rounded down is the number of whole divisors") {
  // The quotient of 1 and 0.1 of f32 rounds to 10, and 0.1 of f32 is more than a tenth.
  const std::vector<double> a = {1,   -1, 6,    0.3f,     -0.3f,     -7,      7,
                                 -7,  1,  -1,   HUGE_VAL, 1,         -1,      0,
                                 NAN, 1,  -0.0, 0x1p-140, -0x1p-140, 8388609, 1e30};
  const std::vector<double> b = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 2, -2, -2, HUGE_VAL, HUGE_VAL, 2,
                                 0,    0,    0,    1,    NAN,  3, 1,  1,  1,        HUGE_VAL};
  std::vector<double> wanted = {9,        -10,       59,  3,   -4,  -4,   -4, 3,  0,       -1, NAN,
                                HUGE_VAL, -HUGE_VAL, NAN, NAN, NAN, -0.0, 0,  -1, 8388609, 0};
  const Evaluated result = evaluate_at("div(a, b, rounding_mode=\"floor\")", a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(a[i]);
    CAPTURE(b[i]);
    if (std::isnan(wanted[i])) CHECK(std::isnan(result.reals()[i]));
    if (!std::isnan(wanted[i])) CHECK(result.reals()[i] == wanted[i]);
  }
  CHECK(std::signbit(result.reals()[16]));
  CHECK(refused(result, wanted) == 0);
  wanted[0] = 10;
  wanted[3] = 2;
  CHECK(refused(result, wanted) == 2);
}

TEST_CASE("remainders: a number beside a half-typed tensor is rounded to its type") {
  const Graph graph = llvm::cantFail(
      parse_graph("graph t(a: f16[n]) { return fmod(a, 0.1), remainder(a, 0.1) }", "case"));
  Tensor a(DType::f16, {1});
  a.set(0, 1);
  const auto results = llvm::cantFail(evaluate(graph, {&a}, {}));
  CHECK(results[0].reals()[0] == std::fmod(1, 0.0999755859375));
  CHECK(results[1].reals()[0] == std::fmod(1, 0.0999755859375));
}

TEST_CASE("remainders: a divisor that the type does not hold is printed so that it is read back") {
  const std::string spec = "graph t(a: f32[4]) { return fmod(a, constant(0.1, f32)) }";
  const std::string text = print_graph(llvm::cantFail(parse_graph(spec, "case")));
  CHECK(text.find("constant(0.1, f32)") != std::string::npos);
  CHECK(print_graph(llvm::cantFail(parse_graph(text, "case"))) == text);
}

TEST_CASE(
    "remainders: a quotient of integers is f32, and the op of integers is printed with a mode") {
  const std::string spec =
      "graph t(i: i64[n]) { return i / 3, div(i, 3, rounding_mode=\"trunc\"), "
      "div(i, 3, rounding_mode=\"floor\"), div(i, 0, rounding_mode=\"trunc\") }";
  const Graph graph = llvm::cantFail(parse_graph(spec, "case"));
  const std::string text = print_graph(graph);
  CHECK(text.find("div(i, 3, rounding_mode=\"trunc\")") != std::string::npos);
  CHECK(print_graph(llvm::cantFail(parse_graph(text, "case"))) == text);
  Tensor i(DType::i64, {2});
  i.set_integer(0, -7);
  i.set_integer(1, 7);
  const auto results = llvm::cantFail(evaluate(graph, {&i}, {}));
  CHECK(results[0].dtype == DType::f32);
  CHECK(results[0].reals()[0] == -7.0 / 3);
  CHECK(std::vector<int64_t>(results[1].integers()) == std::vector<int64_t>{-2, 2});
  CHECK(std::vector<int64_t>(results[2].integers()) == std::vector<int64_t>{-3, 2});
  CHECK(std::vector<int64_t>(results[3].integers()) == std::vector<int64_t>{0, 0});
}

TEST_CASE("remainders: atan is within a few units, at the ends as in the middle") {
  const std::vector<double> x = {0, 0x1p-140, 1e-3, -1, 3, 1e30, HUGE_VAL, -HUGE_VAL};
  const Evaluated result = evaluate_at("atan(a)", x, x);
  std::vector<double> right, wrong;
  for (double value : x) right.push_back(std::atan(static_cast<float>(value)));
  for (double value : right) wrong.push_back(value * (1 + 0x1p-20));
  CHECK(refused(result, right) == 0);
  CHECK(refused(result, wrong) == 6); // all but 0 and a value that rounds to the same subnormal
  // The slope carries an operand's error: far out it is small.
  const Evaluated of_error = evaluate_at("atan(exp(a))", {5}, {5});
  CHECK(of_error.bounds(0)[0] < 0x1p-20);
}
