// SPDX-License-Identifier: Apache-2.0
// Reductions over rows and columns of a product: its kernel begins them tile by tile, and does not
// store it.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// `h`, an f32[rows, 260] of more elements than one block reduces.
Case product(const std::string& body, const std::string& rows = "150",
             MatmulPrecision precision = MatmulPrecision::pedantic) {
  return {fmt::format("graph g(x: f32[{0}, 20], param w: f32[260, 20], param b: f32[260],\n"
                      "        t: f32[{0}, 260]) {{\n"
                      "  h = relu(linear(x, w, b)) + t\n  {1} }}",
                      rows, body),
          {{}},
          precision};
}

} // namespace

TEST_CASE("emulation: a product is reduced as a whole") {
  std::vector<Case> cases = {
      product("return sum(h), reduce_min(h)"),
      product("m, v = moments(h, axis=[0, 1])\n  return m, v, mean(h), reduce_max(h)", "150",
              MatmulPrecision::high),
      product("return sum(sum(h, axis=1)) * 0.5", "150", MatmulPrecision::highest),
      product("return mse_loss(linear(x, w), t)"),
      product("return logsumexp(h), argmax(reshape(h, [39000]), axis=0)"),
      product("return h / reduce_max(h), argmin(reshape(h, [39000]), axis=0)", "150",
              MatmulPrecision::high),
      product("return sum(h, axis=0), sum(h, axis=1), sum(h)"),
      // Minima of rows, and a tile of vectors whose neighbours in memory are rows.
      product("return amin(h, axis=1, keepdim=true) + reshape(b[:90], [1, 90, 1, 1])"),
      product("return reduce_max(h), mean(h)", "m"),
  };
  cases.back().sizes = {{{"m", 1}}, {{"m", 130}}, {{"m", 132}}};
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: whole products of a batch, or of a part of it, are reduced") {
  std::vector<Case> cases = {
      {"graph g(x: f32[3, 70, 16], y: f32[3, 16, 140]) {\n  h = tanh(matmul(x, y))\n"
       "  return sum(h, axis=[1, 2]), argmin(reshape(h, [3, 9800]), axis=1), logsumexp(h),\n"
       "         argmax(reshape(h, [29400]), axis=0) }"},
      {"graph g(x: f32[2, 3, 70, 16], y: f32[2, 3, 16, 140]) {\n  h = tanh(matmul(x, y))\n"
       "  m, v = moments(h, axis=[1, 2, 3])\n"
       "  return m, v, reduce_max(h, axis=[0, 2, 3]), mean(h, axis=[2, 3]) }"},
      {"graph g(x: f32[n, 70, 16], y: f32[n, 16, 40]) {\n  h = tanh(matmul(x, y))\n"
       "  return sum(h), reduce_min(h, axis=[1, 2]) }"},
  };
  cases.back().sizes = {{{"n", 1}}, {{"n", 5}}};
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: partials of few tiles are merged by the kernel that reduces the results") {
  const std::string parts = "  h = reshape(linear(x, w, b), [40, 3, 400])\n";
  auto wide = [&](const std::string& body) {
    return Case{"graph g(x: f32[40, 20], param w: f32[1200, 20], param b: f32[1200]) {\n" + parts +
                "  " + body + " }"};
  };
  std::vector<Case> cases = {
      wide("return sum(reduce_max(h, axis=2), axis=1) * 0.5"),
      wide("return softmax(reduce_min(h, axis=2), axis=1)"),
      wide("m, v = moments(h, axis=2)\n  return reduce_max(m * v, axis=1), sum(v, axis=1)"),
      wide("return argmax(logsumexp(h, axis=2), axis=1)"),
      {"graph g(x: f16[70, 16], w: f16[16, 300]) {\n"
       "  h = reshape(exp(matmul(x, w)), [7, 10, 300])\n"
       "  return mean(h, axis=[1, 2]), reduce_min(h, axis=[1, 2]) }"},
      {"graph g(x: f32[m, 16], w: f32[1024, 16]) {\n"
       "  p = reduce_max(reshape(linear(x, w), [m, 2, 512]), axis=2)\n"
       "  return sum(p, axis=1) }"},
  };
  cases.back().sizes = {{{"m", 1}}, {{"m", 70}}};
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: a product of halves is reduced as a whole, in f32") {
  // Sums of rows, and so the sums of their squares, lie beyond the largest half.
  std::vector<Case> cases = {
      {"graph g(x: f16[3, 80, 16], y: f16[3, 16, 160]) {\n"
       "  h = tanh(matmul(x, y))\n  return mean(h), reduce_max(h, axis=[1, 2]) }"},
      {"graph g(x: f16[140, 16], w: f16[16, 260]) {\n"
       "  h = exp(matmul(x, w) * 0.01) * 1000.0\n  m, v = moments(h, axis=[0, 1])\n"
       "  return sum(h) * 0.0001, m }"},
  };
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: a product without rows or columns is reduced as a whole") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 20], w: f32[20, 132]) {\n"
             "  h = matmul(x, w)\n"
             "  return sum(h), prod(h), reduce_max(h), argmax(h), logsumexp(h) }",
             {{{"m", 0}}, {{"m", 70}}}},
            {"graph g(x: f32[70, 20], w: f32[20, n]) {\n"
             "  h = matmul(x, w)\n  return sum(h), reduce_min(h), argmin(h), mean(h) }",
             {{{"n", 0}}, {{"n", 132}}, {{"n", 5}}}},
        }) == "");
}

TEST_CASE("emulation: one element of each row of a product, without storing it") {
  const std::vector<DimBindings> sizes = {{{"m", 70}}, {{"m", 0}}};
  std::vector<Case> cases = {
      {"graph g(x: f32[m, 20], param w: f32[300, 20], t: i64[m]) {\n"
       "  return cross_entropy(linear(x, w), t) }",
       sizes},
      {"graph g(x: f16[m, 20], param w: f16[300, 20], t: i32[m]) {\n"
       "  return cross_entropy(linear(x, w) * 3, t, reduction=\"none\") }",
       sizes},
      {"graph g(x: f32[70, 20], param w: f32[n, 20], i: i64[70, 1]) {\n"
       "  h = linear(x, w)\n  return gather(h, i, axis=1), h }",
       {{{"n", 5}}, {{"n", 132}}}},
      // Neither -1 nor 2^32 is an index.
      {"graph g(x: f32[70, 20], param w: f32[30, 20], i: i64[70, 1]) {\n"
       "  h = linear(x, w)\n"
       "  return gather(h, i - 1, axis=1), gather(h, i + 4294967296, axis=1),\n"
       "    gather(h, cast(i, i32) + 28, axis=1), gather(h, reshape(cast(iota(f32, [30]), i64), "
       "[1, "
       "30]), axis=0) }"},
  };
  CHECK(check_cases(cases) == "");
}
