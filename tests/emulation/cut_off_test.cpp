// SPDX-License-Identifier: Apache-2.0
// f32 products on tensor cores, which cut sums off towards zero: a correction adds the mean of the
// loss, and sums of few bits stay exact.
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Of positive numbers.
constexpr const char* kPositive =
    "graph g(a: f32[128, 1024], b: f32[1024, 128]) { return matmul(a, b) }";
constexpr const char* kOfBothSigns =
    "graph g(a: f32[128, 1024], b: f32[1024, 128]) { return matmul(a - 0.5, b - 0.5) }";
/// Of whole numbers: the sums have up to 20 bits.
constexpr const char* kIntegers = "graph g(a: f32[128, 1024], b: f32[1024, 128]) {\n"
                                  "  return matmul(round(a * 100.0), round(b * 4.0)) }";

Case halves(const char* spec) { return wgmma(spec); }
Case halves_of_warps(const char* spec) {
  Case result = wgmma(spec);
  result.target = "sm_80";
  result.choice = {};
  return result;
}
Case thirds(const char* spec) { return thirds_by_wgmma(spec, {128, 64, 16, 4}); }
Case thirds_of_warps(const char* spec) {
  Case result{spec, {{}}, MatmulPrecision::highest};
  result.least_products = {.halves = std::numeric_limits<int64_t>::max(),
                           .thirds = std::numeric_limits<int64_t>::min()};
  return result;
}

} // namespace

TEST_CASE("emulation: f32 products are not too small in the mean") {
  // Without the correction the share is -4e-8 to -9e-8. The mean of 16384 random errors of 2e-7 is
  // 2e-9.
  for (const Case& one : {halves(kOfBothSigns), halves_of_warps(kOfBothSigns), thirds(kPositive),
                          thirds_of_warps(kOfBothSigns)}) {
    const BuiltCase built = BuiltCase::make(one);
    const Outcome outcome = built.run({});
    CHECK(outcome.problem == "");
    CHECK(std::abs(built.excess(outcome)) < 1e-8);
  }
}

TEST_CASE("emulation: f32 products of whole numbers are exact on tensor cores") {
  for (const Case& one :
       {halves(kIntegers), halves_of_warps(kIntegers), thirds_of_warps(kIntegers)}) {
    const BuiltCase built = BuiltCase::make(one);
    CHECK(built.largest_error(built.run({})) == 0);
  }
}
