// SPDX-License-Identifier: Apache-2.0
// f32 products of bf16 thirds on tensor cores: within 2^-20 (|A||B|), over every layout of the
// operands and every range, and the SIMT path of tiles whose sums are not finite.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case thirds(const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.least_products = {.halves = std::numeric_limits<int64_t>::max(),
                           .thirds = std::numeric_limits<int64_t>::min()};
  return result;
}

Case product(int m, int n, int k, const std::string& body) {
  return thirds(
      fmt::format("graph g(a: f32[{0}, {2}], b: f32[{2}, {1}]) {{ return {3} }}", m, n, k, body));
}

bool has_thirds(const Case& one) { return schedules_of(one).find("bf16x3") != std::string::npos; }

} // namespace

TEST_CASE("emulation: f32 products of bf16 thirds, however the operands lie") {
  const Case cases[] = {
      thirds("graph g(a: f32[67, 76], b: f32[131, 76]) { return matmul(a, b, transpose_b=true) }"),
      thirds("graph g(a: f32[84, 132], b: f32[84, 72]) { return matmul(a, b, transpose_a=true) }"),
      thirds("graph g(a: f32[83, 131], b: f32[83, 71]) { return matmul(a, b, transpose_a=true) }"),
      thirds("graph g(a: f32[3, 65, 57], b: f32[57, 66]) { return matmul(a, b) }"),
      thirds("graph g(a: f32[m, 40], b: f32[40, 131]) { return matmul(a, b) }",
             {{{"m", 1}}, {{"m", 129}}, {{"m", 0}}}),
      thirds("graph g(a: f32[70, k], b: f32[k, 64]) { return matmul(a, b) }",
             {{{"k", 0}}, {{"k", 1}}, {{"k", 33}}, {{"k", 96}}}),
  };
  for (const Case& one : cases) CHECK_MESSAGE(has_thirds(one), one.spec, schedules_of(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: ops before and behind an f32 product of bf16 thirds") {
  const Case cases[] = {
      product(70, 100, 100, "softmax(matmul(relu(a), b * 0.5) + 1.0)"),
      product(70, 128, 60, "group_norm(silu(matmul(a, b)), groups=4)"),
      product(130, 64, 60, "sum(matmul(a, b), axis=0)"),
      product(66, 120, 60, "layer_norm(matmul(a, b))"),
      product(65, 66, 2500, "matmul(abs(a), abs(b))"), // sums that move to totals, and blocks share
      thirds("graph g(x: f32[33, 70], w: f32[130, 70], v: f32[130, 70]) {\n"
             "  return linear(x, w) * sigmoid(linear(x, v)) }"),
  };
  for (const Case& one : cases) CHECK_MESSAGE(has_thirds(one), one.spec, schedules_of(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: f32 products of bf16 thirds of at most 32 rows") {
  std::vector<Case> cases = {
      thirds("graph g(a: f32[32, 76], b: f32[131, 76]) { return matmul(a, b, transpose_b=true) }"),
      thirds("graph g(a: f32[132, 20], b: f32[132, 300]) {\n"
             "  return softmax(matmul(a, b, transpose_a=true) + 1.0) }"),
      thirds("graph g(a: f32[3, 31, 57], b: f32[3, 57, 266]) { return matmul(relu(a), b) }"),
      product(2, 513, 70, "gelu(matmul(a, b * 0.5))"),
      product(17, 128, 60, "group_norm(silu(matmul(a, b)), groups=4)"),
      product(30, 640, 60, "sum(matmul(a, b), axis=0)"),
      product(25, 66, 2500, "matmul(abs(a), abs(b))"), // sums that move to totals, and blocks share
      product(9, 520, 40, "matmul(a, b)"),
  };
  cases.back().non_finite = true;
  for (const int width : {0, 256}) {
    CAPTURE(width);
    for (Case& one : cases) {
      one.choice.tile_n = width;
      const std::string tile = fmt::format("bf16x3 32x{}", width > 0 ? width : 128);
      CHECK_MESSAGE(schedules_of(one).find(tile) != std::string::npos, one.spec, schedules_of(one));
    }
    CHECK(check_cases(cases) == "");
  }
  // Eight warps of 32 rows would have 8 columns each.
  const Case narrow = product(9, 26, 40, "softmax(matmul(a, b))");
  CHECK(schedules_of(narrow).find("bf16x3 64x64") != std::string::npos);
  CHECK(check_cases({narrow}) == "");
}

TEST_CASE("emulation: f32 products of bf16 thirds of numbers of any range") {
  const Case cases[] = {
      // Opposite powers along the contraction, which no scales of rows even out.
      product(64, 64, 64,
              "matmul(a * exp2((iota(f32, [64, 64], axis=1) - 32.0) * 3.0),\n"
              "       b * exp2((iota(f32, [64, 64], axis=0) - 32.0) * -3.0))"),
      product(64, 64, 40, "matmul(a * 1.0e-36, b * 1.0e20)"),
      product(64, 64, 40, "matmul(a * 1.0e-40, b * 1.0e30)"), // subnormal numbers
      // Rounded to 8 bits it is infinite.
      product(64, 64, 40, "matmul(a * 0.0 + 3.4e38, b * 1.0e-6)"),
      // Products that overflow.
      product(64, 64, 40, "matmul(a * 1.0e30, b * 1.0e30)"),
  };
  for (const Case& one : cases) CHECK_MESSAGE(has_thirds(one), one.spec, schedules_of(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: infinities and NaN in f32 products of bf16 thirds") {
  Case cases[] = {product(140, 132, 40, "matmul(a, b)"), product(64, 64, 40, "matmul(a, abs(b))")};
  for (Case& one : cases) {
    one.non_finite = true;
    CHECK(has_thirds(one));
  }
  CHECK(check_cases(cases) == "");
}
