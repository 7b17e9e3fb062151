// SPDX-License-Identifier: Apache-2.0
// The tensor-core mainloop of sm_80. It has a ring of kStages slots in shared memory, filled ahead
// by cp.async or through registers, and register fragments that are loaded one step before their
// use. Config gives kTileM, kTileN, kTileK, kWarpM, kWarpN (the tile of one warp), kStages,
// kStagedLoads and kCompute.
#pragma once

#include "tile/layout.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"

namespace ingot {

/// A source as in tile/matrix.cuh. Operands stored in the compute type (f32 for tf32) may be
/// direct; all others are staged.
template <class Config, class A, class B> struct MmaMainloop {
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK;
  static constexpr int kStages = Config::kStages;
  static constexpr Compute kCompute = Config::kCompute;
  static constexpr bool kCompensated = false;
  static constexpr bool kFillsRegisters = false;
  static_assert(kStages >= 2, "one stage is read while another is written");

  using Layout =
      MmaLayout<kTileM / Config::kWarpM, kTileN / Config::kWarpN, Config::kWarpM, Config::kWarpN>;
  using StageA = MmaStage<kCompute, A::kMajor, kTileM, kTileK>;
  using StageB = MmaStage<kCompute, B::kMajor, kTileN, kTileK>;
  static constexpr int kStageBytes = sizes::stage_bytes(kTileM, kTileN, kTileK, StageA::kSize);
  static_assert(StageA::kBytes + StageB::kBytes == kStageBytes, "both operands");
  static constexpr int kSharedBytes = kStages * kStageBytes;
  using Ring = StageRing<kStageBytes, kStages>;

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64, i64, KRange k,
                               f32 (&acc)[Layout::kRows][Layout::kCols]) {
    clear(acc);
    u8* const ring = ptx::shared_memory();
    FeedA feed_a;
    FeedB feed_b;
    feed_a.begin(params, {context.batch, context.row0, context.row_end, k}, context.thread);
    feed_b.begin(params, {context.batch, context.col0, context.col_end, k}, context.thread);
    i64 fed_k = k.begin;
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
#pragma unroll
      for (int slice = 0; slice < kSlices; ++slice)
        feed(params, feed_a, feed_b, fed_k, ring + stage * kStageBytes, slice);
      fed_k += kTileK;
    }
    ptx::cp_async_wait<kStages - 2>();
    context.barrier();

    const int warp_m0 = Layout::col_warp(context.thread) * Config::kWarpM;
    const int warp_n0 = Layout::row_warp(context.thread) * Config::kWarpN;
    const u32 first_a =
        ptx::shared_address(ring) + FragmentsA::first_offset(warp_m0, context.thread);
    const u32 first_b = ptx::shared_address(ring) + StageA::kBytes +
                        FragmentsB::first_offset(warp_n0, context.thread);
    FragmentsA a[2];
    FragmentsB b[2];
    int read = 0; // offset of the slot that is read
    a[0].load(first_a, 0);
    b[0].load(first_b, 0);

    for (i64 tiles = (k.end - k.begin + kTileK - 1) / kTileK; tiles > 0; --tiles) {
      // The last readers of the slot before this one have passed the barrier of the tile before.
      u8* const written = ring + Ring::preceding(read);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          // The next slot is complete and visible to all threads.
          ptx::cp_async_wait<kFedSteps == kSteps ? kStages - 3 : 0>();
          context.barrier();
          read = Ring::following(read);
        }
        // After the last tile this reads a slot that nobody uses.
        a[(step + 1) % 2].load(first_a + read, (step + 1) % kSteps);
        b[(step + 1) % 2].load(first_b + read, (step + 1) % kSteps);
        if constexpr (kRoundA) a[step % 2].round();
        if constexpr (kRoundB) b[step % 2].round();
        multiply<kCompute>(a[step % 2], b[step % 2], acc, [&](int block) {
          if (step < kFedSteps)
            feed(params, feed_a, feed_b, fed_k, written, step * kBlocks + block);
        });
      }
      fed_k += kTileK;
    }
    ptx::cp_async_wait<0>();
    context.barrier();
  }

private:
  static constexpr int kSteps = kTileK * StageA::kSize / 32;
  /// The steps during which a tile is moved. With two slots, the slot that is written is read next,
  /// so it must be complete before the last step waits.
  static constexpr int kFedSteps = kStages == 2 ? kSteps - 1 : kSteps;
  static constexpr int kBlocks = Config::kWarpM / 16; ///< blocks of products in a step
  static constexpr int kSlices = kFedSteps * kBlocks; ///< one before each block
  static constexpr int kLoads = Config::kStagedLoads;
  using FeedA = MmaFeed<A::kPath, A, StageA, Layout::kThreads, kSlices, 0, kLoads>;
  using FeedB = MmaFeed<B::kPath, B, StageB, Layout::kThreads, kSlices, 1, kLoads>;
  using FragmentsA = MmaFragments<Operand::a, StageA, Config::kWarpM>;
  using FragmentsB = MmaFragments<Operand::b, StageB, Config::kWarpN>;
  static constexpr bool kRoundA = kCompute == Compute::tf32 && A::kPath == OperandPath::direct;
  static constexpr bool kRoundB = kCompute == Compute::tf32 && B::kPath == OperandPath::direct;

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
