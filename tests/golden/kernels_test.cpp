// SPDX-License-Identifier: Apache-2.0
// The results of a graph for the card: its kernels as data and as CUDA, and the manifest that
// launches them, for a dozen graphs that between them use every source, skeleton and kind of stage.
#include "src/compiler.h"

#include "codegen/program/manifest.h"
#include "ir/text/parser.h"
#include "src/support/files.h"
#include "tests/support/golden.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

std::string chain(const std::string& file) {
  return llvm::cantFail(read_file(INGOT_SOURCE_DIR "/tests/chains/" + file + ".ingot"));
}

/// The same graph of bf16 tensors.
std::string in_bf16(std::string text) {
  for (size_t at = text.find("f32["); at != std::string::npos; at = text.find("f32[", at + 5))
    text.replace(at, 3, "bf16");
  return text;
}

void check_kernels(const std::string& name, const std::string& text,
                   const std::string& target = "sm_80") {
  CAPTURE(name);
  auto graph = parse_graph(text, name);
  if (!graph) FAIL(take_error(graph.takeError()).second);
  CompileOptions options;
  options.target = target;
  auto compilation = compile_graph(std::move(*graph), options);
  REQUIRE(bool(compilation));
  const Module& module = compilation->module;
  testing::check_golden("kernels/" + name + ".txt", text_of(compilation->kernels));
  testing::check_golden("kernels/" + name + ".cu", module_source(module));
  testing::check_golden("kernels/" + name + ".json", write_manifest(module, {}));
}

constexpr const char* kGatedPair = R"(graph gated(x: bf16[m, 2048], param gate: bf16[5632, 2048],
                                              param up: bf16[5632, 2048]) {
    return swish(linear(x, gate)) * linear(x, up)
  })";

} // namespace

TEST_CASE("kernels: products with a tail") {
  for (const char* file :
       {"94_gemm_biasadd_hardtanh_mish_groupnorm", "37_matmul_swish_sum_groupnorm",
        "22_matmul_scale_residualadd_clamp_logsumexp_mish", "99_matmul_gelu_softmax"}) {
    const std::string name = llvm::StringRef(file).split('_').first.str();
    check_kernels(name + "_f32", chain(file));
    check_kernels(name + "_bf16", in_bf16(chain(file)));
  }
  check_kernels("batch_norm", chain("39_gemm_scale_batchnorm"));
  check_kernels("batched_product", chain("3_batched_matrix_multiplication"));
  check_kernels("gated_pair", kGatedPair);
}

TEST_CASE("kernels: products by wgmma, of packed and of mapped operands") {
  const std::string tail = chain("94_gemm_biasadd_hardtanh_mish_groupnorm");
  check_kernels("94_f32_sm_90a", tail, "sm_90a");
  check_kernels("94_bf16_sm_90a", in_bf16(tail), "sm_90a");
  check_kernels("37_bf16_sm_90a", in_bf16(chain("37_matmul_swish_sum_groupnorm")), "sm_90a");
  check_kernels("batched_product_sm_90a", in_bf16(chain("3_batched_matrix_multiplication")),
                "sm_90a");
  check_kernels("gated_pair_sm_90a", kGatedPair, "sm_90a");
  // A slice begins behind the tensor's pointer, and rows of 4100 elements are packed.
  check_kernels("packed_and_sliced_sm_90a", R"(graph mixed(x: bf16[4096, 4100],
                                                            w: bf16[2, 4100, 4096]) {
    return matmul(x, w[1])
  })",
                "sm_90a");
}

TEST_CASE("kernels: rows") {
  check_kernels("softmax", chain("23_softmax"));
  check_kernels("softmax_sm_90a", chain("23_softmax"), "sm_90a");
  check_kernels("layer_norm", R"(graph norm(x: f16[m, 4096], gamma: f16[4096], beta: f16[4096]) {
    return layer_norm(x, gamma, beta)
  })");
  check_kernels("cumsum", R"(graph energy(x: f32[16384, 8192]) {
    return cumsum(x * x, dim=1)
  })");
  check_kernels("gather", R"(graph embedding(ids: i64[m, 128], param table: bf16[50257, 768],
                                              param position: bf16[128, 768]) {
    return embedding(ids, table) + position
  })");
  check_kernels("concat", R"(graph append(past: f16[b, n, 64], x: f16[b, 1, 64]) {
    return cat([past, x * 0.5], dim=1)
  })");
}
