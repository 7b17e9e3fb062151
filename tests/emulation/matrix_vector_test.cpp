// SPDX-License-Identifier: Apache-2.0
// Matmuls of one row or one column: matrices either way round, batches, halves and named sizes.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: matrices times vectors") {
  CHECK(check_cases({
            {"graph g(x: f32[1, 45], w: f32[45, 70], b: f32[70]) {\n"
             "  return relu(matmul(x, w) + b) }"},
            {"graph g(x: f32[1, 44], w: f32[72, 44]) { return matmul(x, w, transpose_b=true) }"},
            {"graph g(a: f32[45, 70], v: f32[45, 1]) { return matmul(a, v, transpose_a=true) }"},
            {"graph g(a: f32[3, 20, 40], v: f32[3, 40, 1]) { return matmul(a, v) }"},
            {"graph g(x: f32[5, 1, 40], w: f32[40, 33]) {\n"
             "  return matmul(x, broadcast(w, [5, 40, 33])) }"},
            {"graph g(x: f16[1, 600], w: f16[600, 40]) { return softmax(matmul(x, w), axis=1) }"},
            {"graph g(x: bf16[1, 600], w: bf16[40, 600]) {\n"
             "  return gelu(matmul(x, w, transpose_b=true)) }"},
            {"graph g(x: f32[1, k], w: f32[k, 40]) { return matmul(x, w) }",
             {{{"k", 300}}, {{"k", 0}}, {{"k", 1}}}},
            {"graph g(x: f32[2, 40], u: f32[1, n], v: f32[n, 1]) { return x * matmul(u, v) }",
             {{{"n", 8}}, {{"n", 9001}}}},
        }) == "");
}
