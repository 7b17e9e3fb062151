// SPDX-License-Identifier: Apache-2.0
// The specialised skeleton (sm_90a): a block goes through many tiles. One thread of the first
// warpgroup copies operands into a ring of slots. The other warpgroups multiply from there and run
// the stages, while the next tile's operands arrive.
#pragma once

#include "kernels/scheduler.cuh"
#include "tile/matrix.cuh"
#include "tile/slot_ring.cuh"
#include "tile/stages.cuh"

namespace ingot {

// A kernel K is as in kernels/held.cuh, but its Source has a Ring, and copy, multiply and finish
// (tile/wgmma_halves_mainloop.cuh).

/// Dynamic shared memory of a kernel.
template <class K> struct SpecialisedBytes {
  using Layout = typename K::Source::Layout;
  static constexpr int kStages = ScratchBytes<Layout, typename K::Stages>::kBytes +
                                 StagingBytes<Layout, typename K::Stages>::kBytes;
  static constexpr int kFirst = sizes::specialised_bytes(K::Source::Ring::kBytes, 0); ///< scratch
  static constexpr int kBytes = sizes::specialised_bytes(K::Source::Ring::kBytes, kStages);
};

/// Registers of a thread. A block of three warpgroups is launched with 168 each, and 40 + 2 * 232
/// is 3 * 168. With 24 a copying thread spills.
constexpr int kCopyingRegisters = 40, kMultiplyingRegisters = 232;

/// Calls use(unit) for the tiles of this block.
template <class Use> INGOT_DEVICE void for_each_unit(const TileGrid& grid, Use use) {
  for (i64 unit = ptx::block_index(); unit < grid.tiles(); unit += ptx::block_count()) use(unit);
}

template <class K> INGOT_DEVICE void specialised(const typename K::Params& params) {
  using Source = typename K::Source;
  using L = typename Source::Layout;
  using Results = typename ResultsOf<L, List<>, typename K::Stages>::Type;
  constexpr bool kHasScratch = ScratchBytes<L, typename K::Stages>::kBytes > 0;
  const TileGrid grid = K::grid(params);
  static_assert(L::kThreads == 256, "the registers are for two warpgroups that multiply");
  // Without rows or columns there are no halves, but there is a tile.
  const bool is_empty = grid.rows == 0 || grid.cols == 0;
  const KRange k = {0, is_empty ? 0 : K::contraction(params, 0)};
  const typename Source::Ring ring = {ptx::shared_address(ptx::shared_memory())};
  if (ptx::thread_index() == 0) ring.make();
  ptx::block_barrier();
  typename Source::Place place;
  if (ptx::uniform(ptx::thread_index() / 128) == 0) {
    ptx::give_registers<kCopyingRegisters>();
    if (ptx::thread_index() == 0)
      for_each_unit(grid, [&](i64 unit) {
        Source::copy(params, grid.place(unit, 0, nullptr), k, ring, place);
      });
    return;
  }
  ptx::take_registers<kMultiplyingRegisters>();
  for_each_unit(grid, [&](i64 unit) {
    const i32 thread = ptx::thread_index() - 128;
    Fragment<L, K::kSlots> fragment;
    Source::multiply(thread, k, ring, place, fragment.v[0]);
    TileContext tile =
        grid.place(unit, ptx::opaque(thread), ptx::shared_memory() + SpecialisedBytes<K>::kFirst);
    tile.barrier_id = 1;
    tile.threads = L::kThreads;
    Source::finish(params, tile, fragment.v[0]);
    Results results(tile.thread);
    run_stages<true>(params, tile, fragment, results, typename K::Stages());
    if constexpr (kHasScratch) tile.barrier(); // the next tile's stages use the same scratch
  });
}

} // namespace ingot
