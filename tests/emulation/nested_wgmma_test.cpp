// SPDX-License-Identifier: Apache-2.0
// Products by wgmma whose operand A the same kernel computes (tile/nested_wgmma_mainloop.cuh).
#include "tests/emulation/mutations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// A case of sm_90a whose kernel computes an operand of products by wgmma, with tiles of so many
/// rows.
Case nested_wgmma(const std::string& spec, std::vector<DimBindings> sizes = {{}},
                  int64_t tile_m = 128) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.target = "sm_90a";
  result.choice.wgmma = 2;
  result.choice.tile_m = tile_m;
  return result;
}

/// The failures of a case, or that it is not one kernel by wgmma.
std::string check_nested(const Case& one) {
  const std::string schedules = schedules_of(one);
  if (schedules.find("nested wgmma") != 0 || schedules.find('\n') + 1 != schedules.size())
    return "not one kernel: " + schedules;
  return check_cases({one});
}

/// softmax(f(q k^T)) v of two heads, where `between` are the statements from the scores `s` to the
/// softmax.
Case attention(const char* type, int rows, int keys, int depth, int columns,
               const char* inputs = "", const char* between = "") {
  return nested_wgmma(
      fmt::format("graph g(q: {0}[2, {1}, {3}], k: {0}[2, {2}, {3}], v: {0}[2, {2}, {4}]{5}) {{\n"
                  "  s = matmul(q, k, transpose_b=true) * 0.25\n{6}"
                  "  return matmul(softmax(s, axis=2), v) }}",
                  type, rows, keys, depth, columns, inputs, between));
}

} // namespace

TEST_CASE("emulation: attention by wgmma is one kernel") {
  CHECK(check_nested(attention("f16", 128, 128, 64, 64)) == "");
  CHECK(check_nested(attention("bf16", 130, 300, 40, 72)) == "");
  CHECK(check_nested(attention("f16", 5, 70, 16, 32)) == "");
  CHECK(check_nested(attention("f16", 150, 260, 128, 128)) == "");
  CHECK(check_nested(attention("bf16", 20, 200, 200, 136)) == "");
}

TEST_CASE("emulation: attention by wgmma with masks and biases") {
  CHECK(check_nested(attention("f16", 70, 300, 32, 32, ", b: f16[70, 300]", "  s = s + b\n")) ==
        "");
  CHECK(check_nested(attention("f16", 70, 200, 32, 32, ", m: bool[2, 70, 200]",
                               "  s = where(m, s, -inf)\n")) == "");
  CHECK(check_nested(attention("f16", 33, 140, 32, 32, "", "  s = tanh(s * 0.1) * 10.0\n")) == "");
  // Tiles without an admitted point are left out, by those that copy and by those that multiply.
  CHECK(check_nested(attention("f16", 300, 400, 32, 32, "",
                               "  d = iota(i32, [300, 400], axis=1) - "
                               "iota(i32, [300, 400], axis=0)\n"
                               "  s = where((d > 70) & (d < 200), s, -inf)\n")) == "");
  CHECK(check_nested(attention("f16", 400, 300, 32, 32, "",
                               "  d = iota(i32, [400, 300], axis=0) - "
                               "iota(i32, [400, 300], axis=1)\n"
                               "  s = where(d >= 0, s, -inf)\n")) == "");
}

TEST_CASE("emulation: attention by wgmma with large finite numbers where a mask is false") {
  // Rows without a key, and first steps without one.
  for (const char* lowest : {"-3.3895e38", "-1e12", "-1e9", "-5000.0"}) {
    const std::string mask =
        "  i = iota(i32, [70, 300], axis=0)\n  j = iota(i32, [70, 300], axis=1)\n  s = where((i > "
        "20) & ((i > 40) | (j > 150)), s, " +
        std::string(lowest) + ")\n";
    CHECK(check_nested(attention("bf16", 70, 300, 32, 32, "", mask.c_str())) == "");
  }
}

