// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on tensor cores for operands as they lie in memory: six products of
// bf16 thirds (tile/thirds.cuh) for one f32 product. Warps split the operands behind the slots. A
// tile with a sum that is not finite goes through the SIMT mainloop in the same kernel, to the same
// registers. Config is that of tile/pipelined_mainloop.cuh, and gives kTotalEvery.
#pragma once

#include "tile/cut_off.cuh"
#include "tile/finite_sums.cuh"
#include "tile/pipelined_mainloop.cuh"
#include "tile/safe_mainloop.cuh"
#include "tile/thirds_fragments.cuh"
#include "tile/totals.cuh"

namespace ingot {

/// The products of a warp (tile/pipelined_mainloop.cuh).
template <class Config, class StageA, class StageB> struct ThirdsProducts {
  static constexpr int kStepBytes = 64; ///< 16 f32
  using FragmentsA = MmaFragments<Operand::a, StageA, Config::kWarpM>;
  using FragmentsB = MmaFragments<Operand::b, StageB, Config::kWarpN>;
  static constexpr int kFeeds = FragmentsB::kBlocks; ///< one before each block of columns
  using Layout = MmaLayout<Config::kTileM / Config::kWarpM, Config::kTileN / Config::kWarpN,
                           Config::kWarpM, Config::kWarpN>;
  using Sums = f32[Layout::kRows][Layout::kCols];
  using LongSums = Totals<Layout, Config::kTotalEvery / Config::kTileK>;

  u32 first_a, first_b;
  FragmentsA a[2]; ///< the two halves of a step
  FragmentsB b[2];
  LongSums totals;

  INGOT_DEVICE ThirdsProducts(u32 first_of_a, u32 first_of_b, u8* behind, i32 thread)
      : first_a(first_of_a), first_b(first_of_b), totals(behind, thread) {}

  INGOT_DEVICE void load(int slot) {
    load_a(slot, 0);
#pragma unroll
    for (int block = 0; block < FragmentsB::kBlocks; ++block) load_b(slot, 0, block);
  }
  INGOT_DEVICE void begin_tile(Sums& acc) { totals.count(acc); }
  INGOT_DEVICE void finish(Sums& acc) { totals.finish(acc); }

  template <class Feed>
  INGOT_DEVICE void multiply(int next_step, int next_slot, int, Sums& acc, const Feed& feed) {
    feed(0); // before the thirds take registers
    u32 thirds_a[FragmentsA::kBlocks][kThirds][4];
#pragma unroll
    for (int i = 0; i < FragmentsA::kBlocks; ++i)
      split_block<2, 1>(a[0].block[i], a[1].block[i], thirds_a[i]);
    load_a(next_slot, next_step);
#pragma unroll
    for (int column = 0; column < FragmentsB::kBlocks; ++column) {
      if (column > 0) feed(column);
      u32 thirds_b[kThirds][4];
      split_block<1, 2>(b[0].block[column], b[1].block[column], thirds_b);
      load_b(next_slot, next_step, column);
      f32 part[Layout::kRows][4];
      multiply_thirds(thirds_a, thirds_b, part);
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][4 * column + j] += part[i][j];
      }
    }
  }

private:
  INGOT_DEVICE void load_a(int slot, int step) {
    a[0].load(first_a + slot, 2 * step);
    a[1].load(first_a + slot, 2 * step + 1);
  }
  INGOT_DEVICE void load_b(int slot, int step, int block) {
    b[0].load_block(first_b + slot, 2 * step, block);
    b[1].load_block(first_b + slot, 2 * step + 1, block);
  }
};

/// A source as in tile/matrix.cuh.
template <class Config, class A, class B> struct ThirdsMainloop {
  using Products =
      ThirdsProducts<Config, MmaStage<Config::kCompute, A::kMajor, Config::kTileM, Config::kTileK>,
                     MmaStage<Config::kCompute, B::kMajor, Config::kTileN, Config::kTileK>>;
  using Pipeline = MmaPipeline<Config, A, B, Products>;
  using Layout = typename Pipeline::Layout;
  using Sums = typename Products::Sums;
  using Safe = SafeMainloop<Layout, A, B>;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kSharedBytes =
      sizes::thirds_bytes(kTileM, kTileN, kTileK, Config::kStages, Config::kTotalEvery > 0);
  static_assert(Pipeline::kRingBytes + Products::LongSums::kBytes <= kSharedBytes, "both");
  static constexpr bool kCompensated = true;
  static constexpr bool kFillsRegisters = true;

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, Sums& acc) {
    clear(acc);
    Pipeline::run(params, context, k, acc);
    if (are_finite<Layout>(context, acc)) {
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Layout::kCols; ++j) acc[i][j] *= kThirdsUnscale;
      }
      add_cut_off<CutOffThirds>(acc);
      return;
    }
    TileContext after = context;
    after.thread = ptx::opaque(context.thread);
    Safe::run(params, after, m, n, k, acc);
  }
};

} // namespace ingot
