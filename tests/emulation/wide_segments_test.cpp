// SPDX-License-Identifier: Apache-2.0
// Parts of a product's rows that are wider than a tile: each tile stores its states, and the next
// kernel merges those of a part.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// `h`, the product, has two parts of `width` columns; `body` reduces `s`, h by parts.
Case parts(int64_t width, const std::string& body,
           MatmulPrecision precision = MatmulPrecision::pedantic) {
  return {fmt::format("graph g(x: f32[70, 20], param w: f32[{}, 20], param b: f32[{}]) {{\n"
                      "  h = linear(x, w, b)\n  s = reshape(h, [70, 2, {}])\n  {} }}",
                      2 * width, 2 * width, width, body),
          {{}},
          precision};
}

const char* const kMost = "return reduce_max(s, axis=2), mean(s, axis=2), logsumexp(s, axis=2)";

} // namespace

TEST_CASE("emulation: wide segments behind a matmul") {
  std::vector<Case> cases;
  for (const int64_t width : {320, 384, 512, 768, 1000})
    for (const MatmulPrecision precision : {MatmulPrecision::pedantic, MatmulPrecision::high})
      cases.push_back(parts(width, kMost, precision));
  cases.push_back(parts(2048, "return reduce_max(s, axis=2)"));
  cases.push_back(parts(600, "return sum(s, axis=2), argmin(s, axis=2)", MatmulPrecision::highest));
  cases.push_back(parts(720, "t = reshape(h, [70, 20, 72])\n"
                             "  return reduce_max(s, axis=2), reduce_max(t, axis=2)"));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: every reducer over wide segments") {
  std::vector<Case> cases = {
      parts(512, "return sum(s, axis=2), reduce_min(s, axis=2), prod(s * 0.01 + 1.0, axis=2)"),
      parts(512, "c, v = moments(s, axis=2)\n  return c, v, argmax(s, axis=2)"),
      parts(384, "y = cast(s, i32)\n  return argmax(y, axis=2), argmin(y, axis=2), sum(y, axis=2)"),
  };
  for (const char* body : {"return argmax(s, axis=2), argmin(s, axis=2)", kMost}) {
    cases.push_back(parts(512, body));
    cases.back().non_finite = true;
  }
  for (const char* type : {"f16", "bf16"})
    cases.push_back({fmt::format("graph g(x: {0}[66, 16], w: {0}[16, 1024]) {{\n"
                                 "  h = reshape(matmul(x, w), [66, 2, 512])\n"
                                 "  return reduce_max(h, axis=2), mean(h, axis=2) }}",
                                 type)});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: norms of wide groups of columns store the product once") {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::pedantic, MatmulPrecision::high})
    for (const auto& [columns, groups] : {std::pair(1024, 2), std::pair(1536, 2), {1000, 1}})
      cases.push_back({fmt::format("graph g(x: f32[70, 20], param w: f32[{0}, 20],\n"
                                   "        param gamma: f32[{0}], param beta: f32[{0}]) {{\n"
                                   "  h = mish(linear(x, w))\n"
                                   "  return group_norm(h, gamma, beta, groups={1}) }}",
                                   columns, groups),
                       {{}},
                       precision});
  cases.push_back(parts(512, "return softmax(group_norm(h, groups=2), axis=1)"));
  cases.push_back({"graph g(x: f32[35, 20], w: f32[1024, 20], v: f32[9, 1024]) {\n"
                   "  return linear(group_norm(linear(x, w), groups=2), v) }"});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: wide segments beside other reductions") {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::pedantic, MatmulPrecision::high}) {
    // In the tile, and of several tiles.
    cases.push_back(parts(512,
                          "n = group_norm(h, groups=16)\n"
                          "  return reduce_max(reshape(n, [70, 2, 512]), axis=2)",
                          precision));
    cases.push_back(parts(480,
                          "t = sum(reshape(h, [70, 20, 48]), axis=2)\n"
                          "  return t, reduce_max(s, axis=2)",
                          precision));
    // Parts of parts, and whole rows and columns.
    cases.push_back(parts(1024,
                          "q = reshape(h, [70, 4, 512])\n"
                          "  return mean(q, axis=2), reduce_max(s, axis=2), logsumexp(h, axis=1)",
                          precision));
  }
  cases.push_back(parts(1000, "return reduce_max(s, axis=2), sum(h, axis=1), h"));
  cases.push_back(parts(384, "return reduce_min(s, axis=2), mean(h, axis=0), h * 2.0"));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: ops that use results of wide segments") {
  CHECK(check_cases({
            parts(512, "return sum(reduce_max(s, axis=2), axis=1) * 0.5"),
            parts(512, "return softmax(mean(s, axis=2), axis=1)"),
            parts(384, "m = reduce_max(s, axis=2, keepdim=true)\n  return exp(s - m), gelu(m)"),
            parts(384, "m = reduce_max(s, axis=2)\n  return transpose(m), sum(m)"),
            parts(512, "return logsumexp(s, axis=2, keepdim=true) - mean(s, axis=2, keepdim=true)"),
        }) == "");
}

TEST_CASE("emulation: wide parts of named rows, of batches and of gated products") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 20], param w: f32[1024, 20]) {\n"
             "  h = reshape(linear(x, w), [m, 2, 512])\n"
             "  return reduce_max(h, axis=2), argmax(h, axis=2) }",
             {{{"m", 1}}, {{"m", 0}}, {{"m", 130}}}},
            {"graph g(x: f32[m, k], w: f32[n, 384, k]) {\n"
             "  h = reshape(linear(x, reshape(w, [n * 384, k])), [m, n, 384])\n"
             "  return mean(h, axis=2), sum(h, axis=[1, 2]) }",
             {{{"m", 3}, {"n", 3}, {"k", 4}}, {{"m", 66}, {"n", 1}, {"k", 0}}}},
            {"graph g(a: f32[3, 9, 20], b: f32[3, 20, 1024]) {\n"
             "  h = reshape(matmul(a, b), [3, 9, 2, 512])\n"
             "  return reduce_max(h, axis=3), mean(h, axis=3) }"},
            {"graph g(x: f32[2, 33, 20], w: f32[768, 20]) {\n"
             "  h = reshape(linear(x, w), [2, 33, 2, 384])\n"
             "  return transpose(logsumexp(h, axis=3), [2, 0, 1]) }"},
            {"graph g(x: f32[40, 20], v: f32[1024, 20], w: f32[1024, 20]) {\n"
             "  h = swish(linear(x, v)) * linear(x, w)\n"
             "  return reduce_max(reshape(h, [40, 2, 512]), axis=2) }"},
        }) == "");
}
