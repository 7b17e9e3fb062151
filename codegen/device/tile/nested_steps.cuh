// SPDX-License-Identifier: Apache-2.0
// The steps of a mainloop on sm_80 whose operand A is a tile that the kernel computes itself, step
// by step along K (tile/computed_steps.cuh): the accumulators of its product become operand A.
#pragma once

#include "tile/computed_steps.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kTileK (the step along K, which is the inner tile's columns),
// kDepth, kWarpM, kStagedLoads and kCompute. The operands B are copied one step ahead.

// A reader multiplies from the slots, as one thread of a block. It has
//   Reader(memory, ring, thread)   the places of the memory before the ring, and of the first slot
//   kBeforeRing                    bytes of that memory. It has the inner A's rows, unless kSplits
//   kSplits                        operands are split from the ring to that memory, all at a time:
//                                  split_rows(memory, ring, thread), of the inner A, which goes
//                                  through the ring first, and split_slot(memory, slot, thread)
//   Packed                         a step's tile as operand A of a thread
//   multiply_inner(slot, acc)      sets acc to the inner product of the slot `slot` bytes on
//   pack(params, own, tile, packed)
//                                  makes the operand of a tile whose stages have run
//   multiply(slot, packed, acc)    adds the operand's product

/// The steps of a tile by readers of the template Reader.
template <class Config, class T, class B, template <class> class Reader> struct NestedSteps {
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

  using Steps = ComputedSteps<T, Inner, Element>;

  /// Sets `acc` to the product, and the running sums. The slots are free behind.
  template <class Params>
  static INGOT_DEVICE void run_steps(const Params& params, const TileContext& context, KRange k,
                                     f32 (&acc)[Layout::kRows][Layout::kCols], Steps& computed) {
    using R = Reader<NestedSteps>;
    u8* const memory = context.scratch;
    u8* const ring = memory + R::kBeforeRing;
    const KRange depth = {0, T::depth(params)};
    FeedOfA feed_of_a;
    feed_of_a.begin(params, {context.batch, context.row0, context.row_end, depth}, context.thread);
    feed_of_a.feed_tile(params, 0, R::kSplits ? ring : memory);
    if constexpr (R::kSplits) {
      static_assert(StageOfA::kBytes <= 2 * kSlotBytes, "rows go through the ring");
      ptx::cp_async_commit();
      ptx::cp_async_wait<0>();
      context.barrier();
      R::split_rows(memory, ring, context.thread);
      context.barrier();
    }
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

    const R reader(memory, ring, context.thread);
    clear(acc);
    i32 step = steps.template used<T>(params, context, 0);
    int slot = 0;
    feed(step, slot);
#pragma unroll 1
    while (step < steps.count()) {
      ptx::cp_async_wait<0>();
      context.barrier(); // the slot is complete, and nobody reads the other one
      const i32 next = steps.template used<T>(params, context, step + 1);
      feed(next, kSlotBytes - slot);
      if constexpr (R::kSplits) {
        R::split_slot(memory, ring + slot, ptx::opaque(context.thread));
        context.barrier();
      }
      Steps::prefetch_stages(params, steps.tile(context, step));
      typename Steps::Tile tile;
      reader.multiply_inner(slot, tile.v[0]);
      const TileContext own = steps.tile(context, step);
      computed.run_stages(params, own, tile);
      computed.rescale(acc);
      typename R::Packed a;
      R::pack(params, own, tile, a);
      reader.multiply(slot, a, acc);
      step = next;
      slot = kSlotBytes - slot;
    }
    ptx::cp_async_wait<0>();
    context.barrier();
  }

private:
  template <class X, class Stage>
  using Feed = MmaFeed<X::kPath, ByCopy<X>, Stage, Layout::kThreads, 1, 0, Config::kStagedLoads>;
  using FeedOfA = Feed<typename T::A, StageOfA>;
  using FeedOfB = Feed<typename T::B, StageOfB>;
  using FeedB = Feed<B, StageB>;
};

} // namespace ingot
