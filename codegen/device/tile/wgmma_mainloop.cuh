// SPDX-License-Identifier: Apache-2.0
// The mainloop of one product of 16-bit elements by wgmma (sm_90a), from a ring of slots. Config
// gives kTileM, kTileN, kTileK, kWarpM and kRingSlots.
#pragma once

#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/wgmma_operands.cuh"

namespace ingot {

// A source of the specialised skeleton:
//   using Layout, Ring, Place
//   slots_of(k)                            the slots that a tile fills
//   copy(params, tile, k, ring, place)     by one thread: fills them
//   multiply(thread, k, ring, place, acc, seen)
//                                          by the warpgroups that share a tile: its sums. `seen()`
//                                          is called once the last slot has been waited for.
//                                          `thread` is the index among all of them
//   finish(params, tile, acc)              makes the sums those of the operands as they were
template <class Config, class A, class B> struct WgmmaMainloop {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kBlocks = Config::kWarpM / 16;     ///< of 64 rows, of a warpgroup
  static constexpr int kGroups = kTileM / (64 * kBlocks); ///< warpgroups that share a tile
  static_assert(kTileK == kSlotDepth && kTileM % 64 == 0 && kTileN % 64 == 0,
                "slots hold whole blocks");
  using Element = typename A::Packed::Element;
  /// A warp has 16 rows of each block and all columns, as mma.sync lays them out (PTX ISA,
  /// "Register Fragments for wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, Config::kWarpM, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  static constexpr int kBytesOfA = kTileM / 64 * kSlotBlockBytes;
  static constexpr int kSlotBytes = kBytesOfA + kTileN / 64 * kSlotBlockBytes;
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, kGroups>;
  using Place = typename Ring::Place;

  static INGOT_DEVICE i32 slots_of(KRange k) { return slots_for(k); }

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    copy_operands<kTileM, kTileN, kBlocks, A, B>(params, tile, k, ring, place);
  }

  /// The products of a slot are under way while those of the next one are started.
  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    const i32 group = ptx::uniform(thread / 128);
    const u64 a = matrix_descriptor(ring.slot(0) + group * kBlocks * kSlotBlockBytes);
    const u64 b = matrix_descriptor(ring.slot(0) + kBytesOfA);
    const bool releases = index_of(thread) % 128 == 0;
    const i32 slots = slots_of(k);
    clear(acc);
    Place before = place;
    for (i32 slot = 0; slot < slots; ++slot) {
      ring.wait_until_full(place);
      const u64 offset = place.slot * (kSlotBytes >> 4);
      ptx::pin(acc);
      ptx::wgmma_fence();
      multiply_slot<kTileN, Element>(a + offset, b + offset, true, acc);
      ptx::wgmma_commit();
      ptx::pin(acc);
      ptx::wgmma_wait<1>();
      if (releases && slot > 0) ring.release(before);
      before = place;
      place.advance();
    }
    seen();
    ptx::wgmma_wait<0>();
    ptx::pin(acc);
    if (releases && slots > 0) ring.release(before);
  }

  template <class Params>
  static INGOT_DEVICE void finish(const Params& params, const TileContext& tile, Sums& acc) {
    if constexpr (A::Packed::Split::kScales)
      unscale<Layout>(A::packed(params), B::packed(params), tile, acc);
  }
};

} // namespace ingot
