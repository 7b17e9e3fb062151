// SPDX-License-Identifier: Apache-2.0
// Products in TF32 by wgmma of operands that copies round, as the compiler generates them for
// sm_90a.
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: products in TF32 by wgmma of operands that copies round") {
  const std::string both = "graph g(a: f32[67, 300], b: f32[331, 300], c: f32[331]) {\n"
                           "  return relu(linear(a, b, c)) }";
  const std::string reduced = "graph g(a: f32[200, 36], w: f32[132, 36]) {\n"
                              "  h = matmul(a, w, transpose_b=true)\n"
                              "  return h - mean(h, axis=0, keepdim=true) }";
  const std::string split = "graph g(a: f32[70, 1100], w: f32[140, 1100]) {\n"
                            "  return matmul(a, w, transpose_b=true) }";
  for (const Tile& tile : kTiles) {
    CAPTURE(tile.m);
    CAPTURE(tile.n);
    for (const std::string& spec : {both, reduced, split}) {
      CAPTURE(spec);
      Case one = with_tile(wgmma(spec), MatmulPrecision::high, tile);
      one.choice.tile_k = 32;
      CHECK(has_wgmma(one, "tf32"));
      CHECK(check_cases({one}) == "");
    }
  }
}

TEST_CASE("emulation: narrow products in TF32 by wgmma") {
  for (const char* columns : {"64", "7"}) {
    CAPTURE(columns);
    Case one = with_tile(wgmma(fmt::format("graph g(a: f32[300, 300], b: f32[{0}, 300], "
                                           "c: f32[{0}]) {{\n  return relu(linear(a, b, c)) }}",
                                           columns)),
                         MatmulPrecision::high, {128, 64, 16, 6});
    one.choice.tile_k = 32;
    CHECK(has_wgmma(one, "tf32 128x64"));
    CHECK(check_cases({one}) == "");
  }
}

TEST_CASE("emulation: swapped products in TF32 by wgmma, whatever the sizes") {
  const std::string columns = "graph g(a: f32[300, 100], b: f32[100, 332], c: f32[332]) {\n"
                              "  return gelu(matmul(a, b) + c) }";
  const std::string whole = "graph g(a: f32[3, 256, 64], b: f32[3, 64, 128], c: f32[256, 128]) {\n"
                            "  return matmul(a, b) * c }";
  const std::string strided = "graph g(a: f32[65, 3, 136], b: f32[3, 136, 80]) {\n"
                              "  return matmul(transpose(a, 0, 1), b) }";
  const std::string slices = "graph g(a: f32[80, 192], b: f32[192, 300]) {\n"
                             "  return matmul(a[8:75, 64:], b[:128, 4:284]), a[0, 0] }";
  const std::string narrow = "graph g(a: f32[140, 68], b: f32[68, 60]) {\n"
                             "  return cast(matmul(a, b), bf16) }";
  const std::string names = "graph g(a: f32[b, m, 96], w: f32[96, 68], s: f32[]) {\n"
                            "  return matmul(a, w) * s }";
  const std::vector<DimBindings> sizes = {
      {{"b", 2}, {"m", 270}}, {{"b", 1}, {"m", 1}}, {{"b", 1}, {"m", 0}}, {{"b", 0}, {"m", 5}}};
  for (const Tile& tile : {Tile{256, 128, 256, 3}, Tile{128, 128, 128, 4}}) {
    CAPTURE(tile.m);
    const auto of = [&](const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
      return with_tile(wgmma(spec, std::move(sizes)), MatmulPrecision::high, tile);
    };
    for (const Case& one :
         {of(columns), of(whole), of(strided), of(slices), of(narrow), of(names, sizes)}) {
      CAPTURE(one.spec);
      CHECK(has_wgmma(one, fmt::format("tf32 {}x128x32", tile.m)));
      CHECK(check_cases({one}) == "");
    }
  }
}

TEST_CASE("emulation: blocks share the k of swapped tiles") {
  Case shared = wgmma("graph g(x: f32[70, 1100], w: f32[1100, 140]) { return relu(matmul(x, w)) }");
  shared.precision = MatmulPrecision::high;
  shared.choice.wgmma = 4;
  shared.choice.tile_m = shared.choice.warp_m = 128;
  shared.choice.tile_k = 32;
  CHECK(is_split(shared));
  CHECK(check_cases({shared}) == "");
}

TEST_CASE("emulation: a product in TF32 of numbers that are not finite") {
  Case swapped = wgmma("graph g(a: f32[70, 300], b: f32[300, 132]) { return matmul(a, b) }");
  swapped.non_finite = true;
  swapped = with_tile(swapped, MatmulPrecision::high, {128, 128, 128, 4});
  CHECK(has_wgmma(swapped, "tf32"));
  CHECK(check_cases({swapped}) == "");
}
