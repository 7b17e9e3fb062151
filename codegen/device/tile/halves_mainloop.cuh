// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on tensor cores (f16x3): three products of halves (tile/halves.cuh)
// for one f32 product. It has a ring of slots filled by cp.async, and promotes partial sums. A tile
// whose rows do not suit goes through the SIMT mainloop in the same kernel, to the same registers.
// Config gives kTileM, kTileN, kTileK, kWarpM, kWarpN, kStages, kPromoteEvery and kTotalEvery.
#pragma once

#include "tile/cut_off.cuh"
#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"
#include "tile/safe_mainloop.cuh"
#include "tile/totals.cuh"

namespace ingot {

/// The share of one thread in copying both halves of an operand's tiles, in ascending k, to slots
/// with cp.async. The high halves go to a slot, the low ones behind it. X is the f32 operand.
/// Besides the members in tile/matrix.cuh, it has packed(params) -> Halves.
template <class X, class Stage, int kThreads> struct HalvesFeed {
  static constexpr int kTileK = Stage::kLine;
  static constexpr int kLineStep = kThreads / Stage::kChunks; ///< lines between a thread's chunks
  static constexpr int kPerThread = Stage::kLines / kLineStep;
  static_assert(Stage::kLines % kLineStep == 0 && kLineStep % Stage::kPeriod == 0,
                "a thread's chunks lie at one place of their lines, swizzled alike");

  const f16* from; ///< the thread's first chunk of the next tile
  i32 mn_left;     ///< rows from the first chunk's on, from strip.left
  i32 thread;

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& strip, i32 the_thread) {
    thread = the_thread;
    mn_left = strip.left(line(), Stage::kLines);
    from = X::packed(params).high(strip.batch, strip.mn0 + line(),
                                  strip.k.begin + chunk() * Stage::kChunk);
  }

  /// `left` is the number of chunks from the tile's first one to the end of k; it may be 0 or
  /// negative. Elements outside become zero without being read. The last chunk of a row ends with
  /// zeros.
  template <class Params> INGOT_DEVICE void feed(const Params& params, i32 left, u8* stage) {
    const Halves halves = X::packed(params);
    const i64 pitch = halves.pitch(), low = halves.batches * halves.rows * pitch;
    const i32 lines = chunk() < left ? mn_left : 0;
    u8* const to = stage + Stage::offset(line(), chunk());
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const f16* const source = from + i * kLineStep * pitch;
      u8* const target = to + i * kLineStep * Stage::kLineBytes;
      const int bytes = i * kLineStep < lines ? kChunkBytes : 0;
      ptx::cp_async_16(target, source, bytes);
      ptx::cp_async_16(target + Stage::kBytes, source + low, bytes);
    }
    from += kTileK;
  }

private:
  INGOT_DEVICE i32 line() const { return index_of(thread) / Stage::kChunks; }
  INGOT_DEVICE i32 chunk() const { return index_of(thread) % Stage::kChunks; }
};

// The accumulation. Tensor cores align the products of a step and the sum before them to the
// largest exponent and truncate, so sums of many steps are biased. Therefore the tensor cores sum
// parts of kPromoteEvery products, from zero, and f32 additions that round add the parts. The error
// of these additions grows with the root of their number. Therefore a sum moves to a total in
// shared memory every kTotalEvery products (0: never), so that neither chain is long.

