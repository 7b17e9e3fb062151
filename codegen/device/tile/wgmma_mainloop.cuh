// SPDX-License-Identifier: Apache-2.0
// The mainloop of one product of 16-bit elements by wgmma (sm_90a), from a ring of slots. Config
// gives kTileM, kTileN, kTileK, kWarpM and kRingSlots.
#pragma once

#include "tile/wgmma_operands.cuh"

namespace ingot {

template <class Config, class A, class B> struct WgmmaMainloop : WgmmaSource<Config, A, B> {
  using Source = WgmmaSource<Config, A, B>;
  using typename Source::Place;
  using typename Source::Ring;
  using typename Source::Sums;

  /// The products of a slot are under way while those of the next one are started.
  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    const i32 group = ptx::uniform(thread / 128);
    const u64 a = Source::first_a(ring, group), b = Source::first_b(ring);
    const bool releases = index_of(thread) % 128 == 0;
    const i32 slots = slots_for(k);
    clear(acc);
    Place before = place;
    for (i32 slot = 0; slot < slots; ++slot) {
      ring.wait_until_full(place);
      const u64 offset = place.slot * (Source::kSlotBytes >> 4);
      ptx::pin(acc);
      ptx::wgmma_fence();
      multiply_slot<Config::kTileN, typename Source::TensorA, typename Source::TensorB>(
          a + offset, b + offset, true, acc);
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
};

} // namespace ingot
