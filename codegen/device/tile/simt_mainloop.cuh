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
  static constexpr int kQuad = 4; ///< rows of k that are permuted alike
  static constexpr int kQuads = kTileK / kQuad;
  f32* data;

  static INGOT_DEVICE int offset(int mn, int k) {
    return k * kTileMn + (mn ^ (k / kQuad * (32 / kQuads)));
  }

  template <int kVec> INGOT_DEVICE void put(int mn, int k, const Vector<f32, kVec>& values) const {
    if constexpr (kMajor == Major::k) {
#pragma unroll
      for (int j = 0; j < kVec; ++j)
        data[offset(mn, k + j / kQuad * kQuad) + j % kQuad * kTileMn] = values.v[j];
    } else {
      store_vector(data + offset(mn, k), values);
    }
  }

  /// Four adjacent columns. `at` is offset(mn, k) for a multiple k of kQuad; step < kQuad.
  INGOT_DEVICE Vector<f32, 4> get(int at, int step) const {
    return load_vector<4>(data + at + step * kTileMn);
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
  using TileSums = Sums<kPromoteEvery, Layout::kRows, Layout::kCols>;
  static constexpr bool kCompensated = kPromoteEvery > 0;
  static constexpr bool kFillsRegisters = false;
  static_assert(kPromoteEvery % kTileK == 0, "promotions follow whole tiles");
  static constexpr int kStageSize = (kTileM + kTileN) * kTileK;
  static constexpr int kSharedBytes = sizes::simt_bytes(kTileM, kTileN, kTileK);
  using StageA = SimtStage<kTileM, kTileK, A::kMajor>;
  using StageB = SimtStage<kTileN, kTileK, B::kMajor>;
  static constexpr int kQuad = StageA::kQuad;
  static_assert(kTileK % kQuad == 0 && kChain % kQuad == 0, "multiply() takes whole quads");

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
    TileSums sums(acc);
    const int thread = context.thread;
    StagedTile<A, Layout::kThreads, kTileM, kTileK, vectors<A>(kTileM)> next_a;
    StagedTile<B, Layout::kThreads, kTileN, kTileK, vectors<B>(kTileN)> next_b;
    f32* const shared = reinterpret_cast<f32*>(ptx::shared_memory());
    int slot = 1; // the one that is written first is 0
    int tiles_in_part = 0;
    // The first round multiplies nothing: it fills slot 0. The last one stores zeros that nobody
    // reads. So the code that loads and stores stands once: it is long.
#pragma unroll 1
    for (i64 k0 = k.begin - kTileK; k0 < k.end; k0 += kTileK) {
      const OperandTile tile_a =
          operand_tile<kTileM, kTileK>(context.batch, context.row0, k0 + kTileK, m, k.end);
      const OperandTile tile_b =
          operand_tile<kTileN, kTileK>(context.batch, context.col0, k0 + kTileK, n, k.end);
      next_a.load(params, tile_a, thread, 0);
      next_b.load(params, tile_b, thread, 0);
      if (k0 >= k.begin) {
        const StageA stage_a = {shared + slot * kStageSize};
        const StageB stage_b = {stage_a.data + kTileM * kTileK};
        multiply_tile(stage_a, stage_b, thread, sums);
        if constexpr (TileSums::kPromotes) {
          if (++tiles_in_part == kPromoteEvery / kTileK) {
            sums.promote();
            tiles_in_part = 0;
          }
        }
      }
      slot ^= 1;
      // The last readers of this slot have passed the barrier of the round before.
      const StageA stage_a = {shared + slot * kStageSize};
      const StageB stage_b = {stage_a.data + kTileM * kTileK};
      next_a.store(params, tile_a, thread, 0, stage_a);
      next_b.store(params, tile_b, thread, 0, stage_b);
      context.barrier();
    }
    sums.finish();
  }

private:
  /// Vectors of one thread per tile.
  template <class X> static INGOT_DEVICE constexpr int vectors(int tile_mn) {
    return (tile_mn * kTileK / X::kVec + Layout::kThreads - 1) / Layout::kThreads;
  }

  static INGOT_DEVICE void multiply_tile(const StageA& stage_a, const StageB& stage_b, int thread,
                                         TileSums& sums) {
    if constexpr (TileSums::kPromotes) {
#pragma unroll 1
      for (int first = 0; first < kTileK; first += kChain) {
        f32 chain[Layout::kRows][Layout::kCols] = {};
        multiply<kChain>(stage_a, stage_b, thread, first, chain);
        sums.add(chain);
      }
    } else {
      multiply<kTileK>(stage_a, stage_b, thread, 0, sums.total);
    }
  }

  /// acc += the products of kCount k's from first_k on, both multiples of kQuad.
  template <int kCount>
  static INGOT_DEVICE void multiply(const StageA& stage_a, const StageB& stage_b, int thread,
                                    int first_k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
#pragma unroll
    for (int quad = 0; quad < kCount; quad += kQuad) {
      int at_a[Layout::kRows / 4], at_b[Layout::kCols / 4];
#pragma unroll
      for (int i = 0; i < Layout::kRows; i += 4)
        at_a[i / 4] = stage_a.offset(Layout::row(thread, i), first_k + quad);
#pragma unroll
      for (int j = 0; j < Layout::kCols; j += 4)
        at_b[j / 4] = stage_b.offset(Layout::col(thread, j), first_k + quad);
#pragma unroll
      for (int step = 0; step < kQuad; ++step) {
        Vector<f32, 4> a[Layout::kRows / 4], b[Layout::kCols / 4];
#pragma unroll
        for (int i = 0; i < Layout::kRows / 4; ++i) a[i] = stage_a.get(at_a[i], step);
#pragma unroll
        for (int j = 0; j < Layout::kCols / 4; ++j) b[j] = stage_b.get(at_b[j], step);
#pragma unroll
        for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
          for (int j = 0; j < Layout::kCols; ++j)
            acc[i][j] = ptx::fma(a[i / 4].v[i % 4], b[j / 4].v[j % 4], acc[i][j]);
        }
      }
    }
  }
};

} // namespace ingot