TEST_CASE("emulation: attention by three warpgroups") {
  CHECK(check_nested(nested_wgmma("graph g(q: f16[b, n, 32], k: f16[b, m, 32], v: f16[b, m, 64]) "
                                  "{\n  s = matmul(q, k, transpose_b=true)\n"
                                  "  return matmul(softmax(s, axis=2), v) }",
                                  {{{"b", 2}, {"n", 200}, {"m", 300}},
                                   {{"b", 1}, {"n", 1}, {"m", 1}},
                                   {{"b", 1}, {"n", 400}, {"m", 0}}},
                                  192)) == "");
  CHECK(check_nested(nested_wgmma(
            "graph g(q: bf16[2, 4, 300, 64], k: bf16[2, 2, 300, 64], v: bf16[2, 2, 300, 64]) {\n"
            "  return scaled_dot_product_attention(q, k, v, enable_gqa=true, is_causal=true) }",
            {{}}, 192)) == "");
}

TEST_CASE("emulation: products of products by wgmma without a reduction") {
  CHECK(check_nested(nested_wgmma("graph g(x: f16[130, 40], a: f16[40, 304], b: f16[304, 40]) {\n"
                                  "  return matmul(relu(matmul(x, a)), b) }")) == "");
}

TEST_CASE("emulation: attention by wgmma with named lengths") {
  CHECK(check_nested(nested_wgmma("graph g(q: f16[b, n, 32], k: f16[b, m, 32], v: f16[b, m, 64]) "
                                  "{\n  s = matmul(q, k, transpose_b=true)\n"
                                  "  return matmul(softmax(s, axis=2), v) }",
                                  {{{"b", 2}, {"n", 70}, {"m", 300}},
                                   {{"b", 1}, {"n", 1}, {"m", 1}},
                                   {{"b", 3}, {"n", 300}, {"m", 64}},
                                   {{"b", 1}, {"n", 3}, {"m", 0}},
                                   {{"b", 1}, {"n", 0}, {"m", 5}},
                                   {{"b", 0}, {"n", 3}, {"m", 5}}})) == "");
}

TEST_CASE("emulation: heads by wgmma that share keys, or lie side by side in a row") {
  CHECK(check_nested(nested_wgmma(
            "graph g(q: f16[2, 6, 70, 32], k: f16[2, 3, 140, 32], v: f16[2, 3, 140, 64]) {\n"
            "  return scaled_dot_product_attention(q, k, v, enable_gqa=true) }")) == "");
  CHECK(check_nested(nested_wgmma(
            "graph g(q: f16[2, 6, 1, 32], k: f16[2, 2, 300, 32], v: f16[2, 2, 300, 64]) {\n"
            "  return scaled_dot_product_attention(q, k, v, enable_gqa=true) }")) == "");
  CHECK(check_nested(nested_wgmma(
            "graph g(q: f16[b, n, 3, 32], k: f16[b, n, 3, 32], v: f16[b, n, 3, 32]) {\n"
            "  h = scaled_dot_product_attention(transpose(q, [0, 2, 1, 3]),\n"
            "      transpose(k, [0, 2, 1, 3]), transpose(v, [0, 2, 1, 3]))\n"
            "  return transpose(h, [0, 2, 1, 3]) }",
            {{{"b", 2}, {"n", 140}}, {{"b", 1}, {"n", 1}}})) == "");
}

TEST_CASE("emulation: every operation that orders a computed operand by wgmma is needed") {
  // By one block: two heads of two tiles of rows, three steps each, through rings of two slots.
  const Case one = attention("f16", 130, 300, 32, 32);
  REQUIRE(schedules_of(one).find("nested wgmma f16 128x64x128") == 0);
  check_each(kBarrier, one, 1);
  check_each(kArrival, one, 20);
  check_each(kPhaseWait, one, 20);
  check_each(kProductWait, one, 20);
}
