// SPDX-License-Identifier: Apache-2.0
// Products whose operand A the same kernel computes, step by step along K: softmaxes of scores
// times values, with any elementwise ops between, and products of products without a reduction.
#include "tests/emulation/mutations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Operands of two heads: q[2, rows, depth], k[2, keys, depth], v[2, keys, columns].
struct Heads {
  const char* type;
  int rows, keys, depth, columns;
};

/// softmax(f(q k^T)) v, where `between` are the statements from the scores `s` to the softmax, and
/// `tail` is the result of the product `h`.
std::string attention(const Heads& of, const char* inputs = "", const char* between = "",
                      const char* tail = "h") {
  return fmt::format(
      "graph g(q: {0}[2, {1}, {3}], k: {0}[2, {2}, {3}], v: {0}[2, {2}, {4}]{5}) {{\n"
      "  s = matmul(q, k, transpose_b=true) * 0.25\n{6}"
      "  h = matmul(softmax(s, axis=2), v)\n  return {7} }}",
      of.type, of.rows, of.keys, of.depth, of.columns, inputs, between, tail);
}

/// The failures of a case, or that it is not one kernel.
std::string check_nested(const Case& one) {
  const std::string schedules = schedules_of(one);
  const bool computes = schedules.find("nested mma") == 0 || schedules.find("resident mma") == 0;
  if (!computes || schedules.find('\n') + 1 != schedules.size())
    return "not one kernel: " + schedules;
  return check_cases({one});
}

} // namespace

TEST_CASE("emulation: attention is one kernel") {
  CHECK(check_nested({attention({"f16", 128, 128, 64, 64})}) == "");
  CHECK(check_nested({attention({"bf16", 130, 200, 40, 72})}) == "");
  CHECK(check_nested({attention({"f16", 5, 70, 17, 33})}) == "");
  CHECK(check_nested({attention({"f16", 70, 65, 128, 128})}) == "");
  CHECK(check_nested({attention({"bf16", 20, 33, 200, 130})}) == "");
}

TEST_CASE("emulation: blocks share the keys of few rows") {
  const auto check_split = [](const Case& one) {
    return schedules_of(one).find("split-k") != std::string::npos ? check_nested(one) : "no parts";
  };
  CHECK(check_split({attention({"f16", 2, 2000, 64, 64})}) == "");
  CHECK(check_split({attention({"bf16", 20, 1500, 40, 72})}) == "");
  CHECK(check_split({attention({"f16", 70, 1300, 32, 32}, ", m: bool[2, 1, 1300]",
                               "  s = where(m, s, -inf)\n")}) == "");
  // Parts without an admitted key, and one that stores the logarithms of the sums.
  CHECK(check_split({attention({"f16", 5, 1300, 32, 32}, "",
                               "  s = where(iota(i32, [5, 1300], axis=1) > 700, s, -inf)\n")}) ==
        "");
  CHECK(check_split({attention({"f16", 5, 1300, 32, 32}, "", "", "h, logsumexp(s, dim=2)")}) == "");
  CHECK(check_split({"graph g(q: f16[b, 6, 1, 32], k: f16[b, 2, m, 32], v: f16[b, 2, m, 64]) {\n"
                     "  return scaled_dot_product_attention(q, k, v, enable_gqa=true) }",
                     {{{"b", 1}, {"m", 2100}}, {{"b", 2}, {"m", 300}}, {{"b", 1}, {"m", 1}}}}) ==
        "");
  CHECK(check_split({"graph g(x: f16[20, 40], a: f16[40, 2000], b: f16[2000, 40]) {\n"
                     "  return matmul(relu(matmul(x, a)), b) }"}) == "");
}

TEST_CASE("emulation: every operation that orders parts of the keys is needed") {
  const Case one = {attention({"f16", 5, 1300, 32, 32})};
  REQUIRE(schedules_of(one).find("split-k") != std::string::npos);
  check_each(kBarrier, one, 6, {}, 5);
}

