// SPDX-License-Identifier: Apache-2.0
// The specialised skeleton (sm_90a): a block goes through many tiles. One thread of the first
// warpgroup copies operands into a ring of slots; its other warps may pack A or split B. The other
// two warpgroups multiply from there and run the stages, while the next tile's operands arrive.
// Either both share each tile, or they take turns: then one's stages run beside the other's
// products.
#pragma once

#include "kernels/packing_beside.cuh"
#include "kernels/scheduler.cuh"
#include "tile/bands.cuh"
#include "tile/copied_ahead.cuh"
#include "tile/matrix.cuh"
#include "tile/slot_ring.cuh"
#include "tile/split_k.cuh"
#include "tile/stages.cuh"

namespace ingot {

// A kernel K is as in kernels/held.cuh, but its Source has a Ring, and copy, multiply and finish
// (tile/wgmma_operands.cuh). It also has
//   CopiedAhead   List of the operands that are copied ahead
//   kPacksA       whether it packs its own A, and then
//   packing(params)   a PackingBeside

/// Dynamic shared memory of a kernel.
template <class K> struct SpecialisedBytes {
  using Layout = CopyingAhead<typename K::Source::Layout, typename K::CopiedAhead>;
  static constexpr int kOwners = sizes::tile_owners(Layout::kThreads);
  static constexpr int kStages = kStageBytes<Layout, typename K::Stages>;
  static constexpr int kRing = K::Source::Ring::kBytes;
  static constexpr int kFirst = sizes::ahead_offset(kRing, 0, 0); ///< of the stages
  static constexpr int kAhead = sizes::ahead_offset(kRing, kStages, kOwners);
  /// Of a warpgroup: the operands that are copied ahead, then the factors.
  static constexpr int kOfWarpgroup = Layout::kAheadBytes + K::Source::kFactorBytes;
  static constexpr int kBytes = sizes::specialised_bytes(kRing, kStages, kOwners, kOfWarpgroup);
};

/// The copies that a warpgroup makes while it multiplies: of the operands along the columns of its
/// tile, and of the factors that remove the scales of the tile's rows and columns.
template <class K> struct CopiesOfWarpgroup {
  using Bytes = SpecialisedBytes<K>;
  using L = typename Bytes::Layout;
  static constexpr bool kAny = Bytes::kOfWarpgroup > 0;
  i32 warpgroup; ///< of those that multiply

  INGOT_DEVICE u8* memory() const {
    return ptx::shared_memory() + Bytes::kAhead + warpgroup * Bytes::kOfWarpgroup;
  }
  INGOT_DEVICE f32* factors() const { return reinterpret_cast<f32*>(memory() + L::kAheadBytes); }

  INGOT_DEVICE void start(const typename K::Params& params, const TileContext& tile) const {
    L::copy(params, tile);
    if constexpr (!K::kPacksA) start_factors(params, tile);
    if constexpr (kAny) ptx::cp_async_commit();
  }
  /// Once the tile's last slot has been waited for: then its rows are packed.
  INGOT_DEVICE void start_packed(const typename K::Params& params, const TileContext& tile) const {
    if constexpr (K::kPacksA) start_factors(params, tile);
    if constexpr (K::kPacksA && kAny) ptx::cp_async_commit();
  }
  INGOT_DEVICE void wait() const {
    if constexpr (kAny) ptx::cp_async_wait<0>();
  }
  /// After wait(), all threads of the warpgroup see the copies. After the stages, the memory is
  /// free for the next tile.
  INGOT_DEVICE void barrier() const {
    if constexpr (kAny) ptx::group_barrier(1 + Bytes::kOwners + warpgroup, sizes::kWarpgroup);
  }

private:
  INGOT_DEVICE void start_factors(const typename K::Params& params, const TileContext& tile) const {
    if constexpr (K::Source::kFactorBytes > 0) K::Source::copy_factors(params, tile, factors());
  }
};

/// Removes the scales from the sums of a tile, or of a band of it.
template <class K> struct ScaleRemoval {
  i64 row0; ///< of the tile
  const f32* factors;

  template <class L, int kSlots>
  INGOT_DEVICE void operator()(const TileContext& band, Fragment<L, kSlots>& fragment) const {
    using Source = typename K::Source;
    if constexpr (Source::kFactorBytes > 0)
      // Opaque, so that the compiler does not keep its places in registers across the stages.
      Source::template finish<L>(ptx::opaque(band.thread), factors + (band.row0 - row0),
                                 factors + Source::kTileM, fragment.v[0]);
  }
};

/// Registers of a thread that copies, and may pack or split, and of one that multiplies.
template <class K, bool kPacks = K::kPacksA>
constexpr int kCopying = sizes::copying_registers(K::Source::kSplitsB);
template <class K>
constexpr int kCopying<K, true> = sizes::beside_registers(K::MatrixA::Packed::kPlanes);
template <class K> constexpr int kMultiplying = sizes::multiplying_registers(kCopying<K>);

/// The units of a launch: its tiles, or their parts of K.
template <class K> struct Units {
  TileGrid grid;
  i64 k; ///< of the contraction
  i64 parts;

  INGOT_DEVICE i64 count() const { return grid.tiles() * parts; }
  INGOT_DEVICE TileContext place(i64 unit, i32 thread, u8* scratch) const {
    return grid.place(unit / parts, thread, scratch);
  }
  INGOT_DEVICE KRange range(i64 unit) const {
    if constexpr (K::kSplitsK) return part_of<K::Source::kTileK>(k, parts, unit % parts);
    return {0, k};
  }
};

/// Multiplies and runs the stages, by the warpgroups that share a tile.
template <class K>
INGOT_DEVICE void multiply_tiles(const typename K::Params& params, const Units<K>& units,
                                 typename K::Source::Ring ring) {
  using Source = typename K::Source;
  using Bytes = SpecialisedBytes<K>;
  using L = typename Bytes::Layout;
  using Results = typename ResultsOf<L, List<>, typename K::Stages>::Type;
  constexpr bool kTakesTurns = Bytes::kOwners > 1;
  constexpr int kCluster = Source::kCluster;
  static_assert(!kTakesTurns || !K::kSplitsK, "turns pass over slots of equal tiles");
  static_assert(kCluster == 1 || !K::kSplitsK, "the tiles of a cluster have equal k");
  constexpr bool kHasScratch = ScratchBytes<L, typename K::Stages>::kBytes > 0;
  const i32 own_thread = ptx::thread_index() - sizes::kWarpgroup;
  const i32 thread = own_thread % L::kThreads;
  const i32 owner = kTakesTurns ? ptx::uniform(own_thread / L::kThreads) : 0;
  const CopiesOfWarpgroup<K> copies = {ptx::uniform(own_thread / sizes::kWarpgroup)};
  typename Source::Place place;
  if constexpr (kTakesTurns)
    if (owner == 1) place.skip(Source::slots_of(units.range(0)));
  const auto place_of = [&](i64 unit) {
    TileContext tile = units.place(unit, ptx::opaque(thread),
                                   ptx::shared_memory() + Bytes::kFirst + owner * Bytes::kStages);
    tile.barrier_id = 1 + owner;
    tile.threads = L::kThreads;
    tile.kept = copies.memory();
    return tile;
  };
  Source::begin(thread);
  u32 tiles = 0;
  for (i64 unit = ptx::block_index() + owner * ptx::block_count(); unit < units.count();
       unit += Bytes::kOwners * ptx::block_count()) {
    const KRange k = units.range(unit);
    copies.start(params, place_of(unit));
    Fragment<L, K::kSlots> fragment;
    if constexpr (kTakesTurns) ring.wait_for_turn(owner, tiles++);
    const auto seen = [&] {
      if constexpr (kTakesTurns) {
        ptx::warp_barrier();
        if (thread % 32 == 0) ring.pass_turn(owner);
      }
      copies.start_packed(params, place_of(unit));
    };
    if constexpr (Source::kListsResiduals)
      Source::multiply(
          thread, k, ring, place, fragment.v[0],
          [&](auto& sums) { Source::add_residuals(params, place_of(unit), sums); }, seen);
    else if constexpr (K::kMatmuls == 1)
      Source::multiply(thread, k, ring, place, fragment.v[0], seen);
    else
      Source::multiply(thread, k, ring, place, fragment.v[0], fragment.v[1], seen);
    if constexpr (kTakesTurns) place.skip(Source::slots_of(k));
    copies.wait();
    const TileContext tile = place_of(unit);
    // A tile past the last row is multiplied for the other block, which needs its half of B.
    if (kCluster > 1 && tile.row0 >= units.grid.rows) continue;
    if constexpr (Source::kSplitsB) Source::complete(params, tile, k, fragment.v[0]);
    if (!add_unit<K>(params, unit, tile, fragment)) continue;
    copies.barrier();
    const ScaleRemoval<K> finish = {tile.row0, copies.factors()};
    if constexpr (Source::kInBands) {
      static_assert(RunsInBands<PartBand<L>, typename K::Stages>::kValue, "stages stay in rows");
      run_bands<PartBand<L>>(params, tile, fragment, typename K::Stages(), finish);
    } else {
      finish(tile, fragment);
      Results results(tile.thread);
      run_stages<true>(params, tile, fragment, results, typename K::Stages());
    }
    if constexpr (kHasScratch)
      tile.barrier(); // the next tile uses the same scratch, and the same memory of copies
    else
      copies.barrier();
  }
  if constexpr (kCluster > 1) { // the other block's arrivals and copies come to this one's memory
    ptx::cluster_arrive();
    ptx::cluster_wait();
  }
}

/// By the first warpgroup: copies the operands of the block's tiles, by one thread. Other warps
/// pack A or split B, if the kernel does.
template <class K>
INGOT_DEVICE void copy_tiles(const typename K::Params& params, const Units<K>& units,
                             typename K::Source::Ring ring) {
  using Source = typename K::Source;
  typename Source::Place place;
  const bool is_first = ptx::uniform(ptx::thread_index() / 32) == 0;
  static_assert(sizes::kBesideWarps == sizes::kWarpgroup / 32 - 1,
                "all warps but one pack or split");
  if constexpr (K::kPacksA) {
    static_assert(Source::kCluster == 1 && !K::kSplitsK, "a tile has rows, and waits for them");
    using A = typename K::MatrixA;
    const BesidePacking<A, Source::kTileM> packing = {A::packed(params), K::packing(params)};
    if (!is_first) return packing.pack(params);
    if (!ptx::elect()) return;
    for (i64 unit = ptx::block_index(); unit < units.count(); unit += ptx::block_count()) {
      const TileContext tile = units.place(unit, 0, nullptr);
      packing.wait(tile);
      Source::copy(params, tile, units.range(unit), ring, place);
    }
    packing.finish();
  } else {
    if constexpr (Source::kSplitsB)
      if (!is_first) {
        for (i64 unit = ptx::block_index(); unit < units.count(); unit += ptx::block_count())
          Source::split(ptx::thread_index() - 32, units.range(unit), ring, place);
        return;
      }
    if (!is_first || !ptx::elect()) return;
    for (i64 unit = ptx::block_index(); unit < units.count(); unit += ptx::block_count())
      Source::copy(params, units.place(unit, 0, nullptr), units.range(unit), ring, place);
  }
}

template <class K> INGOT_DEVICE void specialised(const typename K::Params& params) {
  using Source = typename K::Source;
  static_assert(SpecialisedBytes<K>::kOwners * Source::Layout::kThreads == 2 * sizes::kWarpgroup,
                "the registers are for two warpgroups that multiply");
  TileGrid grid = K::grid(params);
  grid.together = Source::kCluster;
  // Without rows or columns there are no elements to copy, but there is a tile.
  const bool is_empty = grid.rows == 0 || grid.cols == 0;
  const Units<K> units = {grid, is_empty ? 0 : K::contraction(params, 0),
                          parts_of_tiles<K>(params)};
  const typename Source::Ring ring = {ptx::shared_address(ptx::shared_memory())};
  if (ptx::thread_index() == 0) ring.make();
  if constexpr (Source::kCluster > 1) {
    ptx::cluster_arrive();
    ptx::cluster_wait();
  } else {
    ptx::block_barrier();
  }
  if (ptx::uniform(ptx::thread_index() / sizes::kWarpgroup) != 0) {
    ptx::take_registers<kMultiplying<K>>();
    multiply_tiles<K>(params, units, ring);
    return;
  }
  ptx::give_registers<kCopying<K>>();
  copy_tiles<K>(params, units, ring);
}

} // namespace ingot
