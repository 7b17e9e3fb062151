// SPDX-License-Identifier: Apache-2.0
// SIMT matmuls and the chains around them, at sizes on all sides of the tiles' edges.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case plain(int m, int n, int k) {
  return {
      fmt::format("graph g(a: f32[{}, {}], b: f32[{}, {}]) {{ return matmul(a, b) }}", m, k, k, n)};
}

} // namespace

TEST_CASE("emulation: matmuls around the edges of tiles") {
  CHECK(check_cases({plain(1, 1, 1), plain(5, 1, 7), plain(1, 70, 3), plain(64, 64, 16),
                     plain(63, 65, 15), plain(65, 129, 17), plain(130, 60, 33), plain(128, 128, 32),
                     plain(2, 132, 48)}) == "");
}

TEST_CASE("emulation: operands copied to FMAs, of fewer, as many and more steps than stages") {
  std::vector<Case> cases;
  for (const int k : {4, 32, 64, 96, 100, 132, 200})
    for (const bool transposed : {false, true})
      cases.push_back(
          {fmt::format("graph g(a: f32[2, {0}, {2}], b: f32[2, {3}]) {{\n"
                       "  return matmul(a, b{1}) + 1.0 }}",
                       k % 8 == 0 ? 130 : 60, transposed ? ", transpose_b=true" : "", k,
                       transposed ? fmt::format("132, {}", k) : fmt::format("{}, 72", k))});
  for (const int k : {1, 36, 37})
    cases.push_back({fmt::format("graph g(a: f32[{0}, 140], b: f32[{0}, 68]) {{\n"
                                 "  return matmul(a, b, transpose_a=true) }}",
                                 k)});
  // Parts of a contraction, and tiles that step by fewer columns than they have.
  cases.push_back(
      {"graph g(a: f32[70, 800], b: f32[40, 800]) { return matmul(a, b, transpose_b=true) }"});
  cases.push_back({"graph g(a: f32[70, 36], b: f32[240, 36]) {\n"
                   "  return group_norm(matmul(a, b, transpose_b=true), groups=4) }"});
  CHECK(schedules_of(cases.front()).find("a direct*4 b direct*4") != std::string::npos);
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: operands copied by 4 and by 8 bytes") {
  struct Narrow {
    const char* type;
    MatmulPrecision precision;
    int k;
    const char* path;
  };
  std::vector<Case> cases;
  for (const Narrow& narrow : {Narrow{"f16", MatmulPrecision::highest, 100, "direct*4"},
                               Narrow{"bf16", MatmulPrecision::highest, 102, "direct*2"},
                               Narrow{"f32", MatmulPrecision::high, 101, "direct*1"},
                               Narrow{"f32", MatmulPrecision::high, 70, "direct*2"},
                               Narrow{"f32", MatmulPrecision::highest, 101, "direct*1"},
                               Narrow{"f32", MatmulPrecision::pedantic, 101, "direct*1"},
                               Narrow{"f32", MatmulPrecision::pedantic, 102, "direct*2"}})
    for (const bool transposed : {false, true}) {
      // Lines of B along K or along the columns, as many as K.
      Case& one = cases.emplace_back(
          Case{.spec = fmt::format("graph g(a: {0}[2, 70, {1}], b: {0}[2, {2}]) {{\n"
                                   "  return relu(matmul(a, b{3})) }}",
                                   narrow.type, narrow.k,
                                   transposed ? fmt::format("66, {}", narrow.k)
                                              : fmt::format("{0}, {0}", narrow.k),
                                   transposed ? ", transpose_b=true" : ""),
               .precision = narrow.precision});
      one.least_products.thirds = std::numeric_limits<int64_t>::min();
      const std::string wanted = fmt::format("a {0} b {0}", narrow.path);
      CHECK_MESSAGE(schedules_of(one).find(wanted) != std::string::npos, one.spec,
                    schedules_of(one));
    }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: matmuls with either operand transposed, in batches") {
  std::vector<Case> cases;
  for (const char* a : {"", ", transpose_a=true"})
    for (const char* b : {"", ", transpose_b=true"})
      cases.push_back({fmt::format("graph g(a: f32[2, {}], b: f32[2, {}]) {{ return matmul(a, "
                                   "b{}{}) }}",
                                   *a ? "20, 36" : "36, 20", *b ? "44, 20" : "20, 44", a, b)});
  cases.push_back({"graph g(a: f32[3, 2, 7, 9], b: f32[9, 5]) { return matmul(a, b) * 2.0 }"});
  cases.push_back({"graph g(a: f32[3, 7, 9], b: f32[2, 1, 9, 5]) { return relu(matmul(a, b)) }"});
  cases.push_back({"graph g(a: f32[9, 4, 8], b: f32[16, 12]) {\n"
                   "  return matmul(transpose(a, [1, 0, 2]), slice(b, [2, 0], [10, 12])) }"});
  // Neighbours in memory are neighbours along the batch.
  for (const char* type : {"f32", "f16"})
    cases.push_back(
        {fmt::format("graph g(a: {0}[20, 3, 16], b: {0}[40, 20, 16]) {{\n"
                     "  return matmul(transpose(a, [2, 1, 0]), transpose(b, [2, 1, 0])) "
                     "}}",
                     type)});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: products of one column in tiles of many") {
  std::vector<Case> cases;
  for (const char* type : {"f32", "f16", "bf16"})
    for (const int rows : {1, 3})
      cases.push_back({fmt::format("graph g(a: {0}[{1}, 65], b: {0}[1, 65]) {{\n"
                                   "  h = matmul(exp(a), b, transpose_b=true)\n"
                                   "  return h, h - 3.0 }}",
                                   type, rows)});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: group norms of any width behind a matmul") {
  std::vector<Case> cases;
  for (const auto& [groups, columns] :
       {std::pair(3, 144), {20, 120}, {24, 120}, {2, 256}, {1, 256}, {9, 72}, {70, 70}, {1, 200}})
    cases.push_back({fmt::format(
        "graph g(x: f32[66, 20], param w: f32[{0}, 20], param gamma: f32[{0}], "
        "param beta: f32[{0}]) {{\n  return group_norm(gelu(linear(x, w)), gamma, beta, "
        "groups={1}) }}",
        columns, groups)});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: reductions over the rows and columns of a product") {
  CHECK(check_cases({
            {"graph g(x: f32[70, 20], param w: f32[200, 20], param b: f32[200]) {\n"
             "  return softmax(linear(x, w, b), axis=1) }"},
            {"graph g(x: f32[70, 20], param w: f32[300, 20]) {\n"
             "  return logsumexp(linear(x, w), axis=1) }"},
            {"graph g(x: f32[200, 20], param w: f32[70, 20]) {\n"
             "  h = relu(linear(x, w))\n  return h - mean(h, axis=0, keepdim=true) }"},
            {"graph g(x: f32[150, 12], param w: f32[70, 12], param gamma: f32[70],\n"
             "        param beta: f32[70], mean0: f32[70], var0: f32[70]) {\n"
             "  y, m, v = batch_norm(linear(x, w), mean0, var0, gamma, beta, training=true)\n"
             "  return y, m, v }"},
            {"graph g(x: f32[70, 20], param w: f32[200, 20]) {\n"
             "  h = swish(linear(x, w))\n  return h, reduce_max(h, axis=1), sum(h * h, axis=1) }"},
            {"graph g(x: f32[70, 20], param w: f32[200, 20]) {\n"
             "  return argmax(linear(x, w), axis=1) }"},
            {"graph g(x: f32[70, 20], param w: f32[96, 20]) {\n"
             "  return reduce_max(gelu(avg_pool1d(tanh(linear(x, w)), 8)), axis=1) }"},
            {"graph g(x: f32[70, 20], param w: f32[200, 20], param b: f32[200]) {\n"
             "  h = linear(x, w, b)\n  n = instance_norm(reshape(h, [70, 1, 200]))\n"
             "  return (reshape(n, [70, 200]) + h) * h }"},
        }) == "");
}

