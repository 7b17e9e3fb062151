// SPDX-License-Identifier: Apache-2.0
// The mainloop by mma.sync of a product of 16-bit operands whose operand A is a resident tile
// (tile/resident_steps.cuh).
#pragma once

#include "tile/resident_steps.cuh"

namespace ingot {

/// A reader of the steps S: multiplies a slot as it is.
template <class S> struct ResidentReader {
  static constexpr int kBeforeRing = 0;
  static constexpr int kSteps = S::kTileK * static_cast<int>(sizeof(typename S::Element)) / 32;

  template <class P, bool kHasRows>
  static INGOT_DEVICE u32 take(const u8* slot, const TileContext&) {
    return ptx::shared_address(slot);
  }
  template <int kRows, int kCols> INGOT_DEVICE void check(const f32 (&)[kRows][kCols]) const {}

  template <class P> struct Products {
    using FragmentsA = MmaFragments<Operand::a, typename S::StageA, S::kWarpM>;
    using FragmentsB = MmaFragments<Operand::b, typename S::template StageOf<P>, P::kCols>;
    u32 first_a, first_b;

    INGOT_DEVICE Products(const ResidentReader&, i32 thread)
        : first_a(FragmentsA::first_offset(S::Layout::col_warp(thread) * S::kWarpM, thread)),
          first_b(S::StageA::kBytes + FragmentsB::first_offset(0, thread)) {}

    template <int kRows, int kCols>
    INGOT_DEVICE void add_rows(u32 slot, f32 (&acc)[kRows][kCols]) const {
      // Unrolled in part: else the compiler loads so early that registers spill.
#pragma unroll 2
      for (int step = 0; step < kSteps; ++step) {
        FragmentsA a;
        a.load(slot + first_a, step);
        multiply_by_columns<S::kCompute, FragmentsB>(a.block, slot + first_b, step, acc);
      }
    }

    template <int kFragments, int kRows, int kCols>
    INGOT_DEVICE void add_tile(u32 slot, const u32 (&tile)[kRows / 2][kFragments][4], int number,
                               f32 (&acc)[kRows][kCols]) const {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (number * kSteps + step >= kFragments) continue;
        u32 a[kRows / 2][4];
#pragma unroll
        for (int i = 0; i < kRows / 2; ++i) {
#pragma unroll
          for (int r = 0; r < 4; ++r) a[i][r] = tile[i][number * kSteps + step][r];
        }
        multiply_by_columns<S::kCompute, FragmentsB>(a, slot + first_b, step, acc);
      }
    }
  };
};

/// A source for the nested skeleton. Taken: the slots of the kernel's stages with values of tiles.
template <class Config, class T, class LastB, class... Taken> struct ResidentMainloop {
  using Steps = ResidentSteps<Config, T, LastB, ResidentReader>;
  using Layout = typename Steps::Layout;
  using Admits = List<>;
  static constexpr int kTileK = Config::kTileK;
  static constexpr bool kFillsRegisters = true;
  static constexpr int kSharedBytes = sizes::resident_bytes(Config::kTileM, Config::kWidest, kTileK,
                                                            sizeof(typename Steps::Element));
  static_assert(kSharedBytes == 2 * Steps::kSlotBytes, "two slots");

  /// Sets slot 0 to the product, and fills the slots with values of tiles.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange,
                               Fragment<Layout, kSlots>& fragment, Results&) {
    Steps().template run<Taken...>(params, context, fragment);
  }
};

} // namespace ingot
