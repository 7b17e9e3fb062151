// SPDX-License-Identifier: Apache-2.0
// Kernels whose schedules count on the registers that their stages take keep everything in them:
// rows of lanes with many warps or several rows each, rows that are read once, large warps with
// reductions behind the product, moments of columns behind wgmma, halves of few rows, and products
// of bf16 thirds.
#include "tests/toolchain/local_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

/// "NAMEi: TYPE, ..." of `count` inputs.
std::string inputs(const char* name, const char* type, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}{}: {}", i > 0 ? ", " : "", name, i, type);
  return text;
}

/// "NAME0 + NAME1 + ..."
std::string sum(const char* name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i > 0 ? " + " : "", name, i);
  return text;
}

using Specs = llvm::ArrayRef<std::pair<const char*, const char*>>;

/// Adds the sources of the specs, each of which has a variant of such a schedule.
void add_specs(Sources& sources, Specs specs, MatmulPrecision precision, const char* device,
               const char* target, const LeastProducts& least_products = {}) {
  for (const auto& [spec, schedule] : specs) {
    CAPTURE(std::string(spec));
    const auto variants = sources.add(spec, spec, precision, device, target, least_products);
    CHECK(llvm::any_of(variants, [&, part = llvm::StringRef(schedule)](const auto& variant) {
      return llvm::StringRef(variant.schedule).contains(part);
    }));
  }
}

/// Compiles the specs by the schedules of sm_80 for both cards.
void check_stages(Specs specs, MatmulPrecision precision = MatmulPrecision::high,
                  const LeastProducts& least_products = {}) {
  for (const auto& [device, arch] : {std::pair("a100", "sm_80"), {"h200", "sm_90"}}) {
    Sources sources;
    add_specs(sources, specs, precision, device, "sm_80", least_products);
    check_local_memory(sources, arch);
  }
}

/// Compiles the specs for sm_90a.
void check_hopper(MatmulPrecision precision, Specs specs) {
  Sources sources;
  add_specs(sources, specs, precision, "h200", "sm_90a");
  check_local_memory(sources, "sm_90a");
}

} // namespace

TEST_CASE("stages: products that compute their operand need no local memory") {
  check_stages({
      {"graph a(q: f16[64, 2048, 64], k: f16[64, 2048, 64], v: f16[64, 2048, 64]) {\n"
       "  return scaled_dot_product_attention(q, k, v, is_causal=true) }",
       "nested mma f16 128x64x128"},
      {"graph b(q: bf16[32, 4096, 128], k: bf16[32, 4096, 128], v: bf16[32, 4096, 128]) {\n"
       "  return scaled_dot_product_attention(q, k, v) }",
       "nested mma bf16 128x128x64"},
      {"graph c(q: bf16[32, 2048, 128], k: bf16[32, 2048, 128], v: bf16[32, 2048, 128],\n"
       "        m: bool[2048, 2048]) {\n"
       "  s = where(m, matmul(q, k, transpose_b=true) * 0.1, -inf)\n"
       "  return matmul(softmax(s), v) }",
       "nested mma bf16 128x128x64"},
      {"graph d(q: bf16[b, n, 128], k: bf16[b, m, 128], v: bf16[b, m, 128]) {\n"
       "  return scaled_dot_product_attention(q, k, v) }",
       "nested mma bf16 64x128x64"},
      {"graph e(q: f16[64, 2047, 64], k: f16[64, 2047, 64], v: f16[64, 2047, 64],\n"
       "        b: f16[2047, 2047]) {\n"
       "  return matmul(softmax(tanh(matmul(q, k, transpose_b=true) + b) * 20.0), v) }",
       "nested mma f16 128x64x64"},
      {"graph f(x: f16[1048576, 64], a: f16[64, 64], b: f16[64, 64], c: f16[64]) {\n"
       "  return relu(matmul(relu(matmul(x, a) + c), b) + c) }",
       "resident mma f16 128x64x64"},
      {"graph g(x: bf16[1048576, 32], a: bf16[32, 64], b: bf16[64, 256]) {\n"
       "  return matmul(matmul(x, a), b) }",
       "resident mma bf16 128x256x64"},
      {"graph h(q: bf16[16, 300, 256], k: bf16[16, 300, 256], v: bf16[16, 300, 256]) {\n"
       "  return scaled_dot_product_attention(q, k, v) }",
       "nested mma bf16 64x256x64"},
      {"graph i(q: f16[64, 1024, 64], k: f16[64, 1024, 64], v: f16[64, 1024, 64],\n"
       "        m: bool[1024, 1024]) {\n"
       "  return scaled_dot_product_attention(q, k, v, attn_mask=m) }",
       "nested mma f16 128x64x64"},
      {"graph j(q: bf16[64, 1024, 128], k: bf16[64, 1024, 128], v: bf16[64, 1024, 128],\n"
       "        b: bf16[128], m: bf16[1024, 1024]) {\n"
       "  s = cast(matmul(gelu(q + b), k, transpose_b=true) * 0.1 + m, f32)\n"
       "  return matmul(cast(softmax(s), bf16), v), logsumexp(s, dim=2) }",
       "nested mma bf16 64x128x64"},
  });
}

