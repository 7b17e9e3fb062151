// SPDX-License-Identifier: Apache-2.0
// The mainloop of an f32 product whose operand A the kernel computes step by step
// (tile/nested_steps.cuh): six products of bf16 thirds for one (tile/thirds.cuh). A block splits
// the operands behind the slots, for all its warps. A tile with a sum that is not finite is
// computed again by FMA.
#pragma once

#include "tile/finite_sums.cuh"
#include "tile/nested_steps.cuh"
#include "tile/thirds_fragments.cuh"

namespace ingot {

/// The f32 elements of a tile, as an operand: those past its columns are 0.
template <class Value, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void keep_elements(const Params& params, const TileContext& own,
                                Fragment<L, kSlots>& tile, const Results& results,
                                f32 (&elements)[L::kRows][L::kCols]) {
  const TileBounds<L> bounds(own);
  for_each_element<Value>(params, own, tile, results, [&](int i, int j, i64, i64, f32 value) {
    elements[i][j] = bounds.col(j) ? value : 0.0f;
  });
}

/// The members that both readers of the steps S have.
template <class S> struct F32Reader {
  using Steps = typename S::Steps;
  using Inner = typename S::Inner;
  using Layout = typename S::Layout;
  using Packed = f32[Inner::kRows][Inner::kCols];

  template <class Params>
  static INGOT_DEVICE void pack(const Params& params, const TileContext& own,
                                typename Steps::Tile& tile, Packed& packed) {
    keep_elements<typename Steps::Value>(params, own, tile, ReduceResults<Inner>(own.thread),
                                         packed);
  }

  /// The shared address of an element of an operand at `first`.
  template <class Stage> static INGOT_DEVICE u32 at(u32 first, int mn, int k) {
    const int line = Stage::kMajor == Major::k ? mn : k, along = Stage::kMajor == Major::k ? k : mn;
    return first + Stage::offset(line, along / Stage::kChunk) + along % Stage::kChunk * 4;
  }
};

/// The thirds of a tile of f32 in shared memory: three tiles of bf16, one behind the other.
template <class From> struct SplitStage {
  static constexpr bool kIsK = From::kMajor == Major::k;
  using To = MmaStage<Compute::bf16, From::kMajor, kIsK ? From::kLines : From::kLine,
                      kIsK ? From::kLine : From::kLines>;
  static constexpr int kBytes = kThirds * To::kBytes;

  /// By kThreads threads: four elements at a time.
  template <int kThreads> static INGOT_DEVICE void run(const u8* from, u8* to, i32 thread) {
    constexpr int kCount = From::kLines * From::kChunks;
#pragma unroll 4
    for (int number = thread; number < kCount; number += kThreads) {
      const int line = number / From::kChunks, chunk = number % From::kChunks;
      const auto four = *reinterpret_cast<const Vector<f32, 4>*>(from + From::offset(line, chunk));
      u32 low[kThirds], high[kThirds];
      split_pair(four.v[0], four.v[1], low);
      split_pair(four.v[2], four.v[3], high);
      u8* const at = to + To::offset(line, chunk / 2) + chunk % 2 * 8;
#pragma unroll
      for (int third = 0; third < kThirds; ++third)
        *reinterpret_cast<Vector<u32, 2>*>(at + third * To::kBytes) = {{low[third], high[third]}};
    }
  }
};

template <class S> struct ThirdsReader : F32Reader<S> {
  using Base = F32Reader<S>;
  using typename Base::Inner;
  using typename Base::Layout;
  using typename Base::Packed;
  using SplitOfA = SplitStage<typename S::StageOfA>;
  using SplitOfB = SplitStage<typename S::StageOfB>;
  using SplitB = SplitStage<typename S::StageB>;
  using FragmentsOfA = MmaFragments<Operand::a, typename SplitOfA::To, S::kWarpM>;
  using FragmentsOfB = MmaFragments<Operand::b, typename SplitOfB::To, S::kTileK>;
  using FragmentsB = MmaFragments<Operand::b, typename SplitB::To, S::kTileN>;
  static constexpr bool kSplits = true;
  static constexpr int kFirstOfB = SplitOfA::kBytes, kFirstB = kFirstOfB + SplitOfB::kBytes;
  static constexpr int kBeforeRing = kFirstB + SplitB::kBytes;
  static constexpr int kK = 16; ///< of a step
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
    for (int step = 0; step < S::kDepth / kK; ++step) {
      FragmentsOfA fragments;
      u32 a[kBlocks][kThirds][4];
#pragma unroll
      for (int third = 0; third < kThirds; ++third) {
        fragments.load(first_of_a + third * SplitOfA::To::kBytes, step);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
          for (int r = 0; r < 4; ++r) a[i][third][r] = fragments.block[i][r];
        }
      }
      add_products<FragmentsOfB>(a, first_of_b, SplitOfB::To::kBytes, step, acc);
    }
    // An exponential of -Inf would hide a sum that thirds do not hold: it becomes NaN, which
    // reaches the sums of the tile if the element is used.
    for_all<Inner>([&](int i, int j) { acc[i][j] = ptx::fma(acc[i][j], 0.0f, acc[i][j]); });
  }

  INGOT_DEVICE void multiply(int, const Packed& packed,
                             f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
    for (int step = 0; step < S::kTileK / kK; ++step) {
      u32 a[kBlocks][kThirds][4];
      split_step(packed, step, a);
      add_products<FragmentsB>(a, first_b, SplitB::To::kBytes, step, acc);
    }
  }

