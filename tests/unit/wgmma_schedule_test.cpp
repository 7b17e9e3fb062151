// SPDX-License-Identifier: Apache-2.0
// Which products of sm_90a are by wgmma, and which of them split K or have clusters.
#include "tests/unit/schedule_text.h"

#include "llvm/ADT/SmallVector.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using ingot::testing::schedules;

namespace {

/// The first variant of the first kernel for sm_90a.
std::string first(const std::string& spec, MatmulPrecision precision = MatmulPrecision::highest) {
  const std::string text = schedules(spec.c_str(), precision, "sm_90a");
  return llvm::StringRef(text).split('\n').first.str();
}

} // namespace

TEST_CASE("schedule: weights that are packed once count with the bytes of their packed form") {
  // 2 GB of scaled f16 instead of 4 GB of f32 in each launch, of which 128 rows use little.
  const std::string few = schedules("x: f32[128, 32768], param w: f32[32768, 32768]) {\n"
                                    "  return linear(x, w)",
                                    MatmulPrecision::high, "sm_90a");
  CHECK(llvm::StringRef(few).starts_with("wgmma f16x1"));
  // Packing them in the launch would move them three times. Copies round them instead.
  const std::string inputs = schedules("x: f32[128, 32768], w: f32[32768, 32768]) {\n"
                                       "  return linear(x, w)",
                                       MatmulPrecision::high, "sm_90a");
  CHECK(llvm::StringRef(inputs).starts_with("wgmma tf32"));
}

TEST_CASE("schedule: bulk copies read weights faster than threads do") {
  CHECK(llvm::StringRef(schedules("x: bf16[128, 32768], w: bf16[32768, 32768]) {\n"
                                  "  return linear(x, w)",
                                  MatmulPrecision::high, "sm_90a"))
            .starts_with("wgmma bf16"));
}

TEST_CASE("schedule: blocks share the K of few tiles by wgmma, in all variants alike") {
  const std::string text = schedules("x: bf16[512, 8192], w: bf16[1024, 8192]) {\n"
                                     "  return linear(x, w)",
                                     MatmulPrecision::highest, "sm_90a");
  CHECK(llvm::StringRef(text).starts_with("wgmma bf16 128x64x64"));
  // The last one takes tensors that no map describes.
  llvm::SmallVector<llvm::StringRef, 4> lines;
  llvm::StringRef(text).trim().split(lines, '\n');
  REQUIRE(lines.size() >= 2);
  CHECK(lines.back().starts_with("mma bf16 128x64"));
  for (llvm::StringRef line : lines) CHECK(line.contains("split-k at most 24"));
  // Too many tiles to share, and a contraction too short.
  for (const char* whole : {"x: bf16[2048, 8192], w: bf16[2048, 8192]) { return linear(x, w)",
                            "x: bf16[512, 1000], w: bf16[1024, 1000]) { return linear(x, w)"}) {
    const std::string taken = schedules(whole, MatmulPrecision::highest, "sm_90a");
    CHECK(llvm::StringRef(taken).split('\n').first.contains("mma bf16"));
    CHECK(taken.find("split-k") == std::string::npos);
  }
}

TEST_CASE("schedule: clusters share operands in large products whose warpgroups take turns") {
  // Blocks that have 62 tiles each drift apart, and then L2 serves fewer bytes a second.
  const char* const stages = "  return swish(linear(x, w))";
  const std::string large =
      first((std::string("x: bf16[32768, 1024], w: bf16[4096, 1024]) {\n") + stages).c_str());
  CHECK(llvm::StringRef(large).starts_with("wgmma bf16 128x128x64 step 128 warp 32x128"));
  CHECK(llvm::StringRef(large).contains("cluster 2"));
  const std::pair<const char*, const char*> others[] = {
      // Few tiles an SM, and few of each matrix.
      {"x: bf16[8192, 1024], w: bf16[4096, 1024]) { return swish(linear(x, w))",
       "wgmma bf16 128x128x64 step 128 warp 32x128"},
      {"x: bf16[16, 2048, 1024], w: bf16[16, 4096, 1024]) {\n"
       "  return swish(matmul(x, w, transpose_b=true))",
       "wgmma bf16 128x128x64 step 128 warp 32x128"},
      // Larger tiles pay.
      {"x: bf16[32768, 4096], w: bf16[4096, 4096]) { return swish(linear(x, w))",
       "wgmma bf16 128x256x64"},
      // No map describes the operands.
      {"x: bf16[32768, 1023], w: bf16[4096, 1023]) { return swish(linear(x, w))",
       "wgmma bf16 128x"},
  };
  for (const auto& [spec, schedule] : others) {
    CAPTURE(std::string(spec));
    const std::string taken = first(spec);
    CHECK(llvm::StringRef(taken).starts_with(schedule));
    CHECK(taken.find("cluster") == std::string::npos);
  }
}