TEST_CASE("stages: products by wgmma that compute their operand need no local memory") {
  check_hopper(
      MatmulPrecision::high,
      {
          {"graph a(q: f16[64, 2048, 64], k: f16[64, 2048, 64], v: f16[64, 2048, 64]) {\n"
           "  return scaled_dot_product_attention(q, k, v, is_causal=true) }",
           "nested wgmma f16 192x64x128"},
          {"graph b(q: bf16[2, n, 16, 128], k: bf16[2, n, 4, 128], v: bf16[2, n, 4, 128]) {\n"
           "  h = scaled_dot_product_attention(transpose(q, 1, 2), transpose(k, 1, 2),\n"
           "                                   transpose(v, 1, 2), is_causal=true, "
           "enable_gqa=true)\n"
           "  return transpose(h, 1, 2) }",
           "nested wgmma bf16 128x128x128"},
          {"graph c(q: bf16[32, 1024, 80], k: bf16[32, 1024, 80], v: bf16[32, 1024, 96],\n"
           "        m: bool[1024, 1024]) {\n"
           "  s = where(m, matmul(q, k, transpose_b=true) * 0.1, -inf)\n"
           "  return matmul(softmax(s), v) }",
           "nested wgmma bf16 128x128x64"},
          {"graph d(q: bf16[16, 4096, 256], k: bf16[16, 4096, 256], v: bf16[16, 4096, 256]) {\n"
           "  return scaled_dot_product_attention(q, k, v) }",
           "nested wgmma bf16 128x256x64"},
          {"graph e(x: bf16[65536, 256], a: bf16[256, 64], b: bf16[64, 256], c: bf16[256]) {\n"
           "  return layer_norm(matmul(relu(matmul(x, a)), b) + c) }",
           "resident wgmma bf16 128x256x64"},
          {"graph f(x: f16[1048576, 64], a: f16[64, 64], b: f16[64, 64], c: f16[64]) {\n"
           "  h = relu(matmul(x, a) + c)\n  h = relu(matmul(h, b) + c)\n"
           "  return relu(matmul(h, a) + c) }",
           "resident wgmma f16 192x64x64"},
      });
}

TEST_CASE("stages: products of bf16 thirds by wgmma need no local memory") {
  check_hopper(MatmulPrecision::highest,
               {
                   {"graph a(x: f32[256, 262144], w: f32[262144, 256]) { return matmul(x, w) }",
                    "wgmma bf16x3 128x128x32"},
                   {"graph b(x: f32[512, 32768], w: f32[512, 60], b: f32[60]) {\n"
                    "  return softmax(gelu(matmul(x, w, transpose_a=true) + b)) }",
                    "wgmma bf16x3 128x64x32"},
                   {"graph c(x: f32[m, 512], w: f32[64, 512]) {\n"
                    "  h = linear(x, w)\n  return h, mean(h, axis=0) }",
                    "wgmma bf16x3 128x64x32"},
               });
}

TEST_CASE("stages: products in tiles of 192 columns need no local memory") {
  check_hopper(MatmulPrecision::highest,
               {
                   {"graph a(x: bf16[2048, 3072], w: bf16[768, 3072], r: bf16[2048, 768]) {\n"
                    "  h = linear(x, w) + r\n  return h, layer_norm(h) }",
                    "wgmma bf16 64x192x64"},
               });
  check_hopper(MatmulPrecision::high,
               {
                   {"graph a(x: f32[2048, 768], param w: f32[2304, 768], b: f32[2304]) {\n"
                    "  return linear(x, w, b) }",
                    "wgmma f16x1 64x192x64"},
                   {"graph b(x: f32[2048, 3072], w: f32[768, 3072]) { return gelu(linear(x, w)) }",
                    "wgmma tf32 64x192x32"},
               });
}

