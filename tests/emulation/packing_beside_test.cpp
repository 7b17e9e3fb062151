// SPDX-License-Identifier: Apache-2.0
// Products by wgmma that pack their own A, beside the products of earlier rows.
#include "tests/emulation/mutations.h"
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case beside(const std::string& spec, const Tile& tile, std::vector<DimBindings> sizes = {{}},
            MatmulPrecision precision = MatmulPrecision::highest) {
  Case result = with_tile(wgmma(spec, std::move(sizes)), precision, tile);
  result.choice.packs_a = 1;
  return result;
}

bool packs_a(const Case& one) {
  const std::string schedules = schedules_of(one);
  const llvm::StringRef first = llvm::StringRef(schedules).split('\n').first;
  return first.starts_with("wgmma ") && first.contains(" packs-a");
}

constexpr Tile kHalves = {128, 128, 16, 3};

} // namespace

TEST_CASE("emulation: f32 products pack their own rows, whole tiles or parts, or none") {
  const std::vector<DimBindings> sizes = {{{"m", 300}, {"n", 140}}, {{"m", 60}, {"n", 138}},
                                          {{"m", 60}, {"n", 141}},  {{"m", 129}, {"n", 128}},
                                          {{"m", 64}, {"n", 300}},  {{"m", 1}, {"n", 1}},
                                          {{"m", 0}, {"n", 8}},     {{"m", 8}, {"n", 0}}};
  const Case cases[] = {
      beside("graph g(x: f32[m, 260], param w: f32[n, 260], b: f32[n]) { return relu(linear(x, w, "
             "b)) }",
             kHalves, sizes),
      // Rows longer than a thread holds at a time.
      beside("graph g(x: f32[300, 1300], w: f32[136, 1300]) { return linear(x, w) }", kHalves),
      // Sums of columns, and segments of rows.
      beside("graph g(x: f32[200, 264], w: f32[264, 264]) {\n"
             "  h = linear(x, w)\n"
             "  return h - mean(h, axis=0, keepdim=true) }",
             kHalves),
      // A batch of matrices, and one matrix for a batch.
      beside("graph g(a: f32[3, 200, 264], w: f32[3, 136, 264]) {\n"
             "  return matmul(a, w, transpose_b=true) }",
             kHalves),
      beside("graph g(a: f32[200, 264], w: f32[3, 264, 136]) { return matmul(a, w) }", kHalves),
      // Rows of zeros, of weak elements, and too large: the guard computes their tiles again.
      beside("graph g(x: f32[300, 260], w: f32[136, 260]) {\n"
             "  r = iota(f32, [300, 260], axis=0)\n"
             "  a = x * where(r < 1.0, 0.0, where(r < 2.0, 1e-30, where(r < 3.0, 1e30, 1.0)))\n"
             "  return linear(a, w) }",
             kHalves),
  };
  for (const Case& one : cases) CHECK(packs_a(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: products of scaled rows pack them") {
  for (const Tile& tile : kTiles) {
    const Case one = beside("graph g(x: f32[300, 256], w: f32[264, 256], b: f32[264]) {\n"
                            "  return relu(linear(x, w, b)) }",
                            tile, {{}}, MatmulPrecision::high);
    CHECK(packs_a(one));
    CHECK(check_cases({one}) == "");
  }
}

TEST_CASE("emulation: a second product takes the rows that the first one packed") {
  const Case both = beside("graph g(x: f32[200, 260], v: f32[136, 260], w: f32[200, 260]) {\n"
                           "  return relu(linear(x, v)), relu(linear(x, w)) }",
                           kHalves);
  const std::string schedules = schedules_of(both);
  const size_t first = schedules.find(" packs-a");
  REQUIRE(first != std::string::npos);
  CHECK(schedules.find(" packs-a", first + 1) == std::string::npos);
  CHECK(check_cases({both}) == "");
}

TEST_CASE("emulation: every operation that orders packed rows and products is needed") {
  // A row tile, whose units the three warps of a block pack.
  const Case one = beside("graph g(x: f32[60, 256], w: f32[41, 256]) { return linear(x, w) }",
                          {64, 256, 16, 4}, {{}}, MatmulPrecision::high);
  REQUIRE(packs_a(one));
  check_each(kCountUp, one, 10);
  check_each(kCountWait, one, 1);
  // The barrier of a warp before it counts a unit is not missed here: the exchanges for a row's
  // record order its stores, too, but in emulation alone.
}
