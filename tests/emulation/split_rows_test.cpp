// SPDX-License-Identifier: Apache-2.0
// Loaded rows that blocks share: reductions over everything, of few long rows, and of the columns
// of tall matrices, with ops that use their results.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Rows without parts, with a short one, a whole one, and several.
std::vector<DimBindings> lengths() {
  return {{{"n", 0}}, {{"n", 1}}, {{"n", 37}}, {{"n", 8192}}, {{"n", 20001}}};
}

} // namespace

TEST_CASE("emulation: losses to a scalar") {
  const std::vector<DimBindings> sizes = {
      {{"m", 1}, {"n", 1}}, {{"m", 70}, {"n", 301}}, {{"m", 0}, {"n", 5}}, {{"m", 3}, {"n", 8192}}};
  CHECK(check_cases({
            {"graph g(x: f32[m, n], y: f32[m, n]) { return mean((x - y) * (x - y)) }", sizes},
            {"graph g(x: f16[m, n], y: bf16[m, n]) {\n"
             "  d = cast(x, f32) - cast(y, f32)\n  return sum(abs(d)), d }",
             sizes},
            {"graph g(x: f32[5, 40, 250]) { return sum(x), reduce_max(x) }"},
            {"graph g(x: f32[200, 300], t: f32[200, 300]) {\n"
             "  return mean(maximum(1.0 - x * t, 0.0)) }"},
        }) == "");
}

TEST_CASE("emulation: every reducer over rows that blocks share") {
  CHECK(check_cases({
            {"graph g(x: f32[n]) {\n"
             "  return sum(x, axis=0), mean(x, axis=0), reduce_max(x, axis=0), "
             "reduce_min(x, axis=0), argmax(x, axis=0), argmin(x, axis=0), prod(x + 0.6, axis=0) }",
             {{{"n", 1}}, {{"n", 8192}}, {{"n", 20001}}}},
            {"graph g(x: f32[2, n]) {\n  a, b = moments(x, axis=1)\n"
             "  return logsumexp(x, axis=1), a, b }",
             lengths()},
            {"graph g(x: i32[3, n]) {\n"
             "  return sum(x, axis=1), reduce_max(x, axis=1), argmin(x, axis=1) }",
             {{{"n", 40}}, {{"n", 20001}}}},
            {"graph g(x: i64[n]) { return sum(x), prod(x), reduce_min(x) }",
             {{{"n", 36}}, {{"n", 9001}}}},
            {"graph g(x: bf16[2, n]) { return sum(x, axis=1), argmax(x, axis=1) }", lengths()},
        }) == "");
}

TEST_CASE("emulation: ties, NaN and infinities in rows that blocks share") {
  std::vector<Case> cases;
  for (const char* body :
       {"return argmax(x, axis=1), argmin(x, axis=1)", "return sum(x, axis=1)",
        "return reduce_max(x, axis=1), reduce_min(x, axis=1)", "return logsumexp(x, axis=1)",
        "a, b = moments(x, axis=1)\n  return a, b"}) {
    cases.push_back(
        {fmt::format("graph g(x: f32[2, n]) {{\n  {} }}", body), {{{"n", 8}}, {{"n", 20001}}}});
    cases.back().non_finite = true;
  }
  // Equal values in several parts: the first index counts.
  cases.push_back({"graph g(x: f32[2, n]) {\n  y = cast(x * 2.0, i32)\n"
                   "  return argmax(y, axis=1), argmin(y, axis=1) }",
                   {{{"n", 8}}, {{"n", 20001}}}});
  cases.push_back({"graph g(x: f32[n, 3]) {\n  y = cast(x * 2.0, i32)\n"
                   "  return argmax(y, axis=0), argmin(y, axis=0) }",
                   {{{"n", 6}}, {{"n", 501}}}});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: few long rows that are read again") {
  CHECK(check_cases({
            {"graph g(x: f32[2, 40000]) { return softmax(x, axis=1) }"},
            {"graph g(x: f32[3, n]) { return softmax(x, axis=1) }", lengths()},
            {"graph g(x: f16[1, 33001], gamma: f16[33001], beta: f16[33001]) {\n"
             "  return layer_norm(x, gamma, beta) }"},
            {"graph g(x: f32[3, n]) {\n"
             "  d = x - mean(x, axis=1, keepdim=true)\n  return d, sum(d * d, axis=1) }",
             lengths()},
            {"graph g(x: f32[1, 6, 20000], gamma: f32[6], beta: f32[6]) {\n"
             "  return group_norm(x, gamma, beta, groups=3) }"},
            {"graph g(x: f32[3, n]) {\n  h = exp(x)\n"
             "  return h / sum(h, axis=1, keepdim=true), reduce_max(h) }",
             lengths()},
            {"graph g(x: f32[3, n], param w: f32[n]) { return x * (w / sqrt(sum(w * w))) }",
             lengths()},
        }) == "");
}

TEST_CASE("emulation: columns of tall matrices") {
  CHECK(check_cases({
            {"graph g(x: f32[n, 8]) { return sum(x, axis=0), reduce_max(x, axis=0) }",
             {{{"n", 0}}, {{"n", 1}}, {{"n", 129}}, {{"n", 5003}}}},
            // More units than parts: wider parts.
            {"graph g(x: f32[n, 2]) { return mean(x, axis=0) }", {{{"n", 60001}}}},
            {"graph g(x: f32[60001, 2]) {\n  a, b = moments(x, axis=0)\n  return a, b }"},
            {"graph g(x: bf16[n, 70]) { return argmax(x, axis=0) }", {{{"n", 700}}}},
            {"graph g(x: f32[1100, 40], g0: f32[40], b0: f32[40], m0: f32[40], v0: f32[40]) {\n"
             "  y, m, v = batch_norm(x, m0, v0, g0, b0, training=true)\n  return y, m, v }"},
            {"graph g(x: f32[n, 40]) { return softmax(x, axis=0) }",
             {{{"n", 0}}, {{"n", 3}}, {{"n", 1027}}}},
            {"graph g(x: f32[40, 41, 30]) { return sum(x, axis=[0, 1]) }"},
        }) == "");
}
