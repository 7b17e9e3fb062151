// SPDX-License-Identifier: Apache-2.0
// Matmuls of few tiles and a long contraction: blocks share the tiles, and whichever arrives last
// goes on. Every type and tail, contractions that divide into parts and such that do not.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: tiles that blocks share") {
  CHECK(check_cases({
            {"graph g(x: f16[20, 1600], w: f16[40, 1600], b: f16[40]) {\n"
             "  return gelu(linear(x, w, b)) }"},
            {"graph g(x: bf16[70, 1031], w: bf16[1031, 130]) {\n"
             "  return group_norm(matmul(x, slice(w, starts=[0, 1], stops=[1031, 129])), groups=4) "
             "}"},
            {"graph g(x: f32[33, 1100], w: f32[66, 1100], r: f32[33, 66]) {\n"
             "  return matmul(x, w, transpose_b=true) + r }"},
            {"graph g(x: f32[33, 600], w: f32[66, 600]) {\n"
             "  h = matmul(x, w, transpose_b=true)\n"
             "  return h, sum(h, axis=0), reduce_max(h) }",
             {{}},
             MatmulPrecision::highest},
            {"graph g(x: f32[33, 1100], w: f32[66, 1100]) {\n"
             "  return softmax(matmul(x, w, transpose_b=true)) }",
             {{}},
             MatmulPrecision::high},
            {"graph g(x: f32[2, 1060, 40], w: f32[2, 1060, 30]) {\n"
             "  return matmul(x, w, transpose_a=true) }",
             {{}},
             MatmulPrecision::medium},
        }) == "");
}

TEST_CASE("emulation: shared tiles of two matmuls, and of computed operands") {
  CHECK(check_cases({
            {"graph g(x: f16[20, 1040], w: f16[40, 1040], v: f16[40, 1040]) {\n"
             "  return swish(linear(x, w)) * linear(x, v) }"},
            {"graph g(x: f32[20, 1040], s: f32[1040], w: f32[40, 1040]) {\n"
             "  return matmul(relu(x * s), w, transpose_b=true) }"},
        }) == "");
}

TEST_CASE("emulation: shared tiles of segments wider than a tile, of two depths, in many parts") {
  const Case cases[] = {
      {"graph g(x: f16[20, 1040], w: f16[640, 1040]) {\n"
       "  return group_norm(linear(x, w), groups=2) }"},
      {"graph g(x: f16[20, 1040], w: f16[40, 1040], y: f16[20, 3000], v: f16[40, 3000]) {\n"
       "  return linear(x, w) * linear(y, v) }"},
      {"graph g(x: f16[5, 12320], w: f16[9, 12320]) { return linear(x, w) }"},
  };
  for (const Case& one : cases) CHECK(schedules_of(one).find("split-k") != std::string::npos);
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: tiles are shared as sizes ask") {
  CHECK(check_cases({
            {"graph g(x: f16[m, 1600], w: f16[40, 1600]) { return relu(linear(x, w)) }",
             {{{"m", 0}}, {{"m", 1}}, {{"m", 130}}}},
            {"graph g(x: f32[m, k], w: f32[40, k]) { return relu(linear(x, w)) }",
             {{{"m", 3}, {"k", 1500}}, {{"m", 130}, {"k", 511}}, {{"m", 2}, {"k", 0}}}},
        }) == "");
}

TEST_CASE("emulation: an infinite or missing value in one part is one in the sum") {
  Case one{"graph g(x: f32[9, 700], w: f32[11, 700]) { return matmul(x, w, transpose_b=true) }",
           {{}},
           MatmulPrecision::highest};
  one.non_finite = true;
  CHECK(check_cases({one}) == "");
}