TEST_CASE("stages: lanes with two rows each, or with many warps, need no local memory") {
  check_stages({
      {"graph a(x: bf16[16384, 8192]) { return sum(x, axis=0) }", "streamed 64x512 threads 512"},
      {"graph b(x: f16[100, 16384]) { return var(x, axis=0) }", "held 64x"},
      {"graph c(x: bool[4000, 16384]) { return sum(cast(x, i32), axis=0) }", "streamed 64x512"},
      {"graph d(x: bf16[4000, 16384]) { return logsumexp(gelu(x), axis=0) }", "along-rows"},
      {"graph e(x: f32[16384, 4096]) { return sum(x, axis=0) }", "streamed 32x512 threads 1024"},
      {"graph f(x: f32[4000, 4160]) { return var(x, axis=0) }", "threads 1024"},
      {"graph g(m: bool[32, 1024, 512], x: bf16[32, 1024, 512]) {\n"
       "  return softmax(where(m, x, -1e9), axis=1) }",
       "along-rows"},
      {"graph h(x: bf16[4000, 16384], z: bf16[4000, 16384]) {\n"
       "  a = cast(x, f32) * cast(z, f32)\n"
       "  d = tanh(a - mean(a, axis=0, keepdim=true))\n"
       "  s = sum(d * d, axis=0, keepdim=true)\n"
       "  return d * rsqrt(s) + cast(x, f32) * s }",
       "along-rows"},
  });
}

TEST_CASE("stages: rows of many operands need no local memory") {
  std::vector<std::string> specs;
  for (const int count : {9, 12, 16, 32, 100})
    for (const char* type : {"bf16[m, 32]", "f32[m, 1001]"})
      specs.push_back(
          fmt::format("graph a({}) {{ return {} }}", inputs("x", type, count), sum("x", count)));
  specs.push_back(fmt::format("graph b({}) {{ return layer_norm({}) }}",
                              inputs("x", "f32[m, 1024]", 16), sum("x", 16)));
  specs.push_back(fmt::format("graph c(x: f32[m, 1024], {}) {{ return softmax(x + {}, axis=1) }}",
                              inputs("b", "f32[1024]", 24), sum("b", 24)));
  std::string scaled;
  for (int i = 0; i < 24; ++i) scaled += fmt::format("{}y * {}.5", i > 0 ? ", " : "", i + 1);
  specs.push_back(
      fmt::format("graph d(x: f32[m, 1024]) {{ y = softmax(x, axis=1)\n return {} }}", scaled));
  std::vector<std::pair<const char*, const char*>> rows;
  for (const std::string& spec : specs) rows.emplace_back(spec.c_str(), "held");
  check_stages(rows);
}

TEST_CASE("stages: rows that are read once need no local memory") {
  check_stages({
      {"graph a(x: bf16[16384, 8192]) { return logsumexp(x, axis=1) }", "per-row 64"},
      {"graph b(x: f32[16384, 8191]) { return var(gelu(x), axis=1) }", "per-row 64"},
  });
}

TEST_CASE("stages: reductions behind products of large warps need no local memory") {
  check_stages({
      {"graph a(x: bf16[4096, 4096], param w: bf16[4096, 4096], b: bf16[4096]) {\n"
       "  h = mish(gelu(linear(x, w, b)))\n"
       "  return h, var(h, axis=0) }",
       "warp 64x64"},
      {"graph b(x: f32[4096, 4096], param w: f32[4096, 4096], b: f32[4096]) {\n"
       "  h = linear(x, w, b)\n"
       "  return h, var(h, axis=0), logsumexp(h, axis=1) }",
       "warp 64x64"},
      {"graph c(x: bf16[4096, 4096], param w: bf16[4096, 4096], b: bf16[4096]) {\n"
       "  return reduce_min(group_norm(linear(x, w, b), groups=128), axis=1) }",
       "warp 64x64"},
      {"graph d(x: f32[4096, 4096], param w: f32[4096, 4096], b: f32[4096]) {\n"
       "  h = gelu(linear(x, w, b))\n"
       "  return h, mish(h) }",
       "warp 64x64"},
  });
}

TEST_CASE("stages: halves of few rows, of two blocks an SM or of one, need no local memory") {
  const char* const tile = "f16x3 64x64x32";
  check_stages({{"graph a(x: f32[33, 4096], param w: f32[2048, 4096], b: f32[2048]) {\n"
                 "  return mean(group_norm(linear(x, w, b), groups=16), axis=1) }",
                 "f16x3 64x128x32"},
                {"graph d(x: f32[33, 65536], param w: f32[512, 65536], r: f32[33, 512],\n"
                 "        s: f32[33, 512], t: f32[33, 512], g: f32[512], c: f32[512]) {\n"
                 "  h = mish(linear(x, w, c)) + r\n"
                 "  y = group_norm(h, g, c, groups=8)\n"
                 "  z = gelu(y * s) + t\n"
                 "  q = group_norm(z * h + y, g, c, groups=16)\n"
                 "  return z + h * q, y - q, h }",
                 tile},
                {"graph b(x: f32[33, 4096], param w: f32[2048, 4096], r: f32[33, 2048]) {\n"
                 "  return gelu(linear(relu(x), w)) + r }",
                 tile},
                {"graph c(x: f32[33, 4096], param w: f32[2048, 4096], b: f32[2048]) {\n"
                 "  return group_norm(mish(linear(x, w, b)), groups=32) }",
                 tile}},
               MatmulPrecision::highest, {.thirds = INT64_MAX});
}

