// SPDX-License-Identifier: Apache-2.0
// The guard of a product from packed halves (sm_90a): it computes the tiles again whose rows do not
// suit, with the tiles and the stages of the kernel that computed all of them. Config gives kTileM,
// kTileN, kTileK, kWarpM and kWarpN.
#pragma once

#include "tile/layout.cuh"
#include "tile/packed_halves.cuh"
#include "tile/safe_mainloop.cuh"

namespace ingot {

template <class Config, class A, class B> struct GuardMainloop {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr bool kCompensated = true;
  static constexpr bool kFillsRegisters = true;
  static constexpr bool kSkipsTiles = true;
  using Layout =
      MmaLayout<kTileM / Config::kWarpM, kTileN / Config::kWarpN, Config::kWarpM, Config::kWarpN>;
  using Safe = SafeMainloop<Layout, A, B>;
  static constexpr int kSharedBytes = sizes::safe_bytes(kTileM, kTileN);

  /// Whether this tile is computed here. Returns the same in all threads.
  template <class Params>
  static INGOT_DEVICE bool takes(const Params& params, const TileContext& context, i64 m, i64 n) {
    const PackedHalves a = A::halves(params), b = B::halves(params);
    HalvedTile tile = HalvedTile::none();
    for (int i = context.thread; i < kTileM + kTileN; i += Layout::kThreads) {
      const bool of_a = i < kTileM;
      const i64 mn = of_a ? context.row0 + i : context.col0 + i - kTileM;
      if (mn < (of_a ? m : n)) tile.add((of_a ? a : b).row(context.batch, mn), of_a);
    }
    tile.add_lanes();
    auto* const warps = reinterpret_cast<HalvedTile*>(ptx::shared_memory());
    if (index_of(context.thread) % 32 == 0) warps[index_of(context.thread) / 32] = tile;
    context.barrier();
    for (int warp = 0; warp < Layout::kThreads / 32; ++warp) tile.add(warps[warp]);
    context.barrier(); // the products overlay the warps' records
    return !tile.suits(a.depth);
  }

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
    Safe::run(params, context, m, n, k, acc);
  }
};

} // namespace ingot
