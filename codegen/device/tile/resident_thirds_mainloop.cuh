// SPDX-License-Identifier: Apache-2.0
// The mainloop by mma.sync of an f32 product whose operand A is a resident tile
// (tile/resident_steps.cuh): six products of bf16 thirds for one (tile/thirds.cuh), or three of two
// parts. A block splits slots for all its warps, and each warp its own tiles. Tiles with a sum that
// is not finite are computed again by FMA.
#pragma once

#include "tile/finite_sums.cuh"
#include "tile/resident_steps.cuh"
#include "tile/thirds_products.cuh"

namespace ingot {

/// A reader of the steps S: by thirds, or by FMA. FMA is slow, and right for every number. Both are
/// one reader, so that the code of the stages is there once.
template <class S> struct ResidentThirdsReader {
  static constexpr int kParts = parts_of(S::kCompute);
  using SplitA = SplitStage<typename S::StageA, kParts>;
  template <class P> using SplitB = SplitStage<typename S::template StageOf<P>, kParts>;
  static constexpr int kBeforeRing = kParts * S::kSlotBytes / 2;
  static constexpr int kSteps = S::kTileK / kThirdsK, kPairs = S::kTileK / 8;
  static constexpr int kBlocks = S::kWarpM / 16;
  bool is_exact = false; ///< by FMA
  f32 zero = 0.0f;       ///< or NaN: an infinite sum times zero

  /// Splits the slot, behind the last products of the one before.
  template <class P, bool kHasRows>
  INGOT_DEVICE u32 take(const u8* slot, const TileContext& context) const {
    if (is_exact) return ptx::shared_address(slot);
    constexpr int kThreads = S::Layout::kThreads;
    u8* const to = context.scratch;
    const i32 thread = ptx::opaque(context.thread);
    if constexpr (kHasRows) SplitA::template run<kThreads>(slot, to, thread);
    SplitB<P>::template run<kThreads>(slot + S::StageA::kBytes, to + SplitA::kBytes, thread);
    context.barrier();
    return ptx::shared_address(to);
  }
  template <int kRows, int kCols> INGOT_DEVICE void check(const f32 (&acc)[kRows][kCols]) {
    zero += times_zero(acc);
  }

  template <class P> struct Products {
    using FragmentsA = MmaFragments<Operand::a, typename SplitA::To, S::kWarpM>;
    using FragmentsB = MmaFragments<Operand::b, typename SplitB<P>::To, P::kCols>;
    using StageB = typename S::template StageOf<P>;
    using Rows = MmaLayout<S::kTileM / S::kWarpM, 1, S::kWarpM, P::kCols>;
    bool is_exact;
    i32 thread;
    u32 first_a, first_b; ///< of the parts

    INGOT_DEVICE Products(const ResidentThirdsReader& reader, i32 of_thread)
        : is_exact(reader.is_exact), thread(of_thread),
          first_a(FragmentsA::first_offset(S::Layout::col_warp(thread) * S::kWarpM, thread)),
          first_b(SplitA::kBytes + FragmentsB::first_offset(0, thread)) {}

    template <int kRows, int kCols>
    INGOT_DEVICE void add_rows(u32 slot, f32 (&acc)[kRows][kCols]) const {
      if (is_exact) return add_rows_by_fma(slot, acc);
#pragma unroll 1
      for (int step = 0; step < kSteps; ++step) {
        u32 a[kBlocks][kParts][4];
        load_thirds<FragmentsA, typename SplitA::To>(slot + first_a, step, a);
        add_thirds<FragmentsB, typename SplitB<P>::To>(a, slot + first_b, step, acc);
      }
    }

    template <int kTileCols, int kRows, int kCols>
    INGOT_DEVICE void add_tile(u32 slot, const f32 (&tile)[kRows][kTileCols], int number,
                               f32 (&acc)[kRows][kCols]) const {
      if (is_exact) return add_tile_by_fma(slot, tile, number, acc);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (number * kSteps + step >= kTileCols / 4) continue;
        u32 a[kBlocks][kParts][4];
        split_step(tile, number * kSteps + step, a);
        add_thirds<FragmentsB, typename SplitB<P>::To>(a, slot + first_b, step, acc);
      }
    }

  private:
    template <int kRows, int kCols>
    INGOT_DEVICE void add_rows_by_fma(u32 slot, f32 (&acc)[kRows][kCols]) const {
#pragma unroll 1
      for (int k = 0; k < S::kTileK; ++k) {
        f32 a[kRows];
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          a[i] = element_at<typename S::StageA>(slot, Rows::row(thread, i), k);
        add_column<Rows, StageB>(thread, slot + S::StageA::kBytes, k, a, acc);
      }
    }

    template <int kTileCols, int kRows, int kCols>
    INGOT_DEVICE void add_tile_by_fma(u32 slot, const f32 (&tile)[kRows][kTileCols], int number,
                                      f32 (&acc)[kRows][kCols]) const {
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
        if (number * kPairs + pair >= kTileCols / 2) continue;
#pragma unroll 1
        for (int k = 0; k < 8; ++k) {
          f32 a[kRows];
          column_of(tile, thread, number * kPairs + pair, k, a);
          add_column<Rows, StageB>(thread, slot + S::StageA::kBytes, pair * 8 + k, a, acc);
        }
      }
    }
  };
};

/// A source for the nested skeleton. Taken: the slots of the kernel's stages with values of tiles.
template <class Config, class T, class LastB, class... Taken> struct ResidentThirdsMainloop {
  using Steps = ResidentSteps<Config, T, LastB, ResidentThirdsReader>;
  using Layout = typename Steps::Layout;
  using Admits = List<>;
  static constexpr int kTileK = Config::kTileK;
  static constexpr bool kFillsRegisters = true;
  static constexpr int kSharedBytes = sizes::resident_thirds_bytes(
      Config::kTileM, Config::kWidest, kTileK, parts_of(Config::kCompute));
  static_assert(kSharedBytes == Steps::R::kBeforeRing + 2 * Steps::kSlotBytes,
                "the thirds of a slot, two slots");

  /// Sets slot 0 to the product, and fills the slots with values of tiles.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange,
                               Fragment<Layout, kSlots>& fragment, Results&) {
    Steps steps;
    TileContext own = context;
#pragma unroll 1
    for (;;) {
      steps.template run<Taken...>(params, own, fragment);
      const bool is_complete = is_zero_in_all<Layout::kThreads>(own, steps.reader.zero);
      if (is_complete || steps.reader.is_exact) return;
      steps.reader.is_exact = true;
      own.thread = ptx::opaque(context.thread);
    }
  }
};

} // namespace ingot
