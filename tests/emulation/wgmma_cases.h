// SPDX-License-Identifier: Apache-2.0
// Cases of products by wgmma, and their tiles. Used by the tests of the specialised skeleton.
#pragma once

#include "tests/emulation/cases.h"

#include <limits>
#include <string>
#include <vector>

namespace ingot::emulation {

/// A case whose first kernel multiplies by wgmma.
inline Case wgmma(const std::string& spec, std::vector<DimBindings> sizes = {{}}, int slots = 3) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                           .thirds = std::numeric_limits<int64_t>::max()};
  result.target = "sm_90a";
  result.choice.wgmma = slots;
  return result;
}

inline bool has_wgmma(const Case& one, const std::string& type = "f16x3") {
  return schedules_of(one).find("wgmma " + type) == 0;
}

/// True if the first kernel multiplies by wgmma, and its blocks share k.
inline bool is_split(const Case& one) {
  const std::string schedules = schedules_of(one);
  const llvm::StringRef first = llvm::StringRef(schedules).split('\n').first;
  return first.starts_with("wgmma ") && first.contains(" split-k ");
}

struct Tile {
  int m, n, warp_m, slots;
};
/// Tiles that both warpgroups share, and tiles of their own in one product of 64 rows or in two.
/// Widths of three blocks of 64 columns come last.
inline constexpr Tile kTiles[] = {{128, 256, 16, 3}, {128, 128, 16, 4}, {64, 256, 16, 4},
                                  {128, 128, 32, 3}, {64, 192, 16, 4},  {128, 192, 16, 4}};

/// The case with tiles of this shape.
inline Case with_tile(Case result, MatmulPrecision precision, const Tile& tile) {
  result.precision = precision;
  result.choice.tile_m = tile.m;
  result.choice.tile_n = tile.n;
  result.choice.warp_m = tile.warp_m;
  result.choice.wgmma = tile.slots;
  return result;
}

/// A case whose first kernel multiplies by wgmma in bf16 thirds.
inline Case thirds_by_wgmma(const std::string& spec, const Tile& tile,
                            std::vector<DimBindings> sizes = {{}}) {
  Case result = with_tile(wgmma(spec, std::move(sizes)), MatmulPrecision::highest, tile);
  result.least_products = {.halves = std::numeric_limits<int64_t>::max(),
                           .thirds = std::numeric_limits<int64_t>::min()};
  result.choice.tile_k = 32;
  return result;
}

} // namespace ingot::emulation
