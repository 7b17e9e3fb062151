// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

#include <cmath>

using namespace ingot;
using namespace ingot::test;

namespace {

Graph mish_factor() {
  GraphMaker g;
  ValueId x = g.input("x", {9});
  return g.with_outputs({g.op(OpKind::tanh, {g.op(OpKind::log1p, {g.op(OpKind::exp, {x})})})});
}

} // namespace

TEST_CASE("expand_functions: tanh of softplus becomes one exponential, relaxed only") {
  const Graph before = mish_factor();
  const Graph relaxed = run_all(before, MathMode::relaxed);
  CHECK(count(relaxed, OpKind::tanh) == 0);
  CHECK(count(relaxed, OpKind::log1p) == 0);
  CHECK(count(relaxed, OpKind::exp) == 1);
  CHECK(equivalent(run_all(relaxed, MathMode::relaxed), relaxed));
  CHECK(equivalent(run_all(before, MathMode::strict), before));
}

TEST_CASE("expand_functions: the value is the same from -Inf to Inf, and NaN stays") {
  // The formula of the rewritten ops, in f64: at 20 and above both sides are 1 to the last bit of
  // f32.
  for (double x : {-double(INFINITY), -100.0, -20.0, -1.0, -0.0, 0.5, 19.0, 20.0, 90.0, 1e30,
                   double(INFINITY)}) {
    const double e = std::exp(std::min(x, 20.0)), n = e * (e + 2);
    const double expected = std::tanh(std::log1p(std::exp(x)));
    CHECK(n / (n + 2) == doctest::Approx(expected).epsilon(1e-15));
  }
}
