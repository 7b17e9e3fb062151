// SPDX-License-Identifier: Apache-2.0
// Two products by wgmma with one A (sm_90a), as of a gated layer. A slot holds A once, and both
// products of a slot are started together.
#pragma once

#include "tile/matmul_pair.cuh"
#include "tile/wgmma_mainloop.cuh"

namespace ingot {

/// The host takes such a pair only where A and SecondA are one operand.
template <class Config, class A, class B, class SecondA, class SecondB>
struct MatmulPair<WgmmaMainloop<Config, A, B>, WgmmaMainloop<Config, SecondA, SecondB>> {
  using First = WgmmaSource<Config, A, B>;
  using Layout = typename First::Layout;
  using Sums = typename First::Sums;
  using TensorA = typename First::TensorA;
  using TensorB = typename First::TensorB;
  using TensorC = typename SlotTensor<SecondB>::Type;
  static_assert(!TensorA::kScales, "no product removes scales");
  static constexpr int kCluster = Config::kCluster;
  static constexpr bool kInBands = Config::kInBands;
  static constexpr int kFactorBytes = 0;
  static constexpr bool kListsResiduals = false, kSplitsB = false;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  /// A slot: A, then the B of each product.
  static constexpr int kSecondB = First::kBytesOfA + First::kPlaneOfB;
  static constexpr int kSlotBytes = kSecondB + First::kPlaneOfB;
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, First::kGroups, kCluster>;
  using Place = typename Ring::Place;

  static INGOT_DEVICE i32 slots_of(KRange k) { return First::slots_of(k); }
  static INGOT_DEVICE void begin(i32) {}

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    SlotCopies<TensorA, kTileM, First::kBlocks, 1> a(SlotTensor<A>::of(params, tile.batch),
                                                     tile.batch, tile.row0, k.begin);
    SlotCopies<TensorB, kTileN, 1, kCluster> b(SlotTensor<B>::of(params, tile.batch), tile.batch,
                                               tile.col0, k.begin);
    SlotCopies<TensorC, kTileN, 1, kCluster> c(SlotTensor<SecondB>::of(params, tile.batch),
                                               tile.batch, tile.col0, k.begin);
#pragma unroll 1
    for (i32 left = slots_of(k); left > 0; --left) {
      const u32 full = ring.begin_filling(place);
      const u32 to = ring.slot(place.slot);
      a.run(to, full);
      b.run(to + First::kBytesOfA, full);
      c.run(to + kSecondB, full);
      place.advance();
    }
  }

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& first,
                                    Sums& second, Seen seen) {
    const i32 group = ptx::uniform(thread / sizes::kWarpgroup);
    const u32 slot = ring.slot(0);
    const u64 a = matrix_descriptor(slot + group * First::kBlocks * kSlotBlockBytes);
    const u64 b = matrix_descriptor(slot + First::kBytesOfA);
    const u64 c = matrix_descriptor(slot + kSecondB);
    clear(first);
    clear(second);
    multiply_slots<kSlotBytes>(
        thread, slots_of(k), ring, place,
        [&] {
          ptx::pin(first);
          ptx::pin(second);
        },
        ReadsNothing(),
        [&](int, u32 units) {
          multiply_slot<kTileN, TensorA, TensorB>(a + units, b + units, true, first);
          multiply_slot<kTileN, TensorA, TensorC>(a + units, c + units, true, second);
        },
        seen);
  }
};

} // namespace ingot
