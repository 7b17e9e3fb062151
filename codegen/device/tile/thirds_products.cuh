// SPDX-License-Identifier: Apache-2.0
// Products of f32 tiles in shared memory: of bf16 thirds, or of fewer parts, that a block split
// once for all its warps (tile/thirds.cuh), and by FMA.
#pragma once

#include "tile/thirds_fragments.cuh"

namespace ingot {

constexpr int kThirdsK = 16; ///< of a product of thirds

/// The parts of a tile of f32 in shared memory: tiles of bf16, one behind the other.
template <class From, int kParts> struct SplitStage {
  static constexpr bool kIsK = From::kMajor == Major::k;
  using To = MmaStage<Compute::bf16, From::kMajor, kIsK ? From::kLines : From::kLine,
                      kIsK ? From::kLine : From::kLines>;
  static constexpr int kBytes = kParts * To::kBytes;

  /// By kThreads threads: four elements at a time.
  template <int kThreads> static INGOT_DEVICE void run(const u8* from, u8* to, i32 thread) {
    constexpr int kCount = From::kLines * From::kChunks;
#pragma unroll 4
    for (int number = thread; number < kCount; number += kThreads) {
      const int line = number / From::kChunks, chunk = number % From::kChunks;
      const auto four = *reinterpret_cast<const Vector<f32, 4>*>(from + From::offset(line, chunk));
      u32 low[kParts], high[kParts];
      split_pair(four.v[0], four.v[1], low);
      split_pair(four.v[2], four.v[3], high);
      u8* const at = to + To::offset(line, chunk / 2) + chunk % 2 * 8;
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        *reinterpret_cast<Vector<u32, 2>*>(at + part * To::kBytes) = {{low[part], high[part]}};
    }
  }
};

/// Loads the parts of a step's k of the rows of a warp: kBlocks blocks of 16 rows and 16 k. Tile is
/// a SplitStage's.
template <class Fragments, class Tile, int kBlocks, int kParts>
INGOT_DEVICE void load_thirds(u32 first, int step, u32 (&a)[kBlocks][kParts][4]) {
  Fragments fragments;
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    fragments.load(first + part * Tile::kBytes, step);
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
      for (int r = 0; r < 4; ++r) a[i][part][r] = fragments.block[i][r];
    }
  }
}

/// Splits a step's k of accumulators. A thread has pairs of adjacent k in the accumulators and in
/// the fragments (tile/packed_fragments.cuh).
template <int kRows, int kCols, int kParts>
INGOT_DEVICE void split_step(const f32 (&elements)[kRows][kCols], int step,
                             u32 (&a)[kRows / 2][kParts][4]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int j = 4 * step + 2 * half;
      u32 pair[kParts];
      split_pair(elements[i][j], elements[i][j + 1], pair);
#pragma unroll
      for (int part = 0; part < kParts; ++part) a[i / 2][part][i % 2 + 2 * half] = pair[part];
    }
  }
}

/// Adds the products of a step with all columns of B. Tile is a SplitStage's.
template <class Fragments, class Tile, int kBlocks, int kParts, int kRows, int kCols>
INGOT_DEVICE void add_thirds(const u32 (&a)[kBlocks][kParts][4], u32 first, int step,
                             f32 (&acc)[kRows][kCols]) {
#pragma unroll
  for (int column = 0; column < kCols / 4; ++column) {
    Fragments fragments;
    u32 b[kParts][4];
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      fragments.load_block(first + part * Tile::kBytes, step, column);
#pragma unroll
      for (int r = 0; r < 4; ++r) b[part][r] = fragments.block[column][r];
    }
    f32 sums[2 * kBlocks][4];
    multiply_thirds(a, b, sums);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        acc[i][4 * column + j] = ptx::fma(sums[i][j], kThirdsUnscale, acc[i][4 * column + j]);
    }
  }
}

/// The element of an f32 operand in a stage at a shared address.
template <class Stage> INGOT_DEVICE f32 element_at(u32 first, int mn, int k) {
  const int line = Stage::kMajor == Major::k ? mn : k, along = Stage::kMajor == Major::k ? k : mn;
  const u32 at = first + Stage::offset(line, along / Stage::kChunk) + along % Stage::kChunk * 4;
  return ptx::as_f32(ptx::load_shared(at));
}

/// Adds the products of one k by FMA: `a` of the thread's rows, and a stage of B.
template <class L, class Stage>
INGOT_DEVICE void add_column(i32 thread, u32 first, int k, const f32 (&a)[L::kRows],
                             f32 (&acc)[L::kRows][L::kCols]) {
#pragma unroll
  for (int j = 0; j < L::kCols; ++j) {
    const f32 b = element_at<Stage>(first, L::col(thread, j), k);
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) acc[i][j] = ptx::fma(a[i], b, acc[i][j]);
  }
}

/// The elements of a thread's rows at column 8 `pair` + k of accumulators, which a lane of the quad
/// has.
template <int kRows, int kCols>
INGOT_DEVICE void column_of(const f32 (&elements)[kRows][kCols], i32 thread, int pair, int k,
                            f32 (&column)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
    column[i] = ptx::shuffle_xor(k % 2 == 0 ? elements[i][2 * pair] : elements[i][2 * pair + 1],
                                 static_cast<i32>(index_of(thread) % 4) ^ k / 2);
}

} // namespace ingot