private:
  /// The thirds of a step's k of the operand. A thread has pairs of adjacent k in the accumulators
  /// and in the fragments (tile/packed_fragments.cuh).
  static INGOT_DEVICE void split_step(const Packed& packed, int step,
                                      u32 (&a)[kBlocks][kThirds][4]) {
#pragma unroll
    for (int i = 0; i < Inner::kRows; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int j = 4 * step + 2 * half;
        u32 pair[kThirds];
        split_pair(packed[i][j], packed[i][j + 1], pair);
#pragma unroll
        for (int third = 0; third < kThirds; ++third)
          a[i / 2][third][i % 2 + 2 * half] = pair[third];
      }
    }
  }

  /// Adds the products of a step with all columns of B, whose thirds are `stride` bytes apart.
  template <class Fragments, int kRows, int kCols>
  static INGOT_DEVICE void add_products(const u32 (&a)[kBlocks][kThirds][4], u32 first, int stride,
                                        int step, f32 (&acc)[kRows][kCols]) {
#pragma unroll
    for (int column = 0; column < kCols / 4; ++column) {
      Fragments fragments;
      u32 b[kThirds][4];
#pragma unroll
      for (int third = 0; third < kThirds; ++third) {
        fragments.load_block(first + third * stride, step, column);
#pragma unroll
        for (int r = 0; r < 4; ++r) b[third][r] = fragments.block[column][r];
      }
      f32 part[2 * kBlocks][4];
      multiply_thirds(a, b, part);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          acc[i][4 * column + j] = ptx::fma(part[i][j], kThirdsUnscale, acc[i][4 * column + j]);
      }
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
        a[i] = element<typename S::StageOfA>(first_of_a, Inner::row(thread, i), k);
      add_column<Inner, typename S::StageOfB>(first_of_b + slot, k, a, acc);
    }
  }

  INGOT_DEVICE void multiply(int slot, const Packed& packed,
                             f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
    for (int pair = 0; pair < Inner::kCols / 2; ++pair) {
#pragma unroll 1
      for (int k = 0; k < 8; ++k) {
        f32 a[Inner::kRows];
#pragma unroll
        for (int i = 0; i < Inner::kRows; ++i)
          a[i] = ptx::shuffle_xor(k % 2 == 0 ? packed[i][2 * pair] : packed[i][2 * pair + 1],
                                  static_cast<i32>(index_of(thread) % 4) ^ k / 2);
        add_column<Layout, typename S::StageB>(first_b + slot, pair * 8 + k, a, acc);
      }
    }
  }

private:
  template <class Stage> static INGOT_DEVICE f32 element(u32 first, int mn, int k) {
    return ptx::as_f32(ptx::load_shared(Base::template at<Stage>(first, mn, k)));
  }
  template <class L, class Stage>
  INGOT_DEVICE void add_column(u32 first, int k, const f32 (&a)[L::kRows],
                               f32 (&acc)[L::kRows][L::kCols]) const {
#pragma unroll
    for (int j = 0; j < L::kCols; ++j) {
      const f32 b = element<Stage>(first, L::col(thread, j), k);
#pragma unroll
      for (int i = 0; i < L::kRows; ++i) acc[i][j] = ptx::fma(a[i], b, acc[i][j]);
    }
  }
};

/// A source for the nested skeleton.
template <class Config, class T, class B>
struct NestedThirdsMainloop : NestedSteps<Config, T, B, ThirdsReader> {
  using Base = NestedSteps<Config, T, B, ThirdsReader>;
  using Safe = NestedSteps<Config, T, B, FmaReader>;
  using typename Base::Layout;
  static constexpr int kSharedBytes =
      sizes::nested_thirds_bytes(Base::kTileM, Base::kTileN, Base::kTileK, Base::kDepth);
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
