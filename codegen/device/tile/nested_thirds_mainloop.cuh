// SPDX-License-Identifier: Apache-2.0
// The mainloop of an f32 product whose operand A the kernel computes step by step
// (tile/nested_steps.cuh): six products of bf16 thirds for one (tile/thirds.cuh), or three of two
// parts. A block splits the operands behind the slots, for all its warps. A tile with a sum that is
// not finite is computed again by FMA.
#pragma once

#include "tile/finite_sums.cuh"
#include "tile/nested_steps.cuh"
#include "tile/thirds_products.cuh"

namespace ingot {

/// The members that both readers of the steps S have.
template <class S> struct F32Reader {
  using Steps = typename S::Steps;
  using Inner = typename S::Inner;
  using Layout = typename S::Layout;
  using Packed = PackedTile<f32, Inner>;

  template <class Params>
  static INGOT_DEVICE void pack(const Params& params, const TileContext& own,
                                typename Steps::Tile& tile, Packed& packed) {
    pack_tile<f32, typename Steps::Value>(params, own, tile, ReduceResults<Inner>(own.thread),
                                          packed);
  }
};

template <class S> struct ThirdsReader : F32Reader<S> {
  using Base = F32Reader<S>;
  using typename Base::Inner;
  using typename Base::Layout;
  using typename Base::Packed;
  static constexpr int kParts = parts_of(S::kCompute);
  using SplitOfA = SplitStage<typename S::StageOfA, kParts>;
  using SplitOfB = SplitStage<typename S::StageOfB, kParts>;
  using SplitB = SplitStage<typename S::StageB, kParts>;
  using FragmentsOfA = MmaFragments<Operand::a, typename SplitOfA::To, S::kWarpM>;
  using FragmentsOfB = MmaFragments<Operand::b, typename SplitOfB::To, S::kTileK>;
  using FragmentsB = MmaFragments<Operand::b, typename SplitB::To, S::kTileN>;
  static constexpr bool kSplits = true;
  static constexpr int kFirstOfB = SplitOfA::kBytes, kFirstB = kFirstOfB + SplitOfB::kBytes;
  static constexpr int kBeforeRing = kFirstB + SplitB::kBytes;
  static constexpr int kBlocks = S::kWarpM / 16;
  u32 first_of_a, first_of_b, first_b;

  INGOT_DEVICE ThirdsReader(u8* memory, u8*, i32 thread)
      : first_of_a(ptx::shared_address(memory) +
                   FragmentsOfA::first_offset(Layout::col_warp(thread) * S::kWarpM, thread)),
        first_of_b(ptx::shared_address(memory) + kFirstOfB + FragmentsOfB::first_offset(0, thread)),
        first_b(ptx::shared_address(memory) + kFirstB + FragmentsB::first_offset(0, thread)) {}

  static INGOT_DEVICE void split_rows(u8* memory, const u8* rows, i32 thread) {
    SplitOfA::template run<Layout::kThreads>(rows, memory, thread);
  }
  static INGOT_DEVICE void split_slot(u8* memory, const u8* slot, i32 thread) {
    SplitOfB::template run<Layout::kThreads>(slot, memory + kFirstOfB, thread);
    SplitB::template run<Layout::kThreads>(slot + S::StageOfB::kBytes, memory + kFirstB, thread);
  }

  INGOT_DEVICE void multiply_inner(int, f32 (&acc)[Inner::kRows][Inner::kCols]) const {
    clear(acc);
#pragma unroll 1
    for (int step = 0; step < S::kDepth / kThirdsK; ++step) {
      u32 a[kBlocks][kParts][4];
      load_thirds<FragmentsOfA, typename SplitOfA::To>(first_of_a, step, a);
      add_thirds<FragmentsOfB, typename SplitOfB::To>(a, first_of_b, step, acc);
    }
    // An exponential of -Inf would hide a sum that thirds do not hold: it becomes NaN, which
    // reaches the sums of the tile if the element is used.
    for_all<Inner>([&](int i, int j) { acc[i][j] = ptx::fma(acc[i][j], 0.0f, acc[i][j]); });
  }

  INGOT_DEVICE void multiply(int, const Packed& packed,
                             f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
    for (int step = 0; step < S::kTileK / kThirdsK; ++step) {
      u32 a[kBlocks][kParts][4];
      split_step(packed, step, a);
      add_thirds<FragmentsB, typename SplitB::To>(a, first_b, step, acc);
    }
  }
};

/// By FMA. Slow, and right for every number.
template <class S> struct FmaReader : F32Reader<S> {
  using Base = F32Reader<S>;
  using typename Base::Inner;
  using typename Base::Layout;
  using typename Base::Packed;
  static constexpr int kBeforeRing = S::StageOfA::kBytes;
  static constexpr bool kSplits = false;
  u32 first_of_a, first_of_b, first_b;
  i32 thread;

  INGOT_DEVICE FmaReader(u8* rows, u8* ring, i32 of_thread)
      : first_of_a(ptx::shared_address(rows)), first_of_b(ptx::shared_address(ring)),
        first_b(ptx::shared_address(ring) + S::StageOfB::kBytes), thread(of_thread) {}

  INGOT_DEVICE void multiply_inner(int slot, f32 (&acc)[Inner::kRows][Inner::kCols]) const {
    clear(acc);
#pragma unroll 1
    for (int k = 0; k < S::kDepth; ++k) {
      f32 a[Inner::kRows];
#pragma unroll
      for (int i = 0; i < Inner::kRows; ++i)
        a[i] = element_at<typename S::StageOfA>(first_of_a, Inner::row(thread, i), k);
      add_column<Inner, typename S::StageOfB>(thread, first_of_b + slot, k, a, acc);
    }
  }

  INGOT_DEVICE void multiply(int slot, const Packed& packed,
                             f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
    for (int pair = 0; pair < Inner::kCols / 2; ++pair) {
#pragma unroll 1
      for (int k = 0; k < 8; ++k) {
        f32 a[Inner::kRows];
        column_of(packed, thread, pair, k, a);
        add_column<Layout, typename S::StageB>(thread, first_b + slot, pair * 8 + k, a, acc);
      }
    }
  }
};

/// A source for the nested skeleton.
template <class Config, class T, class B>
struct NestedThirdsMainloop : NestedSteps<Config, T, B, ThirdsReader> {
  using Base = NestedSteps<Config, T, B, ThirdsReader>;
  using Safe = NestedSteps<Config, T, B, FmaReader>;
  using typename Base::Layout;
  static constexpr int kSharedBytes = sizes::nested_thirds_bytes(
      Base::kTileM, Base::kTileN, Base::kTileK, Base::kDepth, parts_of(Base::kCompute));
  static_assert(ThirdsReader<Base>::kBeforeRing + 2 * Base::kSlotBytes == kSharedBytes &&
                    Base::StageOfA::kBytes + 2 * Base::kSlotBytes <= kSharedBytes,
                "either way");

  /// Sets slot 0 to the product. `results` receives the results of the running reductions.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange k,
                               Fragment<Layout, kSlots>& fragment, Results& results) {
    typename Base::Steps computed;
    Base::run_steps(params, context, k, fragment.v[0], computed);
    if (are_finite<Layout>(context, fragment.v[0])) return computed.finish(context.thread, results);
    TileContext again = context;
    again.thread = ptx::opaque(context.thread);
    typename Safe::Steps exact;
    Safe::run_steps(params, again, k, fragment.v[0], exact);
    exact.finish(again.thread, results);
  }
};

} // namespace ingot