template <class Config, class A, class B> struct HalvesMainloop {
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK;
  static constexpr int kStages = Config::kStages;
  static constexpr bool kCompensated = true;
  static constexpr bool kFillsRegisters = true;
  using Layout =
      MmaLayout<kTileM / Config::kWarpM, kTileN / Config::kWarpN, Config::kWarpM, Config::kWarpN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  using StageA = MmaStage<Compute::f16, Major::k, kTileM, kTileK>;
  using StageB = MmaStage<Compute::f16, Major::k, kTileN, kTileK>;
  // A slot holds A's high halves, A's low halves, B's high halves, B's low halves.
  static constexpr int kStageBytes = 2 * (StageA::kBytes + StageB::kBytes);

  using Safe = SafeMainloop<Layout, A, B>;
  using Ring = StageRing<kStageBytes, kStages>;
  static constexpr int kRingBytes = kStages * kStageBytes;
  using LongSums = Totals<Layout, Config::kTotalEvery / kTileK>;
  static constexpr int kFastBytes = kRingBytes + LongSums::kBytes;
  // Behind the slots are the factors of the tile's rows, then of its columns. They are loaded when
  // the tile is checked. If they were loaded from memory later, they would delay the use of the
  // sums.
  static constexpr int kLines = kTileM + kTileN;
  static constexpr int kLinesOfThread = (kLines + Layout::kThreads - 1) / Layout::kThreads;
  static constexpr int kSharedBytes =
      sizes::halves_bytes(kTileM, kTileN, kTileK, kStages, LongSums::kBytes > 0);
  static_assert(kFastBytes + kLines * static_cast<int>(sizeof(f32)) <= kSharedBytes, "all of it");

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, Sums& acc) {
    if (suits(params, context, m, n)) {
      multiply_halves(params, context, k, acc);
      unscale<Layout>(ptx::opaque(context.thread), factors(), factors() + kTileM, acc);
      context.barrier(); // nobody reads the overlaid memory, with its factors, any more
    } else {
      TileContext after = context;
      after.thread = ptx::opaque(context.thread);
      Safe::run(params, after, m, n, k, acc);
    }
  }

