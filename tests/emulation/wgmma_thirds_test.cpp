// SPDX-License-Identifier: Apache-2.0
// f32 products of bf16 thirds by wgmma: within 2^-20 (|A||B|), over every layout of the operands,
// and sums that are not finite.
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr Tile kTilesOfThirds[] = {{128, 128, 16, 2}, {128, 64, 16, 4}};

void check(llvm::ArrayRef<Case> cases) {
  for (const Case& one : cases) {
    CAPTURE(one.spec);
    CHECK(has_wgmma(one, "bf16x3"));
    CHECK(check_cases({one}) == "");
  }
}

} // namespace

TEST_CASE("emulation: f32 products of thirds by wgmma, however the operands lie") {
  for (const Tile& tile : kTilesOfThirds) {
    CAPTURE(tile.n);
    const auto of = [&](const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
      return thirds_by_wgmma(spec, tile, std::move(sizes));
    };
    check({
        of("graph g(a: f32[167, 76], b: f32[132, 76]) { return matmul(a, b, transpose_b=true) }"),
        of("graph g(a: f32[84, 132], b: f32[84, 72]) { return matmul(a, b, transpose_a=true) }"),
        of("graph g(a: f32[68, 260], b: f32[300, 68]) {\n"
           "  return matmul(a, b, transpose_a=true, transpose_b=true) }"),
        of("graph g(a: f32[3, 65, 60], b: f32[60, 68]) { return matmul(a, b) }"),
        of("graph g(a: f32[3, 65, 60], b: f32[3, 60, 132]) { return matmul(a, b) }"),
        of("graph g(a: f32[m, 40], b: f32[40, 132]) { return matmul(a, b) }",
           {{{"m", 1}}, {{"m", 129}}, {{"m", 0}}}),
        of("graph g(a: f32[m, 100], b: f32[n, 100]) { return matmul(a, b, transpose_b=true) }",
           {{{"m", 300}, {"n", 7}},
            {{"m", 5}, {"n", 200}},
            {{"m", 4}, {"n", 130}},
            {{"m", 4}, {"n", 0}}}),
        of("graph g(a: f32[k, 68], b: f32[k, 132]) { return matmul(a, b, transpose_a=true) }",
           {{{"k", 0}}, {{"k", 1}}, {{"k", 33}}, {{"k", 128}}}),
    });
  }
}

TEST_CASE("emulation: stages behind f32 products of thirds by wgmma") {
  for (const Tile& tile : kTilesOfThirds) {
    CAPTURE(tile.n);
    const auto of = [&](int m, int n, int k, const std::string& body) {
      return thirds_by_wgmma(
          fmt::format("graph g(a: f32[{0}, {2}], b: f32[{2}, {1}], c: f32[{1}]) {{\n"
                      "  return {3} }}",
                      m, n, k, body),
          tile);
    };
    check({of(200, 128, 60, "group_norm(silu(matmul(a, b) + c), groups=4)"),
           of(70, 64, 100, "softmax(matmul(a, b) * c)"), of(130, 300, 60, "gelu(matmul(a, b))")});
  }
  // Reductions that cross tiles: tensors that no map describes are cut alike.
  check({thirds_by_wgmma("graph g(a: f32[140, 60], b: f32[60, 320]) {\n"
                         "  h = matmul(a, b)\n  return h, sum(h, axis=0), layer_norm(h) }",
                         kTilesOfThirds[1])});
}

TEST_CASE("emulation: long sums of thirds by wgmma move to totals, and blocks share k") {
  for (const Tile& tile : kTilesOfThirds) {
    CAPTURE(tile.n);
    Case whole = thirds_by_wgmma(
        "graph g(a: f32[300, 4200], b: f32[4200, 64]) { return matmul(a, b) }", tile);
    whole.choice.split_k = 1;
    check({whole});
  }
  const Case shared = thirds_by_wgmma("graph g(a: f32[130, 4200], b: f32[4200, 64]) {\n"
                                      "  return relu(matmul(a, b)) }",
                                      kTilesOfThirds[1]);
  CHECK(is_split(shared));
  check({shared});
}

TEST_CASE("emulation: sums of thirds by wgmma that are not finite") {
  for (const Tile& tile : kTilesOfThirds) {
    CAPTURE(tile.n);
    Case non_finite = thirds_by_wgmma("graph g(a: f32[70, 100], b: f32[132, 100]) {\n"
                                      "  return matmul(a, b, transpose_b=true) }",
                                      tile);
    non_finite.non_finite = true;
    check({non_finite});
  }
}