TEST_CASE("emulation: residuals, broadcast, sliced and transposed operands behind a matmul") {
  CHECK(check_cases({
            {"graph g(x: f32[70, 20], w: f32[36, 20], r: f32[70, 36], s: f32[70, 1],\n"
             "        t: f32[36, 70]) {\n  return relu(linear(x, w) + r) * s + transpose(t) }"},
            {"graph g(x: f32[70, 20], w: f32[36, 20], r: f32[80, 50]) {\n"
             "  return linear(x, w) + slice(r, [3, 5], [73, 41]), linear(x, w) - 1.0 }"},
            {"graph g(x: f32[6, 12, 20], w: f32[36, 20], r: f32[6, 1, 36], s: f32[12, 1]) {\n"
             "  return linear(x, w) * s + r }"},
        }) == "");
}

TEST_CASE("emulation: matmuls with named rows") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 20], param w: f32[36, 20], param b: f32[36]) {\n"
             "  return gelu(linear(x, w, b)) }",
             {{{"m", 1}}, {{"m", 5}}, {{"m", 130}}, {{"m", 0}}}},
            {"graph g(x: f32[m, k], y: f32[k, n]) { return matmul(x, y) + 1.0 }",
             {{{"m", 3}, {"n", 8}, {"k", 4}},
              {{"m", 70}, {"n", 5}, {"k", 33}},
              {{"m", 2}, {"n", 3}, {"k", 0}},
              {{"m", 2}, {"n", 0}, {"k", 7}}}},
        }) == "");
}
