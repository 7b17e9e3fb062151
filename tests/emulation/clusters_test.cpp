// SPDX-License-Identifier: Apache-2.0
// Products by wgmma whose blocks are in clusters of two: they have adjacent row tiles, and each
// copies half of the columns of B to both.
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Tiles of a warpgroup each, in one product of 64 rows or in two.
constexpr Tile kTilesInTurns[] = {{64, 256, 16, 4}, {128, 128, 32, 4}};

Case clustered(const std::string& spec, const Tile& tile, std::vector<DimBindings> sizes = {{}}) {
  Case result = with_tile(wgmma(spec, std::move(sizes)), MatmulPrecision::highest, tile);
  result.choice.cluster = 2;
  return result;
}

bool has_cluster(const Case& one) {
  const std::string schedules = schedules_of(one);
  return schedules.find("wgmma ") == 0 && schedules.find(" cluster 2") != std::string::npos;
}

} // namespace

TEST_CASE("emulation: products by clusters of an even and an odd number of row tiles") {
  for (const Tile& tile : kTilesInTurns) {
    const Case cases[] = {
        // 1 to 5 tiles of 64 rows, some of them whole, and none.
        clustered("graph g(a: bf16[m, 328], param w: bf16[n, 328], b: bf16[n]) {\n"
                  "  return relu(linear(a, w, b)) }",
                  tile,
                  {{{"m", 320}, {"n", 264}},
                   {{"m", 129}, {"n", 256}},
                   {{"m", 129}, {"n", 130}},
                   {{"m", 128}, {"n", 8}},
                   {{"m", 3}, {"n", 5}},
                   {{"m", 0}, {"n", 8}},
                   {{"m", 8}, {"n", 0}}}),
        clustered("graph g(a: f16[384, 328], w: f16[328, 136]) { return matmul(a, w) }", tile),
        // Three or five row tiles in each matrix, and more of them than run side by side.
        clustered("graph g(a: bf16[3, 300, 72], w: bf16[3, 136, 72]) {\n"
                  "  return matmul(a, w, transpose_b=true) }",
                  tile),
        clustered("graph g(a: bf16[1100, 72], w: bf16[264, 72]) { return linear(a, w) }", tile),
        // A is packed.
        clustered("graph g(a: bf16[300, 77], w: bf16[77, 264]) { return matmul(a, w) }", tile),
        // Partial results of columns: a tile past the last row has none.
        clustered("graph g(a: bf16[320, 136], w: bf16[264, 136]) {\n"
                  "  h = matmul(a, w, transpose_b=true)\n"
                  "  return h - mean(h, axis=0, keepdim=true), sum(relu(h), axis=0) }",
                  tile),
        clustered("graph g(a: bf16[m, k], w: bf16[k, 256]) { return matmul(a, w) }", tile,
                  {{{"m", 320}, {"k", 0}}, {{"m", 320}, {"k", 8}}}),
    };
    for (const Case& one : cases) CHECK(has_cluster(one));
    CHECK(check_cases(cases) == "");
  }
}

TEST_CASE("emulation: a product in TF32 and a gated pair by clusters") {
  Case rounded = clustered("graph g(a: f32[320, 100], w: f32[264, 100], b: f32[264]) {\n"
                           "  return relu(linear(a, w, b)) }",
                           {128, 128, 32, 4});
  rounded.precision = MatmulPrecision::high;
  rounded.choice.tile_k = 32;
  const Case gated = clustered("graph g(x: bf16[200, 136], gate: bf16[136, 136],\n"
                               "        up: bf16[136, 136]) {\n"
                               "  return silu(linear(x, gate)) * linear(x, up) }",
                               {64, 128, 16, 4});
  CHECK(has_cluster(rounded));
  CHECK(has_cluster(gated));
  CHECK(check_cases({rounded, gated}) == "");
}

TEST_CASE("emulation: a pair of which one operand is packed has no clusters") {
  Case gated = with_tile(wgmma("graph g(x: bf16[200, 136], gate: bf16[136, 150],\n"
                               "        up: bf16[136, 136]) {\n"
                               "  return silu(linear(x, gate[:, 7:143])) * linear(x, up) }"),
                         MatmulPrecision::highest, {64, 128, 16, 4});
  REQUIRE(has_wgmma(gated, "bf16"));
  CHECK_FALSE(has_cluster(gated));
  CHECK(check_cases({gated}) == "");
  gated.choice.cluster = 2;
  CHECK(check_cases({gated}).find("no product of this kernel by wgmma has '") != std::string::npos);
}