TEST_CASE("emulation: attention with masks and biases") {
  CHECK(check_nested({attention({"f16", 70, 100, 32, 32}, ", b: f16[70, 100]", "  s = s + b\n")}) ==
        "");
  CHECK(check_nested({attention({"f16", 70, 100, 32, 32}, ", m: bool[2, 1, 100]",
                                "  s = where(m, s, -inf)\n")}) == "");
  CHECK(
      check_nested({attention(
          {"f16", 70, 70, 32, 32}, "",
          "  s = where(iota(i32, [70, 70], axis=0) >= iota(i32, [70, 70], axis=1), s, -inf)\n")}) ==
      "");
  CHECK(check_nested({attention({"f16", 33, 140, 32, 32}, "", "  s = tanh(s * 0.1) * 10.0\n")}) ==
        "");
}

TEST_CASE("emulation: attention with stages behind it") {
  CHECK(check_nested({attention({"f16", 70, 100, 32, 48}, ", x: f16[2, 70, 48], b: f16[48]", "",
                                "gelu(h + b) + x")}) == "");
  CHECK(check_nested({attention({"f16", 70, 100, 32, 48}, ", b: f16[48]", "",
                                "layer_norm(h, b, b)")}) == "");
}

TEST_CASE("emulation: attention of rows without a key") {
  CHECK(check_nested({attention({"f16", 70, 100, 32, 32}, ", m: bool[2, 70, 100]",
                                "  s = where(m, s, -inf)\n"),
                      {{}},
                      MatmulPrecision::highest,
                      Case::Depth::results,
                      true}) == "");
}

TEST_CASE("emulation: scaled_dot_product_attention is one kernel in all its forms") {
  const auto form = [](const char* options, const char* inputs = "", const char* heads = "2, 4") {
    return Case{fmt::format("graph g(q: f16[2, 4, 70, 32], k: f16[{1}, 100, 32], "
                            "v: f16[{1}, 100, 40]{2}) {{\n"
                            "  rows = iota(i32, [70, 100], axis=0)\n"
                            "  return scaled_dot_product_attention(q, k, v{0}) }}",
                            options, heads, inputs)};
  };
  CHECK(check_nested(form("")) == "");
  CHECK(check_nested(form(", is_causal=true")) == "");
  CHECK(check_nested(form(", attn_mask=m", ", m: f16[70, 100]")) == "");
  CHECK(check_nested(form(", enable_gqa=true, is_causal=true", "", "2, 2")) == "");
  // Rows without a key are 0.
  CHECK(check_nested(form(", attn_mask=m & (rows > 4)", ", m: bool[70, 100]")) == "");
  CHECK(check_nested(form(", attn_mask=m & (rows > 4), enable_gqa=true", ", m: bool[2, 1, 1, 100]",
                          "2, 2")) == "");
  CHECK(check_nested(form(", attn_mask=where(rows > 4, m, -inf)", ", m: f16[70, 100]")) == "");
  CHECK(check_nested(form(", attn_mask=rows > 4")) == "");
}

TEST_CASE("emulation: attention in f32 is one kernel") {
  const auto f32 = [](const std::string& spec) {
    return Case{spec, {{}}, MatmulPrecision::highest};
  };
  CHECK(check_nested(f32(attention({"f32", 130, 200, 64, 64}))) == "");
  CHECK(check_nested(f32(attention({"f32", 70, 65, 40, 72}))) == "");
  CHECK(check_nested(f32(attention({"f32", 70, 100, 17, 33}, ", m: bool[2, 1, 100]",
                                   "  s = where(m, s, -inf)\n"))) == "");
  CHECK(check_nested(f32(attention({"f32", 5, 900, 32, 32}, "", "", "h, logsumexp(s, dim=2)"))) ==
        "");
  CHECK(check_nested(
            f32("graph g(q: f32[2, 70, 40], k: f32[2, 40, 90], v: f32[2, 24, 90]) {\n"
                "  return matmul(softmax(matmul(q, k), axis=2), v, transpose_b=true) }")) == "");
  // Coarser precisions multiply two parts.
  for (MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium}) {
    Case one = f32(attention({"f32", 130, 200, 64, 64}));
    one.precision = precision;
    REQUIRE(schedules_of(one).find("bf16x2") != std::string::npos);
    CHECK(check_nested(one) == "");
  }
  // Numbers that thirds do not hold: tiles with them are computed by FMA.
  Case large = f32(attention({"f32", 70, 100, 32, 32}));
  large.non_finite = true;
  CHECK(check_nested(large) == "");
}

