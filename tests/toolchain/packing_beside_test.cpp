// SPDX-License-Identifier: Apache-2.0
// Products by wgmma that pack their own A: the warps that pack and those that multiply have
// registers enough.
#include "tests/toolchain/local_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

TEST_CASE("local memory: products that pack their own A have none") {
  using P = MatmulPrecision;
  struct {
    const char* spec;
    P precision;
  } const cases[] = {
      {"graph g(x: f32[32768, 1024], w: f32[4096, 1024], b: f32[4096], c: f32[4096]) {\n"
       "  return group_norm(swish(linear(x, w, b)), c, b, groups=64) }",
       P::highest},
      {"graph g(x: f32[32768, 1024], w: f32[4096, 1024], b: f32[4096], c: f32[4096]) {\n"
       "  return group_norm(swish(linear(x, w, b)), c, b, groups=64) }",
       P::high},
      {"graph g(x: f32[16384, 4096], w: f32[4096, 4096]) {\n"
       "  h = linear(x, w)\n  return h, var(h, axis=0) }",
       P::highest},
      {"graph g(x: f32[32768, 1028], w: f32[1028, 4096], s: f32[1028]) {\n"
       "  return gelu(matmul(relu(x) * s, w)) }",
       P::highest},
      {"graph g(x: f32[32768, 512], w: f32[4096, 512], b: f32[4096]) {\n"
       "  return gelu(linear(x, w, b)) }",
       P::high},
      {"graph g(x: f32[64, 2048, 264], w: f32[64, 264, 4096]) { return matmul(x, w) }", P::highest},
  };
  Sources sources;
  for (const auto& [spec, precision] : cases) {
    const auto variants = sources.add(spec, spec, precision, "h200", "sm_90a");
    const bool packs = llvm::any_of(variants, [](const KernelVariant& variant) {
      return llvm::StringRef(variant.schedule).contains(" packs-a");
    });
    CHECK_MESSAGE(packs, std::string(spec));
  }
  check_local_memory(sources, "sm_90a");
}