TEST_CASE("stages: products of bf16 thirds need no local memory") {
  const char* const wide = "bf16x3 64x128x32";
  check_stages({{"graph a(x: f32[4096, 255], w: f32[4096, 255], b: f32[4096]) {\n"
                 "  h = gelu(linear(x, w, b))\n"
                 "  return h, var(h, axis=0) }",
                 wide},
                {"graph b(x: f32[m, 200], w: f32[200, n], b: f32[n]) {\n"
                 "  return softmax(gelu(matmul(sigmoid(x), w) + b)) }",
                 wide},
                {"graph c(x: f32[64, 200, 250], y: f32[64, 250, 300], r: f32[64, 200, 300]) {\n"
                 "  h = matmul(x, y) + r\n"
                 "  return h, logsumexp(h, axis=2), mish(h) }",
                 wide},
                {"graph d(x: f32[100, 4096], w: f32[4096, 700], v: f32[4096, 700]) {\n"
                 "  return swish(matmul(x, w)) * matmul(x, v) }",
                 "bf16x3 64x64x32"},
                {"graph e(x: f32[16384, 64], w: f32[3200, 64]) {\n"
                 "  return group_norm(linear(x, w), groups=32) }",
                 wide},
                {"graph f(x: f32[65536, 4096], w: f32[50, 4096], b: f32[50]) {\n"
                 "  return softmax(linear(x, w, b)) }",
                 "bf16x3 128x64x32"},
                {"graph g(x: f32[8, 4096], w: f32[4096, 50000], b: f32[50000]) {\n"
                 "  h = matmul(gelu(x), w) + b\n  return h, mish(h) }",
                 "bf16x3 32x256x32"},
                {"graph h(x: f32[32, 4097], w: f32[4000, 4097], b: f32[4000]) {\n"
                 "  return group_norm(linear(x, w, b), groups=40) }",
                 "bf16x3 32x128x32"}},
               MatmulPrecision::highest);
}

TEST_CASE("stages: moments of columns behind wgmma need no local memory") {
  for (const auto& [type, precision] : {std::pair("bf16", MatmulPrecision::highest),
                                        {"f32", MatmulPrecision::high},
                                        {"f32", MatmulPrecision::highest}}) {
    Sources sources;
    const std::string spec =
        fmt::format("graph a(x: {0}[16384, 4096], param w: {0}[4096, 4096], b: {0}[4096]) {{\n"
                    "  h = linear(x, w, b) * 0.5\n"
                    "  return h, var(h, axis=0) }}",
                    type);
    const auto variants = sources.add(spec, spec, precision, "h200", "sm_90a");
    CHECK(llvm::any_of(variants, [](const KernelVariant& variant) {
      return llvm::StringRef(variant.schedule).starts_with("wgmma");
    }));
    check_local_memory(sources, "sm_90a");
  }
}

TEST_CASE("stages: products by clusters need no local memory") {
  Sources sources;
  for (const char* spec : {
           "graph a(x: bf16[32768, 1024], w: bf16[4096, 1024], b: bf16[4096]) {\n"
           "  return group_norm(swish(linear(x, w)) + b, groups=64) }",
           "graph b(x: f16[m, 1024], w: f16[1024, 16384]) { return gelu(matmul(x, w)) }",
       }) {
    CAPTURE(std::string(spec));
    const auto variants = sources.add(spec, spec, MatmulPrecision::highest, "h200", "sm_90a");
    CHECK(llvm::StringRef(variants.front().schedule).contains("cluster 2"));
  }
  check_local_memory(sources, "sm_90a");
}

TEST_CASE("stages: rows in the shared memory of a cluster need no local memory") {
  Sources sources;
  for (const char* spec : {
           "graph a(x: f32[4096, 393216]) { return softmax(x) }",
           "graph b(x: bf16[4096, 131072], y: bf16[4096, 131072], w: bf16[131072]) {\n"
           "  return layer_norm(gelu(x) + y, w) }",
           "graph c(x: f32[2048, 65536]) { return mish(x - mean(x, axis=1, keepdim=true)),\n"
           "  argmax(x, axis=1), logsumexp(x, axis=1) }",
       }) {
    CAPTURE(std::string(spec));
    const auto variants = sources.add(spec, spec, MatmulPrecision::highest, "h200", "sm_90a");
    CHECK(llvm::StringRef(variants.front().schedule).contains("cluster"));
  }
  check_local_memory(sources, "sm_90a");
}
