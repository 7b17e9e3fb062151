// SPDX-License-Identifier: Apache-2.0
// The f32 FMA mainloop for operands that are copied unchanged. It has a ring of kStages slots in
// shared memory, which cp.async fills ahead, and register fragments of four k, which are loaded one
// step before their use. A sum is one FMA chain in ascending k, as in tile/simt_mainloop.cuh. An SM
// issues no more instructions than the FMAs that it can execute, so every other instruction costs
// time: here 1 in 11. Config gives kTileM and kTileN, 64 or 128, kTileK and kStages.
#pragma once

#include "ptx/fma.cuh"
#include "tile/layout.cuh"
#include "tile/mma_feed.cuh"

namespace ingot {

/// The layout of one operand's tile in a slot: lines along the operand's major index. The threads
/// of a warp read one chunk of lines that are 4 apart (k-major), which the swizzle spreads over all
/// banks, or adjacent chunks of one line.
template <Major kMajor, int kTileMn, int kTileK>
struct FmaStage : StageLines<FmaStage<kMajor, kTileMn, kTileK>, kMajor, f32, kTileMn, kTileK> {
  using Lines = StageLines<FmaStage, kMajor, f32, kTileMn, kTileK>;
  static constexpr int kPeriod = kMajor == Major::k ? 4 * Lines::kChunks : 1;
  static_assert(kMajor == Major::mn || Lines::kChunks == 8, "a line covers all banks");

  static INGOT_DEVICE int swizzle(int line) {
    return kMajor == Major::k ? line / 4 % Lines::kChunks : 0;
  }
};

/// The values of a thread for one operand and four k. They belong to its blocks of 4 rows or
/// columns, which are kBlockStep apart.
template <class Stage, int kCount, int kBlockStep> struct FmaFragment {
  static constexpr bool kAlongK = Stage::kMajor == Major::k;
  static_assert(kBlockStep % Stage::kPeriod == 0, "a thread's lines are swizzled alike");
  f32 value[4][kCount]; ///< indexed by k, then by row or column

  /// The offset of the thread's first read in a slot. `first` is its first row or column, a
  /// multiple of 4.
  static INGOT_DEVICE int first_offset(int first) {
    return kAlongK ? Stage::offset(first, 0) : Stage::offset(0, first / Stage::kChunk);
  }

  /// Loads the four k from 4 * step on. `first` is first_offset plus the offset of a slot.
  INGOT_DEVICE void load(const u8* ring, int first, int step) {
    // The XOR adds the chunk, because slots begin at multiples of a line.
    const u8* const from = kAlongK ? ring + (first ^ step * kChunkBytes) : ring + first;
#pragma unroll
    for (int line = 0; line < (kAlongK ? kCount : 4); ++line) {
#pragma unroll
      for (int chunk = 0; chunk < (kAlongK ? 1 : kCount / 4); ++chunk) {
        const int lines = kAlongK ? line / 4 * kBlockStep + line % 4 : 4 * step + line;
        const auto four = load_vector<4>(reinterpret_cast<const f32*>(
            from + lines * Stage::kLineBytes + chunk * kBlockStep * Stage::kSize));
#pragma unroll
        for (int j = 0; j < 4; ++j)
          value[kAlongK ? j : line][kAlongK ? line : 4 * chunk + j] = four.v[j];
      }
    }
  }
};

/// A source as in tile/matrix.cuh, for direct operands.
template <class Config, class A, class B> struct FmaMainloop {
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK;
  static constexpr int kStages = Config::kStages;
  static_assert(A::kPath == OperandPath::direct && B::kPath == OperandPath::direct,
                "operands are copied as they are");
  static_assert(kStages >= 3, "a stage is written while the next one is waited for");

  using Layout = SimtLayout<kTileM, kTileN>;
  static constexpr bool kCompensated = false;
  static constexpr bool kFillsRegisters = true;
  using StageA = FmaStage<A::kMajor, kTileM, kTileK>;
  using StageB = FmaStage<B::kMajor, kTileN, kTileK>;
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
    // 31 bits suffice, because a row of 2^34 elements is longer than any memory.
    i32 tiles = static_cast<i32>((k.end - k.begin + kTileK - 1) / kTileK); // tiles left to multiply
    auto feed = [&](u8* stage, int step) {
      feed_a.feed(params, fed_k, stage, step);
      feed_b.feed(params, fed_k, stage + StageA::kBytes, step);
      if (step < kSteps - 1) return;
      ptx::cp_async_commit(); // even without copies, because waits count groups
      fed_k += kTileK;
    };
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) feed(ring + stage * kStageBytes, step);
    }
    ptx::cp_async_wait<kStages - 2>();
    context.barrier();

    const int first_a = FragmentA::first_offset(Layout::first_row(context.thread));
    const int first_b = FragmentB::first_offset(Layout::first_col(context.thread)) + StageA::kBytes;
    FragmentA a[2];
    FragmentB b[2];
    int read = 0; // offset of the slot that is read
    a[0].load(ring, first_a, 0);
    b[0].load(ring, first_b, 0);
#pragma unroll 1
    for (; tiles > 0; --tiles) {
      // The last readers of the slot before this one have passed the barrier of the tile before.
      u8* const written = ring + Ring::preceding(read);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          // The next slot is complete and visible to all threads.
          ptx::cp_async_wait<kStages - 3>();
          context.barrier();
          read = Ring::following(read);
        }
        // After the last tile this reads a slot that nobody uses.
        a[(step + 1) % 2].load(ring, first_a + read, (step + 1) % kSteps);
        b[(step + 1) % 2].load(ring, first_b + read, (step + 1) % kSteps);
        feed(written, step);
        multiply(a[step % 2].value, b[step % 2].value, acc);
      }
    }
    ptx::cp_async_wait<0>();
    context.barrier();
  }

private:
  static constexpr int kSteps = kTileK / 4;
  using FeedA = MmaFeed<OperandPath::direct, A, StageA, Layout::kThreads, kSteps, 0, 1>;
  using FeedB = MmaFeed<OperandPath::direct, B, StageB, Layout::kThreads, kSteps, 1, 1>;
  using FragmentA = FmaFragment<StageA, Layout::kRows, Layout::kBlockRows>;
  using FragmentB = FmaFragment<StageB, Layout::kCols, Layout::kRun>;

  static INGOT_DEVICE void multiply(const f32 (&a)[4][Layout::kRows],
                                    const f32 (&b)[4][Layout::kCols],
                                    f32 (&acc)[Layout::kRows][Layout::kCols]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Layout::kCols; ++j) acc[i][j] = ptx::fma(a[k][i], b[k][j], acc[i][j]);
      }
    }
  }
};

} // namespace ingot