TEST_CASE("schedule: a product packs its own A where that hides the packing") {
  const std::string linear = ") { return swish(linear(x, w))";
  const std::string many = "x: f32[32768, 1024], w: f32[4096, 1024]";
  for (MatmulPrecision precision : {MatmulPrecision::highest, MatmulPrecision::high}) {
    const std::string taken = first(many + linear, precision);
    CHECK(llvm::StringRef(taken).contains(" packs-a"));
  }
  const std::string others[] = {
      "x: f32[1024, 8192], w: f32[8192, 8192]",        // products wait for all rows
      "param x: f32[32768, 1024], w: f32[4096, 1024]", // packed once, ahead of launches
      "x: f32[m, 1024], w: f32[4096, 1024]",           // m may be small
      "x: f32[1024, 32768], w: f32[4096, 1024]",       // rows are not contiguous
  };
  for (const std::string& tensors : others) {
    CAPTURE(tensors);
    const bool is_turned = llvm::StringRef(tensors).contains("[1024, 32768]");
    const std::string taken =
        first(tensors + (is_turned ? ") { return swish(matmul(transpose(x, [1, 0]), w, "
                                     "transpose_b=true))"
                                   : linear),
              MatmulPrecision::highest);
    CHECK(llvm::StringRef(taken).starts_with("wgmma f16x3"));
    CHECK_FALSE(llvm::StringRef(taken).contains("packs-a"));
  }
}

TEST_CASE("schedule: a product of a matrix with itself does not pack its own A") {
  // A tile waits for its rows alone, and reads others as columns.
  for (const char* spec :
       {"x: f32[16384, 1024]) { return relu(linear(x, x))",
        "x: f32[8, 8192, 1024]) { return relu(matmul(x, x, transpose_b=true))"}) {
    const std::string taken = schedules(spec, MatmulPrecision::highest, "sm_90a");
    CHECK(taken.find("wgmma f16x3") != std::string::npos);
    CHECK(taken.find("packs-a") == std::string::npos);
  }
}

TEST_CASE("schedule: statistics of columns leave a long contraction its large tiles") {
  CompileOptions options;
  options.target = "sm_90a";
  auto graph = parse_graph("graph g(x: bf16[16384, 4096], w: bf16[4096, 4096], b: bf16[4096]) {\n"
                           "  h = linear(x, w, b)\n  return h, var(h, axis=0) }",
                           "test");
  const Compilation c = llvm::cantFail(compile_graph(llvm::cantFail(std::move(graph)), options));
  const Schedule& product = c.schedules.front().front();
  CHECK(is_wgmma(product.mainloop));
  CHECK(product.tile_n == 256);
}

TEST_CASE("schedule: tiles fill the SMs with products of few columns") {
  const auto linear = [](int m, int n, int k) {
    return fmt::format("x: bf16[{0}, {2}], w: bf16[{1}, {2}]) {{ return relu(linear(x, w))", m, n,
                       k);
  };
  // 128 tiles of 64x192 for 132 SMs, of which 96 of 128x128 leave 36 idle.
  CHECK(llvm::StringRef(first(linear(2048, 768, 3072))).starts_with("wgmma bf16 64x192x64"));
  CHECK(llvm::StringRef(first(linear(1024, 1024, 1024))).starts_with("wgmma bf16 128x64x64"));
  CHECK(llvm::StringRef(first(linear(256, 4096, 4096))).starts_with("wgmma bf16 128x64x64"));
}

TEST_CASE("schedule: products in bf16 thirds by wgmma where halves are not packed for less") {
  CHECK(llvm::StringRef(first("x: f32[65536, 1024], w: f32[16, 1024]) { return linear(x, w)"))
            .starts_with("wgmma bf16x3 128x64x32"));
  const std::string deep = first("x: f32[256, 262144], w: f32[256, 262144]) { return linear(x, w)");
  CHECK(llvm::StringRef(deep).starts_with("wgmma bf16x3 128x128x32"));
  CHECK(llvm::StringRef(deep).contains(" split-k at most 66"));
  // No map describes the operands, or a prologue computes them.
  for (const char* by_threads :
       {"x: f32[65536, 1022], w: f32[16, 1022]) { return linear(x, w)",
        "x: f32[65536, 1024], w: f32[16, 1024]) { return linear(relu(x), w)"})
    CHECK(llvm::StringRef(first(by_threads)).starts_with("mma bf16x3"));
  CHECK(llvm::StringRef(first("x: f32[4096, 4096], w: f32[4096, 4096]) { return linear(x, w)"))
            .starts_with("wgmma f16x3"));
  // No mainloop by wgmma splits the operands of a product that computes one.
  CHECK(
      llvm::StringRef(first("q: f32[64, 1024, 64], k: f32[64, 1024, 64], v: f32[64, 1024, 64]) {\n"
                            "  return scaled_dot_product_attention(q, k, v)"))
          .starts_with("nested mma bf16x3"));
}
