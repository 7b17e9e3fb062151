// SPDX-License-Identifier: Apache-2.0
// The nested skeleton for sm_90a: a product whose operand A is a tile that the kernel computes. One
// thread of the first warpgroup copies operands into rings of slots. The other warpgroups multiply
// from there (tile/nested_wgmma_mainloop.cuh, tile/resident_wgmma_mainloop.cuh), and run the stages
// behind the product while the next tile's operands arrive.
#pragma once

#include "kernels/nested_tiles.cuh"
#include "ptx/mbarrier.cuh"
#include "tile/matrix.cuh"
#include "tile/stages.cuh"

namespace ingot {

// A kernel K is that of kernels/held.cuh, with one of these mainloops as its only source.

/// Dynamic shared memory of a kernel: its rings, then that of the stages.
template <class K> struct NestedBytes {
  using Layout = typename K::Source::Layout;
  static constexpr int kStages = kStageBytes<Layout, typename K::Stages>;
  static constexpr int kFirst = sizes::ahead_offset(K::Source::kRingBytes, 0, 0); ///< of the stages
  static constexpr int kBytes = sizes::specialised_bytes(K::Source::kRingBytes, kStages, 1, 0);
};

/// Registers of a thread that copies, and of one that multiplies.
template <class K> struct NestedRegisters {
  static constexpr sizes::Registers kOf = sizes::nested_registers(K::Source::kGroups);
  static constexpr int kCopying = kOf.copying, kMultiplying = kOf.multiplying;
};

template <class K> INGOT_DEVICE void nested_specialised(const typename K::Params& params) {
  using Source = typename K::Source;
  using L = typename Source::Layout;
  const TileGrid grid = K::grid(params);
  const KRange k = {0, K::contraction(params, 0)};
  // Blocks take turns in an order that changes, so that each has as many steps as others. Numbers
  // past the last tile have no tile.
  const auto number_of = [&](i64 round) {
    const i64 own = ptx::block_index(), blocks = ptx::block_count();
    return round * blocks + (round % 2 == 0 ? own : blocks - 1 - own);
  };
  const auto tile_of = [&](i64 round) {
    return nested_tile(grid, number_of(round), typename Source::Admits());
  };
  const i64 rounds = ceil_div(grid.tiles(), ptx::block_count());
  const auto rings = Source::rings(ptx::shared_address(ptx::shared_memory()));
  if (ptx::thread_index() == 0) rings.make();
  ptx::block_barrier();
  typename Source::Places places;
  if (ptx::uniform(ptx::thread_index() / sizes::kWarpgroup) == 0) {
    ptx::give_registers<NestedRegisters<K>::kCopying>();
    if (ptx::uniform(ptx::thread_index() / 32) != 0 || !ptx::elect()) return;
    for (i64 round = 0; round < rounds; ++round)
      if (number_of(round) < grid.tiles())
        Source::copy(params, grid.place(tile_of(round), 0, nullptr), k, rings, places);
    return;
  }
  ptx::take_registers<NestedRegisters<K>::kMultiplying>();
  const i32 thread = ptx::thread_index() - sizes::kWarpgroup;
  Source::begin(thread);
  const auto place_of = [&](i64 tile) {
    TileContext context =
        grid.place(tile, ptx::opaque(thread), ptx::shared_memory() + NestedBytes<K>::kFirst);
    context.barrier_id = 1;
    context.threads = L::kThreads;
    return context;
  };
  constexpr bool kHasScratch = ScratchBytes<L, typename K::Stages>::kBytes > 0;
  for (i64 round = 0; round < rounds; ++round) {
    if (number_of(round) >= grid.tiles()) continue;
    const i64 tile = tile_of(round);
    Fragment<L, K::kSlots> fragment;
    typename ResultsOf<L, List<>, typename K::Stages>::Type results(thread);
    Source::multiply(params, place_of(tile), k, rings, places, fragment, results);
    const TileContext context = place_of(tile);
    run_stages<true>(params, context, fragment, results, typename K::Stages());
    if constexpr (kHasScratch) context.barrier(); // the next tile uses the same scratch
  }
}

} // namespace ingot
