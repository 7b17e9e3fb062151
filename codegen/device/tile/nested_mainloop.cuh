// SPDX-License-Identifier: Apache-2.0
// A mainloop whose operand A is a tile that the kernel computes itself, step by step along K
// (tile/computed_steps.cuh): the accumulators of its product become the fragments of A.
#pragma once

#include "tile/computed_steps.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kTileK (the step along K, which is the inner tile's columns),
// kDepth, kWarpM, kStagedLoads and kCompute. The operands B are copied one step ahead.

/// A source for the nested skeleton.
template <class Config, class T, class B> struct NestedMainloop {
  using Admits = typename T::Admits;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK, kDepth = Config::kDepth;
  static constexpr int kWarpM = Config::kWarpM;
  static constexpr Compute kCompute = Config::kCompute;
  static constexpr bool kFillsRegisters = true;

  using Layout = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileN>;
  using Inner = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileK>;
  using Element = typename ComputeType<kCompute>::Type;
  using StageOfA = MmaStage<kCompute, T::A::kMajor, kTileM, kDepth>;
  using StageOfB = MmaStage<kCompute, T::B::kMajor, kTileK, kDepth>;
  using StageB = MmaStage<kCompute, B::kMajor, kTileN, kTileK>;
  static constexpr int kSlotBytes = StageOfB::kBytes + StageB::kBytes;
  static constexpr int kSharedBytes =
      sizes::nested_bytes(kTileM, kTileN, kTileK, kDepth, StageOfA::kSize);
  static_assert(StageOfA::kBytes + 2 * kSlotBytes == kSharedBytes, "the tile's rows, two slots");

  /// Sets `acc` to the product. `results` receives the results of the running reductions.
  template <class Params, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange k,
                               f32 (&acc)[Layout::kRows][Layout::kCols], Results& results) {
    u8* const rows = ptx::shared_memory();
    u8* const ring = rows + StageOfA::kBytes;
    const KRange depth = {0, T::depth(params)};
    FeedOfA feed_of_a;
    feed_of_a.begin(params, {context.batch, context.row0, context.row_end, depth}, context.thread);
    feed_of_a.feed_tile(params, 0, rows);
    const StepsAlongK<Inner> steps = {k};
    // Each step computes its addresses again: the sums leave no registers for them.
    const auto feed = [&](i32 step, int slot) {
      if (step < steps.count()) {
        const TileContext tile = steps.tile(context, step);
        const i32 thread = ptx::opaque(context.thread);
        FeedOfB feed_of_b;
        feed_of_b.begin(params, {tile.batch, tile.col0, tile.col_end, depth}, thread);
        feed_of_b.feed_tile(params, 0, ring + slot);
        FeedB feed_b;
        feed_b.begin(params, {tile.batch, context.col0, context.col_end, {tile.col0, tile.col_end}},
                     thread);
        feed_b.feed_tile(params, tile.col0, ring + slot + StageOfB::kBytes);
      }
      ptx::cp_async_commit();
    };

    const Reader reader(rows, ring, context.thread);
    clear(acc);
    Steps computed;
    i32 step = steps.template used<T>(params, context, 0);
    int slot = 0;
    feed(step, slot);
#pragma unroll 1
    while (step < steps.count()) {
      ptx::cp_async_wait<0>();
      context.barrier(); // the slot is complete, and nobody reads the other one
      const i32 next = steps.template used<T>(params, context, step + 1);
      feed(next, kSlotBytes - slot);
      Steps::prefetch_stages(params, steps.tile(context, step));
      typename Steps::Tile tile;
      reader.multiply_inner(slot, tile.v[0]);
      const TileContext own = steps.tile(context, step);
      computed.run_stages(params, own, tile);
      computed.rescale(acc);
      typename Steps::Packed a;
      Steps::pack(params, own, tile, a);
      reader.multiply(slot, a, acc);
      step = next;
      slot = kSlotBytes - slot;
    }
    ptx::cp_async_wait<0>();
    context.barrier();
    computed.finish(context.thread, results);
  }

private:
  /// An operand whose chunks are addressed one by one, from the place of the step's first one.
  template <class X> struct ByChunk : X {
    static constexpr bool kAffine = false;
  };
  template <class X, class Stage>
  using Feed = MmaFeed<X::kPath, ByChunk<X>, Stage, Layout::kThreads, 1, 0, Config::kStagedLoads>;
  using FeedOfA = Feed<typename T::A, StageOfA>;
  using FeedOfB = Feed<typename T::B, StageOfB>;
  using FeedB = Feed<B, StageB>;
  using Steps = ComputedSteps<T, Inner, Element>;

  /// The products of a warp.
  struct Reader {
    using FragmentsOfA = MmaFragments<Operand::a, StageOfA, kWarpM>;
    using FragmentsOfB = MmaFragments<Operand::b, StageOfB, kTileK>;
    using FragmentsB = MmaFragments<Operand::b, StageB, kTileN>;
    static constexpr int kK = 32 / StageOfA::kSize; ///< of a product
    u32 first_of_a, first_of_b, first_b;

    INGOT_DEVICE Reader(u8* rows, u8* ring, i32 thread)
        : first_of_a(ptx::shared_address(rows) +
                     FragmentsOfA::first_offset(Layout::col_warp(thread) * kWarpM, thread)),
          first_of_b(ptx::shared_address(ring) + FragmentsOfB::first_offset(0, thread)),
          first_b(ptx::shared_address(ring) + StageOfB::kBytes +
                  FragmentsB::first_offset(0, thread)) {}

    INGOT_DEVICE void multiply_inner(int slot, f32 (&acc)[Inner::kRows][Inner::kCols]) const {
      clear(acc);
      // Unrolled in part: else the compiler loads so early that registers spill.
#pragma unroll 4
      for (int step = 0; step < kDepth / kK; ++step) {
        FragmentsOfA a;
        a.load(first_of_a, step);
        multiply_by_columns<kCompute, FragmentsOfB>(a.block, first_of_b + slot, step, acc);
      }
    }

    INGOT_DEVICE void multiply(int slot, const typename Steps::Packed& packed,
                               f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
      for (int step = 0; step < kTileK / kK; ++step) {
        u32 a[Inner::kRows / 2][4];
#pragma unroll
        for (int i = 0; i < Inner::kRows / 2; ++i) {
#pragma unroll
          for (int r = 0; r < 4; ++r) a[i][r] = packed[i][step][r];
        }
        multiply_by_columns<kCompute, FragmentsB>(a, first_b + slot, step, acc);
      }
    }
  };
};

} // namespace ingot
