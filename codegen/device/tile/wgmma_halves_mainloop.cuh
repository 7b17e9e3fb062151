// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on sm_90a: three products of halves (tile/halves.cuh) for one f32
// product, by wgmma from a ring of slots. All tiles are computed, also those whose rows do not
// suit. Config gives kTileM, kTileN, kTileK, kWarpM, kRingSlots, kCluster, kInBands and
// kTotalEvery.
#pragma once

#include "tile/wgmma_operands.cuh"

namespace ingot {

// The operands are PackedHalves. If a tile's rows need the products of residuals, its sums begin
// with these. The other sums are those of tile/halves_mainloop.cuh: parts of one slot are summed on
// tensor cores, from zero, and f32 additions that round add them; sums of kTotalEvery products move
// to totals. Measured on an H200 for K = 8192 and positive data, the worst error is
// 1.03 of 2^-20 |a||b| without totals and 0.48 with totals every 2048.

template <class Config, class A, class B> struct WgmmaHalvesMainloop : WgmmaSource<Config, A, B> {
  using Source = WgmmaSource<Config, A, B>;
  using typename Source::Place;
  using typename Source::Ring;
  using typename Source::Sums;
  using Layout = typename Source::Layout;
  static constexpr bool kCompensated = true;
  static constexpr bool kTotals = Config::kTotalEvery > 0;

  /// Before the first tile: the first warpgroup issues first. Its turn behind the last tile is left
  /// over, and ends with the block.
  static INGOT_DEVICE void begin(i32 thread) {
    if (const i32 group = ptx::uniform(thread / sizes::kWarpgroup); group == 1) pass_issue(group);
  }

  template <class AddResiduals, class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    AddResiduals add_residuals, Seen seen) {
    const i32 group = ptx::uniform(thread / sizes::kWarpgroup);
    const u64 a = Source::first_a(ring, group), b = Source::first_b(ring);
    Sums part, chunk; // with kTotals, chunk sums kTotalEvery of K, and then goes to acc
    clear(acc);
    if constexpr (kTotals) clear(chunk);
    i32 in_chunk = 0;
    i32 left = Source::slots_of(k);
    if (left > 0) {
      ring.wait_until_full(place);
      // First, because few registers are in use.
      if (Source::needs_residuals(ring, place)) add_residuals(acc);
    }
    for (; left > 0; --left) {
      if (left == 1) seen();
      wait_for_issue(group);
      ptx::pin(part);
      ptx::wgmma_fence();
      const u64 slot = place.slot * (Source::kSlotBytes >> 4);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(a + slot + (Source::kPlaneOfA >> 4),
                                                                b + slot, false, part);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(
          a + slot, b + slot + (Source::kPlaneOfB >> 4), true, part);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(a + slot, b + slot, true, part);
      ptx::wgmma_commit();
      pass_issue(group);
      ptx::pin(part);
      ptx::wgmma_wait<0>();
      ptx::pin(part);
      if (index_of(thread) % sizes::kWarpgroup == 0) ring.release(place);
      place.advance();
      add(part, kTotals ? chunk : acc);
      if (left > 1) ring.wait_until_full(place);
      if constexpr (kTotals) {
        if (++in_chunk < Config::kTotalEvery / Source::kTileK && left > 1) continue;
        add(chunk, acc);
        clear(chunk);
        in_chunk = 0;
      }
    }
  }

private:
  // The tensor cores would share their time between the products of both warpgroups, which would
  // then end together, and nothing would run beside the additions. So the warpgroups issue the
  // products of a slot in turn, and one adds while the other multiplies.
  static_assert(Source::kGroups == 2, "two warpgroups share a tile");
  // Behind those of kernels/specialised.cuh, of which the last is 1 + kGroups. Constants, because a
  // number would take a register.
  static constexpr i32 kBarrier = 8; ///< of the first warpgroup. That of the second is the next one
  static constexpr i32 kMultiplying = 2 * sizes::kWarpgroup;
  static INGOT_DEVICE void wait_for_issue(i32 group) {
    if (group == 0)
      ptx::wait_for_issue(kBarrier, kMultiplying);
    else
      ptx::wait_for_issue(kBarrier + 1, kMultiplying);
  }
  static INGOT_DEVICE void pass_issue(i32 group) {
    if (group == 0)
      ptx::pass_issue(kBarrier + 1, kMultiplying);
    else
      ptx::pass_issue(kBarrier, kMultiplying);
  }

  static INGOT_DEVICE void add(const Sums& from, Sums& to) {
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) to[i][j] += from[i][j];
    }
  }
};

} // namespace ingot
