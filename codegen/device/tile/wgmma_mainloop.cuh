// SPDX-License-Identifier: Apache-2.0
// The mainloop of one product by wgmma (sm_90a), of 16-bit elements or in TF32, from a ring of
// slots. Config gives kTileM, kTileN, kTileK, kWarpM, kRingSlots, kCluster and kInBands.
#pragma once

#include "tile/wgmma_operands.cuh"

namespace ingot {

/// A mainloop that reads nothing from a slot before its products.
struct ReadsNothing {
  static constexpr int kSets = 1;
  INGOT_DEVICE void operator()(int, u32) const {}
};

/// Multiplies `slots` slots of a tile. `read(set, slot)` reads from a slot to one of Read::kSets
/// sets of registers, which take turns. `products(set, units)` starts the products of the slot at a
/// distance of so many units of 16 bytes from the first one, and `pin_sums` pins the sums. The
/// products of a slot are under way while those of the next one are started.
template <int kSlotBytes, class Ring, class Pin, class Read, class Products, class Seen>
INGOT_DEVICE void multiply_slots(i32 thread, i32 slots, Ring ring, typename Ring::Place& place,
                                 Pin pin_sums, Read read, Products products, Seen seen) {
  const bool releases = index_of(thread) % sizes::kWarpgroup == 0;
  typename Ring::Place before = place;
  const auto multiply_next = [&](int set, bool has_before) {
    ring.wait_until_full(place);
    read(set, place.slot);
    pin_sums();
    ptx::wgmma_fence();
    products(set, place.slot * (kSlotBytes >> 4));
    ptx::wgmma_commit();
    pin_sums();
    ptx::wgmma_wait<1>();
    if (releases && has_before) ring.release(before);
    before = place;
    place.advance();
  };
  // An odd slot comes first: with a branch between the slots of a pair, ptxas serialises products.
  constexpr i32 kSets = Read::kSets;
  static_assert(kSets <= 2, "a slot alone, or a pair");
  const i32 odd = slots % kSets;
  if (odd > 0) multiply_next(kSets - 1, false);
  for (i32 slot = odd; slot < slots; slot += kSets) {
    multiply_next(0, slot > 0);
    if constexpr (kSets > 1) multiply_next(1, true);
  }
  seen();
  ptx::wgmma_wait<0>();
  pin_sums();
  if (releases && slots > 0) ring.release(before);
}

template <class Config, class A, class B> struct WgmmaMainloop : WgmmaSource<Config, A, B> {
  using Source = WgmmaSource<Config, A, B>;
  static constexpr bool kCompensated = false;
  using typename Source::Place;
  using typename Source::Ring;
  using typename Source::Sums;

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    clear(acc);
    add(thread, k, ring, place, acc, seen);
  }

  /// Adds the product to `acc`.
  template <class Seen>
  static INGOT_DEVICE void add(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                               Seen seen) {
    const u64 a = Source::first_a(ring, ptx::uniform(thread / sizes::kWarpgroup)),
              b = Source::first_b(ring);
    multiply_slots<Source::kSlotBytes>(
        thread, Source::slots_of(k), ring, place, [&] { ptx::pin(acc); }, ReadsNothing(),
        [&](int, u32 units) {
          multiply_slot<Config::kTileN, typename Source::TensorA, typename Source::TensorB>(
              a + units, b + units, true, acc);
        },
        seen);
  }
};

} // namespace ingot