private:
  static INGOT_DEVICE f32* factors() {
    return reinterpret_cast<f32*>(ptx::shared_memory() + kFastBytes);
  }

  static constexpr int kSteps = kTileK / 16;
  static constexpr int kStepsOfPart = Config::kPromoteEvery / 16;
  static_assert(kSteps % kStepsOfPart == 0 && kSteps % 2 == 0, "parts end with stages");
  using FragmentsA = MmaFragments<Operand::a, StageA, Config::kWarpM>;
  using FragmentsB = MmaFragments<Operand::b, StageB, Config::kWarpN>;

  /// Returns the same in all threads.
  template <class Params>
  static INGOT_DEVICE bool suits(const Params& params, const TileContext& context, i64 m, i64 n) {
    const Halves a = A::packed(params), b = B::packed(params);
    // Opaque, so that dependent values are not kept in registers for the next tile.
    const i32 thread = ptx::opaque(context.thread);
    HalvedTile tile = HalvedTile::none();
    f32 own_factors[kLinesOfThread];
#pragma unroll
    for (int own = 0; own < kLinesOfThread; ++own) {
      const int i = own * Layout::kThreads + thread;
      own_factors[own] = 1.0f;
      if (i >= kLines) continue;
      const bool of_a = i < kTileM;
      const i64 mn = of_a ? context.row0 + i : context.col0 + i - kTileM;
      if (mn >= (of_a ? m : n)) continue;
      const HalvedRow row = (of_a ? a : b).row(context.batch, mn);
      tile.add(row, of_a);
      own_factors[own] = row.factor;
    }
    tile.add_lanes();
    auto* const warps = reinterpret_cast<HalvedTile*>(ptx::shared_memory());
    if (index_of(thread) % 32 == 0) warps[index_of(thread) / 32] = tile;
    context.barrier(); // also waits for the last reader of another product's factors
#pragma unroll
    for (int own = 0; own < kLinesOfThread; ++own) {
      const int i = own * Layout::kThreads + thread;
      if (i < kLines) factors()[i] = own_factors[own];
    }
#pragma unroll 1
    for (int warp = 0; warp < Layout::kThreads / 32; ++warp) tile.add(warps[warp]);
    context.barrier();
    return tile.suits(a.depth);
  }

  template <class Params>
  static INGOT_DEVICE void multiply_halves(const Params& params, const TileContext& context,
                                           KRange k, Sums& acc) {
    clear(acc);
    u8* const ring = ptx::shared_memory();
    HalvesFeed<A, StageA, Layout::kThreads> feed_a;
    HalvesFeed<B, StageB, Layout::kThreads> feed_b;
    feed_a.begin(params, {context.batch, context.row0, context.row_end, k}, context.thread);
    feed_b.begin(params, {context.batch, context.col0, context.col_end, k}, context.thread);
    // The number of chunks to load. 31 bits suffice: a row of 2^34 elements is longer than any
    // memory.
    const i32 chunks = static_cast<i32>((k.end - k.begin + StageA::kChunk - 1) / StageA::kChunk);
    i32 tiles = (chunks + StageA::kChunks - 1) / StageA::kChunks; // tiles left to multiply
    // The next tile to load. `behind` counts chunks from its end to the end of the last tile, which
    // is `beyond` chunks behind the end of k.
    const i32 beyond = tiles * StageA::kChunks - chunks;
    auto feed = [&](i32 behind, int stage) {
      const i32 left = behind + StageA::kChunks - beyond;
      feed_a.feed(params, left, ring + stage);
      feed_b.feed(params, left, ring + stage + 2 * StageA::kBytes);
      ptx::cp_async_commit(); // even without copies, because waits count groups
    };
#pragma unroll 1
    for (int stage = 0; stage < kStages - 1; ++stage)
      feed((tiles - stage - 1) * StageA::kChunks, stage * kStageBytes);
    wait_for_stage(context);

    const int warp_m0 = Layout::col_warp(context.thread) * Config::kWarpM;
    const int warp_n0 = Layout::row_warp(context.thread) * Config::kWarpN;
    const u32 base = ptx::shared_address(ring);
    const u32 first_a = base + FragmentsA::first_offset(warp_m0, context.thread);
    const u32 first_b =
        base + 2 * StageA::kBytes + FragmentsB::first_offset(warp_n0, context.thread);
    FragmentsA a_high[2], a_low;
    FragmentsB b_high[2], b_low;
    int read = 0; // offset of the slot that is read
    a_high[0].load(first_a, 0);
    b_high[0].load(first_b, 0);
    a_low.load(first_a + StageA::kBytes, 0);
    b_low.load(first_b + StageB::kBytes, 0);
    Sums part;
    LongSums totals(ring + kRingBytes, context.thread);
#pragma unroll 1
    for (; tiles > 0; --tiles) {
      totals.count(acc);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kSteps - 1) {
          wait_for_stage(context);
          read = Ring::following(read);
        }
        if (step % kStepsOfPart == 0) clear(part);
        // After the last tile this reads a slot that nobody uses.
        const int now = step % 2, next = 1 - now, at = (step + 1) % kSteps;
        a_high[next].load(first_a + read, at);
        b_high[next].load(first_b + read, at);
        multiply<Compute::f16>(a_low, b_high[now], part, [](int) {});
        a_low.load(first_a + read + StageA::kBytes, at);
        // The last readers of the slot before this one have passed the barrier of the tile before.
        if (step == 0) feed((tiles - kStages) * StageA::kChunks, Ring::preceding(read));
        multiply<Compute::f16>(a_high[now], b_low, part, [](int) {});
        b_low.load(first_b + read + StageB::kBytes, at);
        multiply<Compute::f16>(a_high[now], b_high[now], part, [](int) {});
        if (step % kStepsOfPart == kStepsOfPart - 1) add(part, acc);
      }
    }
    totals.finish(acc);
    add_cut_off<CutOffHalves>(acc);
    ptx::cp_async_wait<0>();
  }

  static INGOT_DEVICE void add(const Sums& part, Sums& acc) {
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) acc[i][j] += part[i][j];
    }
  }

  /// Waits until the oldest slot in flight is complete and visible to all threads.
  static INGOT_DEVICE void wait_for_stage(const TileContext& context) {
    ptx::cp_async_wait<kStages - 2>();
    context.barrier();
  }
};

} // namespace ingot
