// SPDX-License-Identifier: Apache-2.0
// Tiles whose step is no multiple of an access's width, and segments of integers through scratch.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: segments that leave steps of any divisor behind a matmul") {
  auto linear = [](int columns, int groups) {
    return fmt::format("graph g(x: f32[66, 16], param w: f32[{0}, 16], param gamma: f32[{0}],\n"
                       "        param beta: f32[{0}]) {{\n"
                       "  return group_norm(linear(x, w), gamma, beta, groups={1}) }}",
                       columns, groups);
  };
  CHECK(check_cases({
            {linear(252, 42)}, // segments of 6: step 126
            {linear(132, 4)},  // of 33: step 99
            {linear(132, 4), {{}}, MatmulPrecision::high},
            {linear(264, 24), {{}}, MatmulPrecision::medium}, // of 11: step 121
            {linear(240, 20), {{}}, MatmulPrecision::high},   // of 12: step 120
        }) == "");
}

TEST_CASE("emulation: operands along n whose tiles begin at any column") {
  CHECK(check_cases({
            {"graph g(x: f16[66, 16], w: f16[16, 216]) {\n"
             "  return group_norm(matmul(x, w), groups=6) }"}, // segments of 36: step 108
            {"graph g(x: f32[66, 16], w: f32[16, 252]) {\n"
             "  return group_norm(matmul(x, w), groups=42) }"},
            {"graph g(x: f32[66, 16], w: f32[16, 252]) {\n"
             "  return group_norm(matmul(x, w), groups=42) }",
             {{}},
             MatmulPrecision::high},
        }) == "");
}

TEST_CASE("emulation: segments of integers keep every bit") {
  for (const char* type : {"i32", "i64"})
    CHECK(check_cases({{fmt::format("graph g(x: {}[3, 40, 6]) {{\n  y = x * 10000003\n"
                                    "  return sum(y, axis=2), sum(y, axis=[1, 2]), "
                                    "reduce_max(y, axis=2) }}",
                                    type)},
                       {fmt::format("graph g(x: {}[1, 5, 3]) {{\n"
                                    "  return argmax(x, axis=2), sum(x, axis=[1, 2]) }}",
                                    type)}}) == "");
}
