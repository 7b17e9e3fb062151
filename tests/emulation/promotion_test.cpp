// SPDX-License-Identifier: Apache-2.0
// --matmul-precision=highest: an error of at most 2^-20 (|A||B|) for any K and any finite data.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case highest(const std::string& spec) { return {spec, {{}}, MatmulPrecision::highest}; }

/// a[m, k] times b[k, n], of params alone: prepare computes that, and does not divide contractions
/// among blocks. So one sum runs over all of K, where launch would add the sums of parts. Launch
/// passes the product on as it is.
Case whole(int m, int k, int n, const std::string& a, const std::string& b) {
  return highest(fmt::format("graph g(param a: f32[{0}, {1}], param b: f32[{1}, {2}], x: f32[{2}])"
                             " {{\n  return where(x > -2.0, matmul({3}, {4}), 0.0) }}",
                             m, k, n, a, b));
}

bool is_divided(const Case& one) { return schedules_of(one).find("split-k") != std::string::npos; }

} // namespace

TEST_CASE("emulation: promoted sums of uniform data, where one chain's error is systematic") {
  const Case sums[] = {whole(5, 512, 9, "abs(a)", "abs(b)"), whole(5, 8192, 9, "abs(a)", "abs(b)"),
                       whole(2, 65536, 4, "abs(a)", "abs(b)")};
  for (const Case& sum : sums) CHECK_FALSE(is_divided(sum));
  CHECK(check_cases(sums) == "");
}

TEST_CASE("emulation: promoted sums of uniform data, in parts") {
  const Case parts = highest("graph g(a: f32[5, 8192], b: f32[8192, 9]) { return matmul(a, b) }");
  CHECK(is_divided(parts));
  CHECK(check_cases({parts}) == "");
}

TEST_CASE("emulation: promoted sums of data that a chain loses") {
  // A one and then products below half its last bit: a chain keeps the one alone.
  auto lossy = [](int run) {
    return highest(fmt::format(
        "graph g(a: f32[3, 512], b: f32[512, 5]) {{\n"
        "  first = iota(i32, [{}, {}, 5], axis=1) == 0\n"
        "  return matmul(where(a > 2.0, a, 1.0),\n"
        "                reshape(where(first, 1.0, 0.000000059), [512, 5]) + b * 0.0) }}",
        512 / run, run));
  };
  CHECK(check_cases({lossy(512), lossy(64), lossy(32), lossy(16)}) == "");
}

TEST_CASE("emulation: promoted sums keep the remainder that an addition to the total drops") {
  // A one, and then 32 products at a time that together are below half its last bit: 255 of these
  // are lost where promotions drop their remainders.
  const Case sum = whole(3, 8192, 5, "(a * 0.0 + 1.0)",
                         "(where(iota(i32, [8192, 5], axis=0) == 0, 1.0, 1.77e-9) + b * 0.0)");
  CHECK_FALSE(is_divided(sum));
  CHECK(check_cases({sum}) == "");
}

TEST_CASE("emulation: promoted sums at every tile, and their edges") {
  auto product = [](int m, int n, int k) {
    return highest(fmt::format("graph g(a: f32[{}, {}], b: f32[{}, {}]) {{ return matmul(a, b) }}",
                               m, k, k, n));
  };
  CHECK(check_cases({
            product(1, 1, 1),
            product(65, 129, 33),
            product(130, 70, 100),
            highest("graph g(x: f32[66, 40], w: f32[96, 40]) {\n"
                    "  return group_norm(matmul(x, w, transpose_b=true), groups=2) }"),
            highest("graph g(x: f32[66, 40], w: f32[200, 40]) {\n"
                    "  return group_norm(matmul(x, w, transpose_b=true), groups=1) }"),
            highest("graph g(x: f32[40, 40], w: f32[256, 40]) {\n"
                    "  h = matmul(x, w, transpose_b=true)\n"
                    "  return group_norm(h, groups=2) + group_norm(h, groups=1), "
                    "mean(h, axis=0) }"),
        }) == "");
}

TEST_CASE("emulation: an infinite promoted sum stays infinite") {
  const BuiltCase built = BuiltCase::make(highest("graph g(a: f32[5, 200], b: f32[200, 9]) {\n"
                                                  "  h = matmul(where(a > 0.5, 3e38, a), b + 1.0)\n"
                                                  "  return h, hardtanh(0.0 - h) }"));
  const Outcome outcome = built.run({});
  REQUIRE(built.judge(outcome) == "");
  for (int64_t i = 0; i < 45; ++i) {
    CHECK(outcome.outputs[0].real(i) == std::numeric_limits<double>::infinity());
    CHECK(outcome.outputs[1].real(i) == -1.0);
  }
}
