// SPDX-License-Identifier: Apache-2.0
// Several reductions of one chain that see its axes differently: whole rows and parts of them,
// split, transposed and named extents, and partial results of reordered products.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: segments of rows that are too long to hold") {
  CHECK(check_cases({
            {"graph g(x: f32[1, 33024]) { return softmax(group_norm(x, groups=258), axis=1) }"},
            {"graph g(x: f32[1, 33024]) {\n  y = exp(reshape(x, [1, 516, 64]))\n"
             "  return sum(y, axis=2), reduce_max(y, axis=[1, 2]) }"},
            {"graph g(x: f32[33, 1024]) {\n  h = exp(x)\n"
             "  return sum(h, axis=1), reduce_max(h) }"},
            {"graph g(x: f32[60, 20, 3]) {\n  h = exp(transpose(x, [2, 1, 0]))\n"
             "  return sum(h, axis=2), reduce_max(h, axis=[1, 2]) }"},
        }) == "");
}

TEST_CASE("emulation: segments of rows that are held") {
  CHECK(check_cases({
            {"graph g(x: f32[5, 960]) { return softmax(group_norm(x, groups=20), axis=1) }"},
            {"graph g(x: f32[5, 1024]) {\n"
             "  return group_norm(x - reduce_max(x, axis=1, keepdim=true), groups=8) }"},
            {"graph g(x: f32[2, 6, 40, 8]) {\n  h = exp(x)\n"
             "  return sum(h, axis=3), mean(h, axis=[2, 3]), reduce_max(h, axis=[1, 2, 3]) }"},
            {"graph g(x: f32[40, 6, 3]) {\n  h = exp(transpose(x, [2, 1, 0]))\n"
             "  return sum(h, axis=2), reduce_max(h, axis=[1, 2]) }"},
        }) == "");
}

TEST_CASE("emulation: parts and wholes of named extents") {
  CHECK(check_cases({
            {"graph g(x: f32[m, n]) {\n  h = exp(x)\n  return sum(h, axis=1), reduce_max(h) }",
             {{{"m", 3}, {"n", 8}}, {{"m", 20}, {"n", 301}}, {{"m", 1}, {"n", 1}}}},
            {"graph g(x: f32[m, 64]) {\n  h = exp(x)\n  return sum(h, axis=1), reduce_max(h) }",
             {{{"m", 3}}, {{"m", 130}}, {{"m", 1}}}},
            {"graph g(x: f32[m, k], w: f32[k, n]) {\n  h = exp(matmul(x, w))\n"
             "  return sum(h, axis=1), reduce_max(h) }",
             {{{"m", 3}, {"n", 8}, {"k", 4}},
              {{"m", 70}, {"n", 5}, {"k", 33}},
              {{"m", 72}, {"n", 8}, {"k", 8}}}},
        }) == "");
}

TEST_CASE("emulation: partial results of products whose kept axes are reordered") {
  CHECK(check_cases({
            {"graph g(x: f32[6, 20], w: f32[512, 20], y: f32[3, 2, 512]) {\n"
             "  r = transpose(reshape(linear(x, w), [2, 3, 512]), [1, 0, 2]) + y\n"
             "  return logsumexp(r, axis=2) }"},
            {"graph g(a: f32[4, 9, 20], b: f32[4, 20, 300], y: f32[9, 4, 300]) {\n"
             "  h = transpose(matmul(a, b), [1, 0, 2]) + y\n  return reduce_max(h, axis=2) }"},
            {"graph g(x: f32[150, 12], w: f32[70, 12], y: f32[150, 10, 7]) {\n"
             "  h = transpose(reshape(linear(x, w), [150, 7, 10]), [0, 2, 1]) + y\n"
             "  return h - mean(h, axis=0, keepdim=true) }"},
        }) == "");
}

TEST_CASE("emulation: partial results that are needed at two points") {
  CHECK(check_cases({
            {"graph g(x: f32[12, 20], w: f32[300, 20]) {\n"
             "  h = reduce_max(linear(x, w), axis=1)\n"
             "  return reshape(h, [12, 1]) * h }"},
            {"graph g(x: f32[12, 20], w: f32[300, 20], y: f32[12]) {\n"
             "  h = reduce_max(linear(x, w), axis=1)\n"
             "  return reshape(h, [12, 1]) * (h + y) }"},
        }) == "");
}

TEST_CASE("emulation: partial results of halves keep the precision of f32") {
  CHECK(check_cases({{"graph g(x: bf16[65, 512], w: bf16[512, 16], v: bf16[16, 300],\n"
                      "        y: bf16[65, 300], z: bf16[65, 300]) {\n"
                      "  h = matmul(matmul(x, w), v)\n"
                      "  return z - y * reduce_min(h, axis=1, keepdim=true) }"}}) == "");
}

TEST_CASE("emulation: positions of extremes along reordered extents") {
  CHECK(check_cases({
            {"graph g(y: f32[4, 3, 2], x: f32[4, 6]) {\n  k = exp(y)\n  h = exp(x)\n"
             "  u = transpose(reshape(h, [4, 2, 3]), [0, 2, 1]) + k\n"
             "  return sum(u, axis=[1, 2]), argmax(h, axis=1) }"},
            {"graph g(x: f32[6, 12], w: f32[510, 12]) {\n"
             "  h = reshape(transpose(reshape(linear(x, w), [6, 2, 255]), [0, 2, 1]), [6, 510])\n"
             "  return argmax(h, axis=1), h }"},
            {"graph g(x: f32[6, 12], w: f32[60, 12]) {\n"
             "  h = reshape(transpose(reshape(linear(x, w), [6, 4, 15]), [0, 2, 1]), [6, 60])\n"
             "  return argmin(h, axis=1), h }"},
            {"graph g(x: f32[4, 8, 6, 35]) {\n  h = exp(transpose(x, [0, 1, 3, 2]))\n"
             "  return argmax(reshape(h, [4, 8, 210]), axis=2), reduce_max(x + 1.0, axis=[2, 3]) "
             "}"},
        }) == "");
}

TEST_CASE("emulation: a product whose epilogue combines partial results") {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::pedantic, MatmulPrecision::high})
    cases.push_back({"graph g(x: f32[70, 20], w: f32[512, 20], y: f32[70, 24], v: f32[90, 24]) {\n"
                     "  m = reduce_max(linear(x, w), axis=1, keepdim=true)\n"
                     "  return relu(linear(y, v) - m) }",
                     {{}},
                     precision});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: segments of several widths behind a matmul") {
  CHECK(check_cases({
            {"graph g(x: f32[66, 20], w: f32[240, 20]) {\n  h = linear(x, w)\n"
             "  return group_norm(group_norm(h, groups=3), groups=16), h }"},
            {"graph g(x: f32[66, 20], w: f32[420, 20]) {\n  h = linear(x, w)\n"
             "  return group_norm(group_norm(h, groups=10), groups=7) }"},
            {"graph g(x: f32[66, 20], w: f32[96, 20]) {\n  h = linear(x, w)\n"
             "  a = group_norm(relu(h), groups=2)\n  b = group_norm(relu(a), groups=2)\n"
             "  c = group_norm(relu(b), groups=2)\n  return group_norm(relu(c), groups=2) }"},
        }) == "");
}
