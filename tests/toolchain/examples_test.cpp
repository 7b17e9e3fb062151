// SPDX-License-Identifier: Apache-2.0
// The kernels of the examples compile to machine code that uses no local memory. Covered: every
// example in every precision for sm_80, but `pedantic`, whose kernels share their form with those
// of `highest`, for one matmul only; for sm_90 one example per precision. Equal kernels once.
#include "tests/toolchain/local_memory.h"

#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;
using P = MatmulPrecision;

namespace {

const char* const k22 = "22_matmul_scale_residualadd_clamp_logsumexp_mish";
const char* const k37 = "37_matmul_swish_sum_groupnorm";
const char* const k94 = "94_gemm_biasadd_hardtanh_mish_groupnorm";
const char* const k99 = "99_matmul_gelu_softmax";
const char* const kProjection = "normalized_projection";

void add(Sources& sources, const std::string& example, P precision, const std::string& device,
         const std::string& target = "sm_80") {
  const std::string path = std::string(INGOT_SOURCE_DIR) + "/examples/" + example + ".ingot";
  auto file = llvm::MemoryBuffer::getFile(path);
  REQUIRE(bool(file));
  sources.add((*file)->getBuffer(), path, precision, device, target);
}

} // namespace

TEST_CASE("examples: no kernel in full precision uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99, kProjection, "94_half", "cumsum", "elementwise",
                              "layer_norm", "softmax", "swiglu", "attention"})
    add(sources, example, P::highest, "a100");
  add(sources, k37, P::pedantic, "a100");
  check_local_memory(sources, "sm_80");
}

TEST_CASE("examples: no kernel in reduced precision uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99})
    for (P precision : {P::high, P::medium}) add(sources, example, precision, "a100");
  check_local_memory(sources, "sm_80");
}

TEST_CASE("examples: no kernel for sm_90a uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99, kProjection})
    add(sources, example, P::highest, "h200", "sm_90a");
  sources.add("graph g(x: f32[1000, 1000], w: f32[8191, 1000]) { return linear(x, w) }",
              "odd extents", P::highest, "h200", "sm_90a");
  check_local_memory(sources, "sm_90a");
}

TEST_CASE("examples: no kernel of one product for sm_90a uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99})
    for (P precision : {P::high, P::medium}) add(sources, example, precision, "h200", "sm_90a");
  for (const char* example : {"94_half", "swiglu"})
    add(sources, example, P::highest, "h200", "sm_90a");
  // Statistics of columns, and of operands that lie transposed, with named sizes.
  sources.add("graph g(x: bf16[k, m], w: bf16[k, 4096]) {\n"
              "  h = matmul(x, w, transpose_a=true)\n"
              "  return h - mean(h, axis=0, keepdim=true) }",
              "columns", P::highest, "h200", "sm_90a");
  check_local_memory(sources, "sm_90a");
}

TEST_CASE("examples: no product in TF32 that copies round uses local memory") {
  Sources sources;
  const auto add_rounded = [&](const char* spec) {
    const auto variants = sources.add(spec, spec, P::high, "h200", "sm_90a");
    CHECK(llvm::StringRef(variants.front().schedule).starts_with("wgmma tf32"));
  };
  add_rounded("graph g(a: f32[16384, 1024], w: f32[512, 1024], c: f32[512]) {\n"
              "  return gelu(linear(a, w, c)) }");
  // Swapped products, of an odd number of slots.
  add_rounded("graph g(a: f32[16384, 1056], w: f32[1056, 512], c: f32[512]) {\n"
              "  return gelu(matmul(a, w) + c) }");
  add_rounded("graph g(a: f32[64, m, 1056], w: f32[64, 1056, 512]) { return relu(matmul(a, w)) }");
  // Half as many columns as the other tiles have.
  add_rounded("graph g(a: f32[8192, 2048], w: f32[64, 2048]) { return gelu(linear(a, w)) }");
  check_local_memory(sources, "sm_90a");
}

TEST_CASE("examples: no kernel for sm_90 uses local memory") {
  Sources sources;
  add(sources, k22, P::medium, "h200");
  add(sources, k94, P::high, "h200");
  add(sources, k99, P::highest, "h200");
  add(sources, kProjection, P::high, "h200");
  add(sources, "swiglu", P::highest, "h200");
  add(sources, "94_half", P::highest, "h200");
  check_local_memory(sources, "sm_90");
}
