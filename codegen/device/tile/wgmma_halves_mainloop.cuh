// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on sm_90a: three products of halves (tile/halves.cuh) for one f32
// product, by wgmma from a ring of slots. All tiles are computed, also those whose rows do not
// suit. Config gives kTileM, kTileN, kTileK, kWarpM, kRingSlots, kCluster, kInBands and
// kTotalEvery.
#pragma once

#include "tile/cut_off.cuh"
#include "tile/issue_turns.cuh"
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
  using Turns = IssueTurns<Source::kGroups>;

  /// Before the first tile, by the warpgroups that share it.
  static INGOT_DEVICE void begin(i32 thread) { Turns::begin(thread); }

  template <class AddResiduals, class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    AddResiduals add_residuals, Seen seen) {
    const Turns turns(thread);
    const u64 a = Source::first_a(ring, turns.group), b = Source::first_b(ring);
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
      turns.wait();
      ptx::pin(part);
      ptx::wgmma_fence();
      const u64 slot = place.slot * (Source::kSlotBytes >> 4);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(a + slot + (Source::kPlaneOfA >> 4),
                                                                b + slot, false, part);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(
          a + slot, b + slot + (Source::kPlaneOfB >> 4), true, part);
      multiply_slot<Config::kTileN, PackedHalves, PackedHalves>(a + slot, b + slot, true, part);
      ptx::wgmma_commit();
      turns.pass();
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
    add_cut_off<CutOffHalves>(acc);
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
