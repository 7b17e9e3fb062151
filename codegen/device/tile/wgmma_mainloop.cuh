// SPDX-License-Identifier: Apache-2.0
// The mainloop of one product of 16-bit elements by wgmma (sm_90a), from a ring of slots. Config
// gives kTileM, kTileN, kTileK, kWarpM, kRingSlots and kInBands.
#pragma once

#include "tile/wgmma_operands.cuh"

namespace ingot {

/// Multiplies all slots of a tile. `products(units)` starts the products of the slot at a distance
/// of so many units of 16 bytes from the first one, and `pin_sums` pins the sums. The products of a
/// slot are under way while those of the next one are started.
template <int kSlotBytes, class Ring, class Pin, class Products, class Seen>
INGOT_DEVICE void multiply_slots(i32 thread, KRange k, Ring ring, typename Ring::Place& place,
                                 Pin pin_sums, Products products, Seen seen) {
  const bool releases = index_of(thread) % sizes::kWarpgroup == 0;
  const i32 slots = slots_for(k);
  typename Ring::Place before = place;
  for (i32 slot = 0; slot < slots; ++slot) {
    ring.wait_until_full(place);
    pin_sums();
    ptx::wgmma_fence();
    products(place.slot * (kSlotBytes >> 4));
    ptx::wgmma_commit();
    pin_sums();
    ptx::wgmma_wait<1>();
    if (releases && slot > 0) ring.release(before);
    before = place;
    place.advance();
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
    const u64 a = Source::first_a(ring, ptx::uniform(thread / sizes::kWarpgroup)),
              b = Source::first_b(ring);
    clear(acc);
    multiply_slots<Source::kSlotBytes>(
        thread, k, ring, place, [&] { ptx::pin(acc); },
        [&](u32 units) {
          multiply_slot<Config::kTileN, typename Source::TensorA, typename Source::TensorB>(
              a + units, b + units, true, acc);
        },
        seen);
  }
};

} // namespace ingot
