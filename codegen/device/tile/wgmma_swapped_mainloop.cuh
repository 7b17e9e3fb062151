// SPDX-License-Identifier: Apache-2.0
// The mainloop of a product in TF32 by wgmma (sm_90a) whose B has contiguous columns. In shared
// memory wgmma reads f32 only with contiguous k, but in registers an operand may lie in any way.
// Only the first operand may be in registers. So the mainloop computes C^T = B^T A^T, with B^T in
// registers. Config gives kTileM, kTileN, kTileK, kRingSlots, kCluster and kInBands.
#pragma once

#include "ptx/shared.cuh"
#include "tile/wgmma_mainloop.cuh"

namespace ingot {

/// Reads a thread's elements of B^T from a slot: of its columns 0 and 1, of all k of the slot.
/// While products read one set of registers, the next slot is read to the other one.
template <class Layout, class Ring, int kBytesOfA> struct ReadsColumns {
  static constexpr int kSets = 2;
  u32 (&sets)[kSets][kSlotSteps][4];
  Ring ring;
  u32 first[2]; ///< addresses of k 0 to 3 and of k 4 to 7 in the first slot

  INGOT_DEVICE ReadsColumns(i32 thread, Ring ring, u32 (&sets)[kSets][kSlotSteps][4])
      : sets(sets), ring(ring) {
    constexpr u32 kBoxBytes = 32 * 128; // of 32 columns and 32 k
    const u32 column = static_cast<u32>(Layout::first_col(thread));
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
      const u32 k = index_of(thread) % 4 + 4 * half;
      first[half] = kBytesOfA + column / 32 * kBoxBytes + k * 128 + (column % 32 * 4 ^ k << 4);
    }
  }

  INGOT_DEVICE void operator()(int set, u32 slot) const {
#pragma unroll
    for (int step = 0; step < kSlotSteps; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        ptx::load_shared(ring.slot(slot) + first[half] + step * 8 * 128, sets[set][step][2 * half],
                         sets[set][step][2 * half + 1]);
    }
  }
};

template <class Config, class A, class B>
struct WgmmaSwappedMainloop : SlotsOfOperands<Config, A, B, 1, Config::kTileN / 64> {
  using Slots = SlotsOfOperands<Config, A, B, 1, Config::kTileN / 64>;
  using typename Slots::Place;
  using typename Slots::Ring;
  static_assert(Slots::TensorA::kMajor == Major::k && Slots::TensorB::kMajor == Major::mn,
                "A is described, and B is in registers");
  using Layout = SwappedLayout<Slots::kTileM, Slots::kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];
  static constexpr bool kCompensated = false;
  static constexpr int kFactorBytes = 0;
  static constexpr bool kListsResiduals = false;

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    const u64 a = Slots::first_a(ring, 0);
    f32 sums[Layout::kCols][Layout::kRows]; // of C^T
    clear(sums);
    u32 columns[2][kSlotSteps][4];
    const ReadsColumns<Layout, Ring, Slots::kBytesOfA> read(thread, ring, columns);
    multiply_slots<Slots::kSlotBytes>(
        thread, Slots::slots_of(k), ring, place, [&] { ptx::pin(sums); }, read,
        [&](int set, u32 units) {
#pragma unroll
          for (int step = 0; step < kSlotSteps; ++step)
            ptx::WgmmaFromRegisters<Slots::kTileM, f32, false>::run(
                sums, columns[set][step], a + units + step * kStepUnits<Major::k>);
        },
        seen);
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) acc[i][j] = sums[j][i];
    }
  }
};

} // namespace ingot
