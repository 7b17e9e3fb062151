// SPDX-License-Identifier: Apache-2.0
// Kernels of which blocks share the tiles keep everything in registers: of one product and of two,
// in tiles of 64 and of 128 rows, with every compute type, for sm_80 and sm_90. Named extents take
// the most registers.
#include "tests/toolchain/local_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;
using P = MatmulPrecision;

namespace {

struct Type {
  const char* element;
  P precision;
  const char* schedule; ///< how the schedules of products begin
};

/// Few tiles and a long contraction; T stands for the type.
constexpr const char* kSpecs[] = {
    "graph low(x: T[40, 4096], w: T[320, 4096]) { return linear(x, w) }",
    "graph high(x: T[200, 4096], w: T[320, 4096]) { return linear(x, w) }",
    "graph rows(x: T[m, k], w: T[320, k], b: T[320]) { return softmax(gelu(linear(x, w, b))) }",
    "graph low_pair(x: T[40, 4096], w: T[320, 4096], v: T[320, 4096]) {\n"
    "  return swish(linear(x, w)) * linear(x, v) }",
    "graph pair(x: T[m, k], w: T[320, k], v: T[320, k]) {\n"
    "  return swish(linear(x, w)) * linear(x, v) }",
};

/// Compiles the kernels of the type: those with products are divided, and none uses local memory.
void check_type(const Type& type) {
  for (const auto& [device, arch] : {std::pair("a100", "sm_80"), {"h200", "sm_90"}}) {
    Sources sources;
    int of_type = 0;
    for (const std::string text : kSpecs) {
      CAPTURE(text);
      std::string spec;
      for (char c : text) spec += c == 'T' ? std::string(type.element) : std::string(1, c);
      int divided = 0;
      for (const KernelVariant& variant : sources.add(spec, "spec", type.precision, device)) {
        const llvm::StringRef schedule = variant.schedule;
        CAPTURE(variant.schedule);
        const bool multiplies = schedule.starts_with("mma ") || schedule.starts_with("simt ");
        CHECK(schedule.contains(" split-k at most ") == multiplies);
        // Blocks that share a tile count their arrivals.
        const bool counts = llvm::any_of(variant.arguments, [](const Argument& argument) {
          return argument.kind == ArgumentKind::state;
        });
        CHECK(counts == multiplies);
        if (multiplies) {
          // A large enough product is computed from halves.
          const bool halves = type.precision == P::highest && schedule.starts_with("mma f16x3 ");
          CHECK((halves || schedule.starts_with(type.schedule)));
          of_type += schedule.starts_with(type.schedule);
        }
        divided += multiplies;
      }
      CHECK(divided >= 2); // the fast variant and the general one
    }
    CHECK(of_type > 0);
    check_local_memory(sources, arch);
  }
}

/// Few tiles and a contraction that is long enough for wgmma.
constexpr const char* kWgmmaSpecs[] = {
    "graph tiles(x: T[512, 8192], w: T[1024, 8192]) { return linear(x, w) }",
    "graph rows(x: T[512, 16384], w: T[1024, 16384], b: T[1024]) {\n"
    "  return softmax(gelu(linear(x, w, b))) }",
    "graph batch(x: T[7, 300, 2048], w: T[7, 320, 2048]) {\n"
    "  return gelu(matmul(x, w, transpose_b=true)) }",
};

/// The same of products by wgmma, in tiles that both warpgroups share.
void check_wgmma(const char* element, P precision, int divided_least) {
  Sources sources;
  int divided = 0;
  for (const std::string text : kWgmmaSpecs) {
    std::string spec;
    for (char c : text) spec += c == 'T' ? std::string(element) : std::string(1, c);
    for (const KernelVariant& variant : sources.add(spec, "spec", precision, "h200", "sm_90a")) {
      const llvm::StringRef schedule = variant.schedule;
      divided += schedule.starts_with("wgmma ") && schedule.contains(" split-k at most ");
    }
  }
  CHECK(divided >= divided_least);
  check_local_memory(sources, "sm_90a");
}

} // namespace

TEST_CASE("split-k: kernels by wgmma use no local memory") {
  check_wgmma("f16", P::highest, 2);
  check_wgmma("bf16", P::highest, 2);
  check_wgmma("f32", P::highest, 2);
  check_wgmma("f32", P::high, 1);
}

TEST_CASE("split-k: kernels of f16 use no local memory") {
  check_type({"f16", P::highest, "mma f16 "});
}

TEST_CASE("split-k: kernels of bf16 use no local memory") {
  check_type({"bf16", P::highest, "mma bf16 "});
}

TEST_CASE("split-k: kernels in precision high use no local memory") {
  check_type({"f32", P::high, "mma tf32 "});
}

TEST_CASE("split-k: kernels in precision medium use no local memory") {
  check_type({"f32", P::medium, "mma bf16 "});
}

TEST_CASE("split-k: kernels in precision highest use no local memory") {
  check_type({"f32", P::highest, "mma bf16x3 "});
}

TEST_CASE("split-k: kernels in precision pedantic use no local memory") {
  check_type({"f32", P::pedantic, "simt f32 "});
}