TEST_CASE("emulation: attention in f32 with scores that thirds do not hold") {
  // Rows have one key, so that results are its values: the error bound admits anything here. All
  // scores have one sign, since a positive one among others is noticed anyway.
  for (const char* sign : {"", "-"}) {
    Case one = {attention({"f32", 70, 40, 2, 32}, "",
                          fmt::format("  s = matmul({}exp(q + 60), abs(k), transpose_b=true)\n"
                                      "  s = where(iota(i32, [70, 40], axis=1) < 1, s, -inf)\n",
                                      sign)
                              .c_str())};
    one.precision = MatmulPrecision::highest;
    REQUIRE(schedules_of(one).find("nested mma bf16x3") != std::string::npos);
    const Outcome outcome = BuiltCase::make(one).run({});
    REQUIRE(outcome.problem == "");
    for (int64_t i = 0; i < outcome.outputs[0].count(); ++i)
      REQUIRE(std::isfinite(outcome.outputs[0].real(i)));
  }
}

TEST_CASE("emulation: attention with a softmax in f32 is one kernel") {
  const auto widened = [](const char* type, const char* scores) {
    return Case{fmt::format("graph g(q: {0}[70, 32], k: {0}[100, 32], v: {0}[100, 40], "
                            "m: f32[70, 100]) {{\n"
                            "  s = matmul(q, k, transpose_b=true)\n"
                            "  h = matmul(cast(softmax({1}), {0}), v)\n  return h + 0.5 }}",
                            type, scores)};
  };
  CHECK(check_nested(widened("f16", "cast(s * 0.25, f32)")) == "");
  CHECK(check_nested(widened("bf16", "cast(s, f32) * 0.25 + m")) == "");
}

TEST_CASE("emulation: ops on the rows of the first product are the kernel's") {
  const auto rows = [](const char* type, const char* operand) {
    return Case{fmt::format("graph g(q: {0}[2, 70, 40], k: {0}[2, 100, 40], v: {0}[2, 100, 48], "
                            "b: {0}[40], c: {0}[2, 70, 1]) {{\n"
                            "  s = matmul({1}, k, transpose_b=true)\n"
                            "  return matmul(softmax(s), v) }}",
                            type, operand)};
  };
  CHECK(check_nested(rows("f16", "relu(q)")) == "");
  CHECK(check_nested(rows("bf16", "tanh(q * b) * c")) == "");
  CHECK(check_nested({"graph g(x: f16[70, 40], a: f16[40, 64], w: f16[64, 72]) {\n"
                      "  return matmul(relu(matmul(x * 0.3 + 1.0, a)), w) }"}) == "");
}

TEST_CASE("emulation: attention stores values of its rows beside the product") {
  const auto beside = [](const char* results, const char* mask = "", int keys = 100) {
    return Case{
        fmt::format("graph g(q: f16[2, 70, 32], k: f16[2, {2}, 32], v: f16[2, {2}, 40]) {{\n"
                    "  s = matmul(q, k, transpose_b=true) * 0.25\n{1}"
                    "  m, z = max_sumexp(s, axes=[2])\n"
                    "  p = exp(s - reshape(m, [2, 70, 1])) / reshape(z, [2, 70, 1])\n"
                    "  return matmul(p, v), {0} }}",
                    results, mask, keys)};
  };
  CHECK(check_nested(beside("m, z")) == "");
  CHECK(check_nested(beside("m + log(z)")) == "");
  CHECK(check_nested(beside("lse=reshape(cast(m, f32) + log(cast(z, f32)), [140]), m")) == "");
  CHECK(check_nested(beside("concat([m, z], axis=1)")) == "");
  CHECK(check_cases({beside("softmax(m + log(z), axis=1)")}) == ""); // another kernel
  // The first rows have no key.
  CHECK(check_nested(beside("logsumexp(s, dim=2)",
                            "  s = where(iota(i32, [70, 300], axis=0) > iota(i32, [70, 300], "
                            "axis=1) + 4, s, -inf)\n",
                            300)) == "");
}

