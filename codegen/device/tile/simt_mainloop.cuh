// SPDX-License-Identifier: Apache-2.0
// The f32 FMA mainloop. Both operands are staged into double-buffered shared memory. Config gives
// kTileM and kTileN, multiples of 64 (or 32 x a multiple of 128), kTileK, 8 or 16, and
// kPromoteEvery, the products between promotions of a sum (tile/promotion.cuh), or 0: one FMA
// chain.
#pragma once

#include "ptx/fma.cuh"
#include "tile/layout.cuh"
#include "tile/promotion.cuh"
#include "tile/staging.cuh"

namespace ingot {

/// One operand's part of a slot: rows of k, each with the kTileMn values. Columns are permuted
/// within blocks of 32. Neither the transposing stores of a k-major operand nor the reads of 4
/// adjacent columns then have bank conflicts. 8 adjacent columns stay adjacent.
template <int kTileMn, int kTileK, Major kMajor> struct SimtStage {
  static constexpr int kBlocksK = kTileK / 4;
  f32* data;

  static INGOT_DEVICE int offset(int mn, int k) {
    return k * kTileMn + (mn ^ (k / 4 * (32 / kBlocksK)));
  }

  template <int kVec> INGOT_DEVICE void put(int mn, int k, const Vector<f32, kVec>& values) const {
    if constexpr (kMajor == Major::k) {
#pragma unroll
      for (int j = 0; j < kVec; ++j) data[offset(mn, k + j)] = values.v[j];
    } else {
      store_vector(data + offset(mn, k), values);
    }
  }

  INGOT_DEVICE Vector<f32, 4> get(int mn, int k) const {
    return load_vector<4>(data + offset(mn, k));
  }
};

/// A source as in tile/matrix.cuh.
template <class Config, class A, class B> struct SimtMainloop {
  static constexpr int kTileM = Config::kTileM;
  static constexpr int kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK;
  static_assert(A::kPath == OperandPath::staged && B::kPath == OperandPath::staged,
                "the SIMT mainloop stages its operands");
  static_assert(kTileK == 8 || kTileK == 16, "a warp's transposing store covers 32 columns");

  using Layout = SimtLayout<kTileM, kTileN>;
  static constexpr int kPromoteEvery = Config::kPromoteEvery;
  static constexpr bool kCompensated = kPromoteEvery > 0;
  static constexpr bool kFillsRegisters = false;
  static_assert(kPromoteEvery % kTileK == 0, "promotions follow whole tiles");
  static constexpr int kStageSize = (kTileM + kTileN) * kTileK;
  static constexpr int kSharedBytes = sizes::simt_bytes(kTileM, kTileN, kTileK);
  using StageA = SimtStage<kTileM, kTileK, A::kMajor>;
  using StageB = SimtStage<kTileN, kTileK, B::kMajor>;

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
    Sums<kPromoteEvery, Layout::kRows, Layout::kCols> sums(acc);
    const int thread = context.thread;
    StagedTile<A, Layout::kThreads, kTileM, kTileK, vectors<A>(kTileM)> next_a;
    StagedTile<B, Layout::kThreads, kTileN, kTileK, vectors<B>(kTileN)> next_b;
    OperandTile tile_a =
        operand_tile<kTileM, kTileK>(context.batch, context.row0, k.begin, m, k.end);
    OperandTile tile_b =
        operand_tile<kTileN, kTileK>(context.batch, context.col0, k.begin, n, k.end);
    next_a.load(params, tile_a, thread, 0);
    next_b.load(params, tile_b, thread, 0);

    f32* shared = reinterpret_cast<f32*>(ptx::shared_memory());
    int odd = 0;
    int tiles_in_part = 0;
    for (i64 k0 = k.begin; k0 < k.end; k0 += kTileK) {
      const StageA stage_a = {shared + odd * kStageSize};
      const StageB stage_b = {stage_a.data + kTileM * kTileK};
      // The last readers of this slot have passed the barrier of the iteration before.
      next_a.store(params, tile_a, thread, 0, stage_a);
      next_b.store(params, tile_b, thread, 0, stage_b);
      context.barrier();
      tile_a = operand_tile<kTileM, kTileK>(context.batch, context.row0, k0 + kTileK, m, k.end);
      tile_b = operand_tile<kTileN, kTileK>(context.batch, context.col0, k0 + kTileK, n, k.end);
      next_a.load(params, tile_a, thread, 0);
      next_b.load(params, tile_b, thread, 0);
      if constexpr (sums.kPromotes) {
#pragma unroll
        for (int first = 0; first < kTileK; first += kChain) {
          f32 chain[Layout::kRows][Layout::kCols] = {};
          multiply<kChain>(stage_a, stage_b, thread, first, chain);
          sums.add(chain);
        }
        if (++tiles_in_part == kPromoteEvery / kTileK) {
          sums.promote();
          tiles_in_part = 0;
        }
      } else {
        multiply<kTileK>(stage_a, stage_b, thread, 0, sums.total);
      }
      odd ^= 1;
    }
    sums.finish();
    context.barrier();
  }

private:
  /// Vectors of one thread per tile.
  template <class X> static INGOT_DEVICE constexpr int vectors(int tile_mn) {
    return (tile_mn * kTileK / X::kVec + Layout::kThreads - 1) / Layout::kThreads;
  }

  /// acc += the products of kCount k's from first_k on.
  template <int kCount>
  static INGOT_DEVICE void multiply(const StageA& stage_a, const StageB& stage_b, int thread,
                                    int first_k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
#pragma unroll
    for (int step = 0; step < kCount; ++step) {
      const int k = first_k + step;
      f32 a[Layout::kRows];
      f32 b[Layout::kCols];
#pragma unroll
      for (int i = 0; i < Layout::kRows; i += 4) {
        const auto four = stage_a.get(Layout::row(thread, i), k);
#pragma unroll
        for (int r = 0; r < 4; ++r) a[i + r] = four.v[r];
      }
#pragma unroll
      for (int j = 0; j < Layout::kCols; j += 4) {
        const auto four = stage_b.get(Layout::col(thread, j), k);
#pragma unroll
        for (int c = 0; c < 4; ++c) b[j + c] = four.v[c];
      }
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Layout::kCols; ++j) acc[i][j] = ptx::fma(a[i], b[j], acc[i][j]);
      }
    }
  }
};

} // namespace ingot
