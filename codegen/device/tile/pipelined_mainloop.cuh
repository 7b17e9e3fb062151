// SPDX-License-Identifier: Apache-2.0
// The pipeline of the tensor-core mainloops of sm_80: a ring of kStages slots in shared memory,
// filled ahead by cp.async or through registers, from which each warp multiplies step by step.
// Config gives kTileM, kTileN, kTileK, kWarpM, kWarpN (the tile of one warp), kStages, kStagedLoads
// and kCompute.
#pragma once

#include "tile/layout.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"

namespace ingot {

// The products P of a warp:
//   kStepBytes               the k of a step, in bytes of a slot
//   kFeeds                   calls of `feed` in a step
//   P(first_a, first_b, behind, thread)  addresses of the first reads in the first slot, and of the
//                            memory behind the slots
//   load(slot)               the operands of the first step of a slot
//   begin_tile(acc)          before the steps of a slot
//   multiply(next_step, next_slot, step, acc, feed)
//                            adds the products of a step, and loads the operands of the next one
//   finish(acc)              behind the last slot

/// Sums the products of a tile. Operands stored in the compute type (f32 for tf32) may be direct;
/// all others are staged.
template <class Config, class A, class B, class Products> struct MmaPipeline {
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK;
  static constexpr int kStages = Config::kStages;
  static constexpr Compute kCompute = Config::kCompute;
  static_assert(kStages >= 2, "one stage is read while another is written");

  using Layout =
      MmaLayout<kTileM / Config::kWarpM, kTileN / Config::kWarpN, Config::kWarpM, Config::kWarpN>;
  using StageA = MmaStage<kCompute, A::kMajor, kTileM, kTileK>;
  using StageB = MmaStage<kCompute, B::kMajor, kTileN, kTileK>;
  static constexpr int kStageBytes = sizes::stage_bytes(kTileM, kTileN, kTileK, StageA::kSize);
  static_assert(StageA::kBytes + StageB::kBytes == kStageBytes, "both operands");
  static constexpr int kRingBytes = kStages * kStageBytes;
  using Ring = StageRing<kStageBytes, kStages>;
  using FragmentsA = MmaFragments<Operand::a, StageA, Config::kWarpM>;
  using FragmentsB = MmaFragments<Operand::b, StageB, Config::kWarpN>;

  /// Adds to `acc`. No copy is in flight when it returns, and the group has passed a barrier.
  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange k,
                               f32 (&acc)[Layout::kRows][Layout::kCols]) {
    u8* const ring = ptx::shared_memory();
    FeedA feed_a;
    FeedB feed_b;
    feed_a.begin(params, {context.batch, context.row0, context.row_end, k}, context.thread);
    feed_b.begin(params, {context.batch, context.col0, context.col_end, k}, context.thread);
    i64 fed_k = k.begin;
    const auto feed_tile = [&](u8* slot) {
      feed_a.feed_tile(params, fed_k, slot);
      feed_b.feed_tile(params, fed_k, slot + StageA::kBytes);
      ptx::cp_async_commit();
    };
    if constexpr (!kFillsInLoop) {
#pragma unroll 1
      for (int stage = 0; stage < kStages - 1; ++stage) {
        feed_tile(ring + stage * kStageBytes);
        fed_k += kTileK;
      }
      ptx::cp_async_wait<kStages - 2>();
      context.barrier();
    }

    const int warp_m0 = Layout::col_warp(context.thread) * Config::kWarpM;
    const int warp_n0 = Layout::row_warp(context.thread) * Config::kWarpN;
    const u32 first = ptx::shared_address(ring);
    Products products(first + FragmentsA::first_offset(warp_m0, context.thread),
                      first + StageA::kBytes + FragmentsB::first_offset(warp_n0, context.thread),
                      ring + kRingBytes, context.thread);
    // The offset of the slot that is read. While the first slots are filled, nothing is read, and
    // it is that of the slot behind the written one.
    int read = kFillsInLoop ? Ring::following(0) : 0;
    if constexpr (!kFillsInLoop) products.load(read);
    // 31 bits suffice: a row of A and one of B with 2^31 tiles are larger than any memory.
    const auto tiles = static_cast<i32>((k.end - k.begin + kTileK - 1) / kTileK);
#pragma unroll 1
    for (i32 left = kFillsInLoop ? tiles + kStages - 1 : tiles; left > 0; --left, fed_k += kTileK) {
      // Its last readers, if any, have passed the barrier of the tile before.
      u8* const written = ring + Ring::preceding(read);
      if constexpr (kFillsInLoop) {
        feed_tile(written);
        if (left > tiles) { // no products yet
          read = Ring::following(read);
          if (left == tiles + 1) {
            context.barrier();
            products.load(read);
          }
          continue;
        }
      }
      products.begin_tile(acc);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          // The next slot is complete and visible to all threads.
          ptx::cp_async_wait<kFedSteps == kSteps ? kStages - 3 : 0>();
          context.barrier();
          read = Ring::following(read);
        }
        // After the last tile this reads a slot that nobody uses.
        products.multiply((step + 1) % kSteps, read, step, acc, [&](int call) {
          if (!kFillsInLoop && step < kFedSteps)
            feed(params, feed_a, feed_b, fed_k, written, step * Products::kFeeds + call);
        });
      }
    }
    products.finish(acc);
    ptx::cp_async_wait<0>();
    context.barrier();
  }

private:
  static constexpr int kSteps = kTileK * StageA::kSize / Products::kStepBytes;
  static_assert(kSteps % 2 == 0, "fragments are double-buffered");
  /// The steps during which a tile is moved. With two slots, the slot that is written is read next,
  /// so it must be complete before the last step waits.
  static constexpr int kFedSteps = kStages == 2 ? kSteps - 1 : kSteps;
  static constexpr int kSlices = kFedSteps * Products::kFeeds;
  static constexpr int kLoads = Config::kStagedLoads;
  /// Staged operands move before a tile's products, not between them. Where both are staged, one
  /// copy of their code fills the first slots too: the loop begins before the first tile. That is a
  /// quarter of such a kernel's code. Fragments of 32-bit values leave no registers for it.
  static constexpr bool kFillsInLoop =
      A::kPath == OperandPath::staged && B::kPath == OperandPath::staged && StageA::kSize == 2;
  using FeedA = MmaFeed<A::kPath, A, StageA, Layout::kThreads, kSlices, 0, kLoads>;
  using FeedB = MmaFeed<B::kPath, B, StageB, Layout::kThreads, kSlices, 1, kLoads>;

  template <class Params>
  static INGOT_DEVICE void feed(const Params& params, FeedA& feed_a, FeedB& feed_b, i64 k0,
                                u8* stage, int slice) {
    feed_a.feed(params, k0, stage, slice);
    feed_b.feed(params, k0, stage + StageA::kBytes, slice);
    // Commits even without copies, because waits count groups.
    if (slice == kSlices - 1) ptx::cp_async_commit();
  }
};

} // namespace ingot
