// SPDX-License-Identifier: Apache-2.0
// NaN and infinities among the inputs come out where the reference has them, and nowhere else.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot::emulation;

namespace {

Case planted(const char* spec, ingot::MatmulPrecision precision = Case().precision) {
  Case one{spec};
  one.precision = precision;
  one.non_finite = true;
  return one;
}

} // namespace

TEST_CASE("emulation: NaN and infinities in elementwise chains and along rows") {
  CHECK(check_cases({
            planted("graph g(x: f32[7, 33]) { return relu(x), hardtanh(x), clamp(x, min=0.25) }"),
            planted("graph g(x: f32[7, 33]) { return gelu(x), mish(x), softplus(x), sigmoid(x) }"),
            planted("graph g(x: f32[7, 40], y: f32[7, 40]) {\n"
                    "  return minimum(x, y), maximum(y, x), where(x > y, x, y), is_nan(x) }"),
            planted("graph g(x: f16[7, 40], y: bf16[7, 40]) { return x * 2.0, exp(y) }"),
            planted("graph g(x: f32[9, 77]) { return softmax(x, axis=1), logsumexp(x, axis=1) }"),
            planted("graph g(x: f32[9, 77]) {\n"
                    "  return reduce_max(x, axis=1), reduce_min(x, axis=1), argmax(x, axis=1),\n"
                    "    argmin(x, axis=1), sum(x, axis=1) }"),
            // Rows and columns of equal infinities, NaN among some.
            planted("graph g(x: f32[9, 77]) {\n  y = log(x * 0.0)\n"
                    "  return argmax(y, axis=1), argmin(-y, axis=1), argmax(y, axis=0) }"),
            planted("graph g(x: f32[5, 20000]) { return softmax(x, axis=1) }"),
            planted("graph g(x: f32[300, 9]) {\n"
                    "  return mean(x, axis=0), reduce_max(x, axis=0), logsumexp(x, axis=0) }"),
            planted("graph g(x: f32[7, 96], param gamma: f32[96], param beta: f32[96]) {\n"
                    "  return group_norm(x, gamma, beta, groups=2) }"),
        }) == "");
}

TEST_CASE("emulation: NaN and infinities through matmuls and the chains behind them") {
  using enum ingot::MatmulPrecision;
  CHECK(check_cases({
            planted("graph g(x: f32[66, 20], param w: f32[120, 20]) {\n"
                    "  return group_norm(mish(hardtanh(linear(x, w))), groups=20) }"),
            planted("graph g(x: f32[70, 20], param w: f32[200, 20], param b: f32[200]) {\n"
                    "  return softmax(linear(x, w, b), axis=1) }",
                    highest),
            planted("graph g(x: f32[70, 20], param w: f32[96, 20]) {\n"
                    "  h = relu(linear(x, w))\n  return h - mean(h, axis=0, keepdim=true) }"),
            planted("graph g(x: f16[140, 72], param w: f16[72, 72]) { return relu(linear(x, w)) }"),
            planted("graph g(x: f32[140, 72], param w: f32[72, 72]) {\n"
                    "  return logsumexp(linear(x, w), axis=1) }",
                    high),
        }) == "");
}

TEST_CASE("emulation: matmuls at the default precision") {
  Case one{"graph g(x: f32[m, 77], param w: f32[96, 77], param b: f32[96]) {\n"
           "  return group_norm(gelu(linear(x, w, b)), groups=3) }",
           {{{"m", 1}}, {{"m", 130}}}};
  one.precision = ingot::MatmulPrecision::highest;
  CHECK(check_cases(one) == "");
}

TEST_CASE("emulation: a half that overflows as it is stored, and is used unrounded as well") {
  CHECK(check_cases({
            {"graph g(x: f16[300, 64]) {\n"
             "  r = sum(x * 256.0 * x * 256.0, axis=1)\n"
             "  return r / mean(r, axis=0, keepdim=true), sqrt(r) }"},
            {"graph g(x: f16[60, 24], w: f16[40, 24], v: f16[8, 40]) {\n"
             "  h = matmul(x * 64.0, w, transpose_b=true) * 32.0\n"
             "  return matmul(h, v, transpose_b=true), tanh(h) }"},
        }) == "");
}

TEST_CASE("emulation: NaN that a half had, as f32") {
  CHECK(check_cases({
            planted("graph g(x: bf16[3, 24], w: bf16[40, 24], r: bf16[3, 40]) {\n"
                    "  h = linear(x, w) + r\n  return h, cast(amax(h, axis=1), f32) }"),
            planted("graph g(x: bf16[7, 40]) { return cast(cast(x * 2.0, bf16), f32) }"),
            planted("graph g(x: f16[7, 40]) { return cast(cast(x * 2.0, f16), f32) }"),
        }) == "");
}

TEST_CASE("emulation: whether differences of values that overflow f16, bf16 or f32 are NaN") {
  CHECK(check_cases({
            planted("graph g(x: f16[7, 40]) { y = x * 2\n  return is_nan(x * 2 - x * 2), y - y }"),
            planted("graph g(x: f16[7, 40]) { y = x * 60000.0\n"
                    "  return is_nan(y * y - y * y), y == y * 1.0, y * 2 - y * 2 > 0 }"),
            planted("graph g(x: f16[7, 40]) { y = cast(x * 60000.0, f16)\n"
                    "  return is_nan(y - y), y == y, y != y, y - y }"),
            planted("graph g(x: bf16[7, 40]) { y = x * 3e38\n"
                    "  return is_nan(y * 2 - y * 2), y * 2 == y * 2, y * 4 - y * 4 }"),
            planted("graph g(x: f32[7, 40]) { y = x * 3e38\n"
                    "  return is_nan(y * 4 - y * 4), y * 4 == y * 4, y * 4 - y * 4 }"),
            planted("graph g(x: f16[300, 40]) { y = x * 60000.0\n"
                    "  m = mean(y - y, axis=0, keepdim=true)\n"
                    "  return is_nan(y - y + m), is_nan(sum(y * 2 - y * 2, axis=1)) }"),
            planted("graph g(x: f16[60, 24], w: f16[40, 24]) { h = matmul(x * 64.0, w.T) * 3000.0\n"
                    "  return is_nan(h * 2 - h * 2), h, h - h }"),
        }) == "");
}
