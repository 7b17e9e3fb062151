// SPDX-License-Identifier: Apache-2.0
// Matmuls that compute their operands on the way to the mainloop: by every kind of operand of the
// prologue, in every layout, and where its values outside the matrix must not be multiplied.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr MatmulPrecision kPrecisions[] = {MatmulPrecision::pedantic, MatmulPrecision::highest,
                                           MatmulPrecision::high, MatmulPrecision::medium};

/// Of f32, in every precision.
std::vector<Case> in_each_precision(const std::string& spec) {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : kPrecisions) cases.push_back({spec, {{}}, precision});
  return cases;
}

} // namespace

TEST_CASE("emulation: prologues on either operand") {
  CHECK(check_cases(in_each_precision("graph g(x: f32[70, 40], s: f32[40], b: f32[40],\n"
                                      "        w: f32[40, 36]) {\n"
                                      "  return relu(matmul(gelu(x) * s + b, w)) }")) == "");
  CHECK(check_cases(in_each_precision(
            "graph g(x: f32[66, 21], w: f32[132, 21], s: f32[132, 1], t: f32[21]) {\n"
            "  return matmul(x, tanh(w) * s + t, transpose_b=true) }")) == "");
  CHECK(check_cases(in_each_precision(
            "graph g(x: f32[33, 70], m: f32[70], r: f32[33, 1], w: f32[33, 66], c: f32[1]) {\n"
            "  return matmul((x - m) * r, abs(w) + c, transpose_a=true) }")) == "");
}

TEST_CASE("emulation: values of a prologue outside the matrix are not multiplied") {
  // log(0) and 1/0 are infinite, 0/0 is no number: any of them would spoil a whole row.
  for (const char* body : {"matmul(log(x + 1.0), w)", "matmul(1.0 / (x + 2.0), w)",
                           "matmul(x / x, exp(w))", "matmul(rsqrt(x * x + 0.5), 3.0 / w)"})
    CHECK(check_cases(in_each_precision(
              fmt::format("graph g(x: f32[65, 19], w: f32[19, 33]) {{ return {} }}", body))) == "");
}

TEST_CASE("emulation: normalised operands") {
  CHECK(check_cases({
            {"graph g(x: f32[70, 40], mean: f32[70, 1], rstd: f32[70, 1], gamma: f32[40],\n"
             "        beta: f32[40], w: f32[36, 40]) {\n"
             "  return linear((x - mean) * rstd * gamma + beta, w) }"},
            // The statistics of one product scale the operand of the next.
            {"graph g(x: f32[70, 20], w: f32[300, 20], v: f32[36, 300]) {\n"
             "  h = linear(x, w)\n  m = mean(h * h, axis=1, keepdim=true)\n"
             "  return linear(h * rsqrt(m + 0.001), v) }"},
        }) == "");
}

TEST_CASE("emulation: prologues over other types than the product's") {
  std::vector<Case> cases;
  for (const char* type : {"f16", "bf16"}) {
    cases.push_back({fmt::format("graph g(x: f32[70, 40], w: {0}[40, 36]) {{\n"
                                 "  return matmul(cast(x, {0}), w) }}",
                                 type)});
    cases.push_back({fmt::format("graph g(x: {0}[66, 48], s: {0}[48], w: {0}[72, 48]) {{\n"
                                 "  return linear(swish(x) * s, w) }}",
                                 type)});
    cases.push_back({fmt::format("graph g(x: {0}[48, 70], r: f32[70], w: {0}[48, 36]) {{\n"
                                 "  y = cast(cast(x, f32) * r, {0})\n"
                                 "  return matmul(y, w, transpose_a=true) }}",
                                 type)});
    cases.push_back({fmt::format("graph g(x: {0}[66, 19], w: f32[19, 36]) {{\n"
                                 "  return matmul(cast(x, f32) + 1.0, w) }}",
                                 type)});
  }
  cases.push_back({"graph g(x: i32[66, 40], w: f32[40, 36]) {\n"
                   "  return matmul(cast(x, f32) * 0.25, w) }"});
  cases.push_back({"graph g(x: i64[66, 18], y: f32[66, 18], w: f32[18, 36]) {\n"
                   "  return matmul(where(x > 0, y, y * 0.1), w) }"});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: prologues over sliced, transposed and repeated tensors, in batches") {
  CHECK(check_cases({
            {"graph g(x: f32[50, 80], y: f32[40, 70], w: f32[40, 36]) {\n"
             "  return matmul(slice(x, [5, 10], [45, 80]) * y, w, transpose_a=true) }"},
            {"graph g(x: f32[40, 66], v: f32[66], w: f32[40, 36]) {\n"
             "  return matmul(transpose(exp(x)) * reshape(v, [66, 1]), w) }"},
            {"graph g(x: f32[3, 34, 20], s: f32[3, 1, 20], w: f32[3, 20, 36], t: f32[3, 1, 1]) {\n"
             "  return matmul(relu(x) * s, w - t) }"},
            {"graph g(x: f32[6, 12, 20], s: f32[12, 20], w: f32[36, 20]) {\n"
             "  return linear(tanh(x + s), w) }"},
            {"graph g(x: f32[66, 20], w: f32[20, 36]) { return matmul(x * sigmoid(x), w) + "
             "reshape(slice(x, [0, 0], [66, 1]), [66, 1]) }"},
            // Two tensors as wide as the operand.
            {"graph g(x: f32[66, 40], y: f16[66, 40], w: f32[40, 36]) {\n"
             "  return matmul(x * cast(y, f32), w) }"},
        }) == "");
}

TEST_CASE("emulation: prologues of matmuls with reductions behind them") {
  CHECK(check_cases({
            {"graph g(x: f32[66, 20], s: f32[20], w: f32[96, 20]) {\n"
             "  return group_norm(linear(x * s, w), groups=3) }"},
            {"graph g(x: f32[66, 20], s: f32[20], w: f32[300, 20]) {\n"
             "  return softmax(linear(relu(x) + s, w), axis=1) }"},
        }) == "");
}

TEST_CASE("emulation: prologues of matmuls with named extents") {
  CHECK(check_cases({
            {"graph g(x: f32[m, k], s: f32[k], r: f32[m, 1], y: f32[k, n]) {\n"
             "  return matmul((x - r) * s, abs(y)) + 1.0 }",
             {{{"m", 3}, {"n", 8}, {"k", 4}},
              {{"m", 70}, {"n", 5}, {"k", 33}},
              {{"m", 2}, {"n", 3}, {"k", 0}},
              {{"m", 2}, {"n", 0}, {"k", 7}},
              {{"m", 0}, {"n", 5}, {"k", 7}}}},
        }) == "");
}
