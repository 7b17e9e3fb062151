// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on sm_90a: three products of halves (tile/halves.cuh) for one f32
// product, by wgmma from a ring of slots. All tiles are computed, also those whose rows do not
// suit. Config gives kTileM, kTileN, kTileK, kWarpM, kRingSlots and
// kTotalEvery.
#pragma once

#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/wgmma_operands.cuh"

namespace ingot {

// A source like WgmmaMainloop (tile/wgmma_mainloop.cuh), of PackedHalves. The sums are those of
// tile/halves_mainloop.cuh: parts of one slot are summed on tensor cores, from zero, and f32
// additions that round add them; sums of kTotalEvery products move to totals. Measured on an H200
// for K = 8192 and positive data, the worst error is 1.03 of 2^-20 |a||b| without totals and 0.48
// with totals every 2048.

template <class Config, class A, class B> struct WgmmaHalvesMainloop {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kBlocks = Config::kWarpM / 16;     ///< of 64 rows, of a warpgroup
  static constexpr int kGroups = kTileM / (64 * kBlocks); ///< warpgroups that share a tile
  static constexpr bool kTotals = Config::kTotalEvery > 0;
  static_assert(kTileK == kSlotDepth && kTileM % 64 == 0 && kTileN % 64 == 0,
                "slots hold whole blocks");
  /// A warp has 16 rows of each block and all columns, as mma.sync lays them out (PTX ISA,
  /// "Register Fragments for wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, Config::kWarpM, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  // The planes of an operand are its high halves and its low ones.
  static constexpr int kPlaneOfA = kTileM / 64 * kSlotBlockBytes;
  static constexpr int kPlaneOfB = kTileN / 64 * kSlotBlockBytes;
  static constexpr int kSlotBytes = 2 * (kPlaneOfA + kPlaneOfB);
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, kGroups>;
  using Place = typename Ring::Place;

  static INGOT_DEVICE i32 slots_of(KRange k) { return slots_for(k); }

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    copy_operands<kTileM, kTileN, kBlocks, A, B>(params, tile, k, ring, place);
  }

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    const i32 group = ptx::uniform(thread / 128);
    const u64 a = matrix_descriptor(ring.slot(0) + group * kBlocks * kSlotBlockBytes);
    const u64 b = matrix_descriptor(ring.slot(0) + 2 * kPlaneOfA);
    Sums part, total;
    clear(acc);
    if constexpr (kTotals) clear(total);
    i32 since_total = 0;
    for (i32 left = slots_of(k); left > 0; --left) {
      ring.wait_until_full(place);
      ptx::pin(part);
      ptx::wgmma_fence();
      const u64 slot = place.slot * (kSlotBytes >> 4);
      multiply_slot<kTileN, f16>(a + slot + (kPlaneOfA >> 4), b + slot, false, part);
      multiply_slot<kTileN, f16>(a + slot, b + slot + (kPlaneOfB >> 4), true, part);
      multiply_slot<kTileN, f16>(a + slot, b + slot, true, part);
      ptx::wgmma_commit();
      ptx::pin(part);
      ptx::wgmma_wait<0>();
      ptx::pin(part);
      if (index_of(thread) % 128 == 0) ring.release(place);
      place.advance();
      add(part, acc);
      if constexpr (kTotals) {
        if (++since_total < Config::kTotalEvery / kTileK) continue;
        add(acc, total);
        clear(acc);
        since_total = 0;
      }
    }
    seen();
    if constexpr (kTotals) add(total, acc);
  }

  template <class Params>
  static INGOT_DEVICE void finish(const Params& params, const TileContext& tile, Sums& acc) {
    unscale<Layout>(A::packed(params), B::packed(params), tile, acc);
  }

private:
  static INGOT_DEVICE void add(const Sums& from, Sums& to) {
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) to[i][j] += from[i][j];
    }
  }
};

} // namespace ingot