TEST_CASE("emulation: factors of rows follow the product") {
  const auto scaled = [](const char* operand, const char* inputs) {
    return Case{fmt::format("graph g(q: f16[70, 32], k: f16[100, 32], v: f16[100, 40]{1}) {{\n"
                            "  p = softmax(matmul(q, k, transpose_b=true))\n"
                            "  return matmul({0}, v) }}",
                            operand, inputs)};
  };
  CHECK(check_nested(scaled("-p * 1.25", "")) == "");
  CHECK(check_nested(scaled("sigmoid(g) * p", ", g: f16[70, 1]")) == "");
  CHECK(check_nested(scaled("where(m, p, 0)", ", m: bool[70, 1]")) == "");
}

TEST_CASE("emulation: products of products without a reduction are one kernel") {
  CHECK(check_nested({"graph g(x: f16[130, 40], a: f16[40, 100], b: f16[100, 36]) {\n"
                      "  return matmul(relu(matmul(x, a)), b) }"}) == "");
  CHECK(
      check_nested({"graph g(x: bf16[70, 40], a: bf16[40, 16], b: bf16[16, 130], c: bf16[130]) {\n"
                    "  return matmul(matmul(x, a), b) + c }"}) == "");
}

TEST_CASE("emulation: columns behind attention are reduced over tiles of one size") {
  const Case one = {"graph g(q: f16[r, 32], k: f16[100, 32], v: f16[100, 40]) {\n"
                    "  h = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n"
                    "  return h - mean(h, axis=0) }",
                    {{{"r", 300}}, {{"r", 1}}}};
  REQUIRE(schedules_of(one).find("nested mma f16 128x") == 0);
  CHECK(check_cases({one}) == "");
}

TEST_CASE("emulation: attention of a tensor with itself") {
  const Case one = {"graph g(x: f32[2, 70, 40]) {\n  y = cast(x, f16)\n"
                    "  return matmul(softmax(matmul(y, y, transpose_b=true)), y) }"};
  CHECK(schedules_of(one).find("nested mma") != std::string::npos);
  CHECK(check_cases({one}) == "");
}

TEST_CASE("emulation: attention leaves out the tiles that a mask of positions empties") {
  // Rows behind the last key, windows, and rows that see no key.
  CHECK(check_nested({attention({"f16", 300, 200, 32, 32}, "",
                                "  s = where(iota(i32, [300, 200], axis=0) >= "
                                "iota(i32, [300, 200], axis=1), s, -inf)\n")}) == "");
  CHECK(check_nested(
            {attention({"f16", 270, 330, 32, 32}, "",
                       "  d = iota(i32, [270, 330], axis=1) - iota(i32, [270, 330], axis=0)\n"
                       "  s = where((d > 70) & (d < 100), s, -inf)\n")}) == "");
  CHECK(check_nested(
            {attention({"f16", 150, 130, 32, 32}, "",
                       "  d = iota(i32, [150, 130], axis=0) - iota(i32, [150, 130], axis=1)\n"
                       "  s = where(d > 64, -inf, s)\n")}) == "");
}

TEST_CASE("emulation: attention with named lengths") {
  CHECK(check_nested({"graph g(q: f16[b, n, 32], k: f16[b, m, 32], v: f16[b, m, 64]) {\n"
                      "  s = matmul(q, k, transpose_b=true)\n"
                      "  return matmul(softmax(s, axis=2), v) }",
                      {{{"b", 2}, {"n", 70}, {"m", 130}},
                       {{"b", 1}, {"n", 1}, {"m", 1}},
                       {{"b", 3}, {"n", 3}, {"m", 64}},
                       {{"b", 1}, {"n", 3}, {"m", 0}},
                       {{"b", 1}, {"n", 0}, {"m", 5}},
                       {{"b", 0}, {"n", 3}, {"m", 5}}}}) == "");
}

TEST_CASE("emulation: every barrier, wait and commit of a computed operand is needed") {
  // Two heads of two tiles of 64 rows, three steps each. Of each tile, the last commit has no
  // copies, and the wait behind the steps has none left: it is for tiles without a step.
  const Case one = {attention({"f16", 70, 300, 32, 32})};
  REQUIRE(schedules_of(one).find("nested mma f16 64x32x128") == 0);
  check_each(kBarrier, one, 19);
  check_each(kWait, one, 16, {3, 7, 11, 15});
  check_each(kCommit, one, 16, {3, 7, 11, 15});
}
