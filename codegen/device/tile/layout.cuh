// SPDX-License-Identifier: Apache-2.0
// How the threads of a group own a tile. Every source names its layout. Stages know nothing else
// about the place of a value, so the same stages serve accumulators, loaded rows and streamed rows.
#pragma once

#include "ptx/base.cuh"
#include "sizes/shared_memory.h"

namespace ingot {

// A layout L: each thread owns kRows x kCols elements, v[i][j] at (row(thread, i), col(thread, j))
// of the tile. Rows and columns are independent. It has
//   kSizes            the numbers that shared memory depends on (sizes/shared_memory.h)
//   kThreads, kTileRows, kTileCols
//   kRows, kCols      elements per thread
//   kVec              v[i][j .. j+kVec-1], j % kVec == 0, are adjacent columns that start at a
//                     multiple of kVec
//   row(thread, i) = first_row(thread) + row_offset(i), likewise for columns: accesses differ by
//                     constants
//   kRowLanes         bits of the lane index that change only the columns: lanes that differ only
//                     in these bits own the same rows. They are the lowest bits, and all such bits
//   kRowWarps         warps that own the same rows; row_warp(thread) is the index among them
//   kCluster          blocks of a cluster that own columns of the same rows
//   kColLanes, kColWarps, col_warp(thread): likewise for columns
//   kRun              the columns of a thread come in blocks: j / kVec picks the block, and one
//                     block index over all lanes of kRowLanes covers kRun adjacent columns that
//                     start at a multiple of kRun; lower lane bits own lower columns
//   kWarpCols         adjacent columns, from a multiple of itself, that one warp owns: with
//                     kRowWarps > 1 and kWarpCols == kRun, warps take turns run by run
//   kBandStep         rows of a thread come in bands of a multiple of it: row_offset(i + kBandStep)
//                     is row_offset(i) + row_offset(kBandStep)
//   kRowVec           v[i .. i+kRowVec-1][j], i % kRowVec == 0, are adjacent rows, the first one a
//                     multiple of kRowVec; more than 1 only where kVec is 1

/// A thread's index as unsigned, so that division by a power of two is a shift or a mask.
INGOT_DEVICE constexpr u32 index_of(int thread) { return static_cast<u32>(thread); }

/// The members that all layouts L have alike. kTile(kNumbers...) gives the numbers of the tile.
template <class L, auto kTile, int... kNumbers> struct Positions {
  static constexpr sizes::Tile kSizes = kTile(kNumbers...);
  static constexpr int kTileRows = kSizes.rows, kTileCols = kSizes.cols;
  static constexpr int kVec = kSizes.vec, kRowVec = 1;
  static constexpr int kRowWarps = kSizes.row_warps, kColWarps = kSizes.col_warps;
  static constexpr int kRun = kSizes.run, kWarpCols = kSizes.warp_cols;
  static constexpr int kCluster = kSizes.cluster;
  static INGOT_DEVICE int row(int thread, int i) { return L::first_row(thread) + L::row_offset(i); }
  static INGOT_DEVICE int col(int thread, int j) { return L::first_col(thread) + L::col_offset(j); }
};

/// The accumulators of mma.sync m16n8: warps in a kWarpsM x kWarpsN grid, each with a tile of
/// kWarpM x kWarpN. Registers i = 2*(m16 block) + half, j = 2*(n8 block) + parity (PTX ISA,
/// "Matrix fragments for mma.m16n8k16": row = lane / 4 + 8*half, col = 2*(lane % 4) + parity).
template <int kWarpsM, int kWarpsN, int kWarpM, int kWarpN>
struct MmaLayout : Positions<MmaLayout<kWarpsM, kWarpsN, kWarpM, kWarpN>, sizes::mma_tile,
                             kWarpsM * kWarpM, kWarpsN * kWarpN, kWarpM, kWarpN> {
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kRows = kWarpM / 8;
  static constexpr int kCols = kWarpN / 4;
  static constexpr int kBandStep = 1;
  static constexpr int kRowLanes = 3;
  static constexpr int kColLanes = 28;

  // Warps run along the rows first: warp = row_warp * kWarpsM + col_warp.
  static INGOT_DEVICE int row_warp(int thread) { return index_of(thread) / 32 / kWarpsM; }
  static INGOT_DEVICE int col_warp(int thread) { return index_of(thread) / 32 % kWarpsM; }
  static INGOT_DEVICE int first_row(int thread) {
    return col_warp(thread) * kWarpM + static_cast<int>(index_of(thread) % 32 / 4);
  }
  static INGOT_DEVICE int first_col(int thread) {
    return row_warp(thread) * kWarpN + static_cast<int>(index_of(thread) % 4 * 2);
  }
  static INGOT_DEVICE constexpr int row_offset(int i) { return i / 2 * 16 + i % 2 * 8; }
  static INGOT_DEVICE constexpr int col_offset(int j) { return j / 2 * 8 + j % 2; }
};

/// The accumulators of a swapped product by wgmma (tile/wgmma_swapped_mainloop.cuh): those of C^T.
/// A warp has all kTileM rows and 16 of the kTileN columns: adjacent pairs, as the mainloop reads
/// them from shared memory without bank conflicts. Registers i = 2*(m8 block) + parity, j = half
/// (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8", D, with rows and columns swapped).
/// No stage may reduce.
template <int kTileM, int kTileN>
struct SwappedLayout
    : Positions<SwappedLayout<kTileM, kTileN>, sizes::swapped_tile, kTileM, kTileN> {
  static constexpr int kThreads = 2 * kTileN;
  static constexpr int kRows = kTileM / 4;
  static constexpr int kCols = 2;
  static constexpr int kBandStep = 2;
  static constexpr int kRowLanes = 28;
  static constexpr int kColLanes = 3;

  static INGOT_DEVICE int row_warp(int thread) { return index_of(thread) / 32; }
  static INGOT_DEVICE int col_warp(int) { return 0; }
  static INGOT_DEVICE int first_row(int thread) {
    return static_cast<int>(index_of(thread) % 4 * 2);
  }
  static INGOT_DEVICE int first_col(int thread) {
    const u32 warp = index_of(thread) / 32, pair = index_of(thread) % 32 / 4;
    return static_cast<int>(warp / 2 * 32 + warp % 2 * 8 + pair / 2 % 2 * 16 + pair / 4 * 4 +
                            pair % 2 * 2);
  }
  static INGOT_DEVICE constexpr int row_offset(int i) { return i / 2 * 8 + i % 2; }
  static INGOT_DEVICE constexpr int col_offset(int j) { return j; }
};

/// The accumulators of a SIMT matmul: 256 threads, kThreadsN of them (16 or 32) along a row, each
/// with blocks of 4x4 elements. The blocks of one thread are as far apart as the first blocks of
/// all threads reach, so that the shared-memory reads of a warp do not conflict.
template <int kTileM, int kTileN>
struct SimtLayout : Positions<SimtLayout<kTileM, kTileN>, sizes::simt_tile, kTileM, kTileN> {
  using SimtLayout::Positions::kRun;
  static constexpr int kThreadsN = sizes::simt_threads_n(kTileM);
  static constexpr int kThreads = sizes::kSimtThreads;
  static constexpr int kBlockRows = 4 * kThreads / kThreadsN; ///< of all threads' first blocks
  static_assert(kTileM % kBlockRows == 0 && kTileN % kRun == 0, "whole blocks");
  static constexpr int kRows = 4 * kTileM / kBlockRows;
  static constexpr int kCols = 4 * kTileN / kRun;
  static constexpr int kBandStep = 4;
  static constexpr int kRowLanes = kThreadsN - 1;
  static constexpr int kColLanes = 31 & ~kRowLanes;

  static INGOT_DEVICE int row_warp(int) { return 0; }
  static INGOT_DEVICE int col_warp(int thread) { return index_of(thread) / 32; }
  static INGOT_DEVICE int first_row(int thread) { return thread / kThreadsN * 4; }
  static INGOT_DEVICE int first_col(int thread) { return thread % kThreadsN * 4; }
  static INGOT_DEVICE constexpr int row_offset(int i) { return i / 4 * kBlockRows + i % 4; }
  static INGOT_DEVICE constexpr int col_offset(int j) { return j / 4 * kRun + j % 4; }
};

/// Loaded rows: kPerRow threads (a power of two) share a row. They take turns with kVecWidth
/// adjacent columns each, kChunks times. The group holds kThreadCount / kPerRow rows at a time,
/// kRowsOfAThread times, or its part of the columns where kBlocks blocks share them.
template <int kThreadCount, int kPerRow, int kChunks, int kVecWidth, int kBlocks = 1,
          int kRowsOfAThread = 1>
struct RowLayout
    : Positions<RowLayout<kThreadCount, kPerRow, kChunks, kVecWidth, kBlocks, kRowsOfAThread>,
                sizes::row_tile, kThreadCount, kPerRow, kChunks, kVecWidth, kBlocks,
                kRowsOfAThread> {
  using RowLayout::Positions::kRowWarps;
  static constexpr int kThreads = kThreadCount;
  static constexpr int kRows = kRowsOfAThread;
  static constexpr int kCols = kChunks * kVecWidth;
  static constexpr int kRowLanes = (kPerRow < 32 ? kPerRow : 32) - 1;
  static constexpr int kColLanes = 31 & ~kRowLanes;

  static INGOT_DEVICE int row_warp(int thread) { return index_of(thread) / 32 % kRowWarps; }
  static INGOT_DEVICE int col_warp(int thread) { return index_of(thread) / 32 / kRowWarps; }
  static INGOT_DEVICE int first_row(int thread) { return index_of(thread) / kPerRow; }
  static INGOT_DEVICE int first_col(int thread) { return index_of(thread) % kPerRow * kVecWidth; }
  static INGOT_DEVICE constexpr int row_offset(int i) { return i * (kThreadCount / kPerRow); }
  static INGOT_DEVICE constexpr int col_offset(int j) {
    return j / kVecWidth * kPerRow * kVecWidth + j % kVecWidth;
  }
};

/// Loaded rows that are not contiguous in memory, but whose neighbours are adjacent. A lane has
/// kRowsOfALane adjacent rows, and the warps of the block share their columns, kPerThread each.
/// The warps take turns with kVecWidth adjacent columns each. More than one serves kernels that
/// read some tensors along the rows and others along the columns.
template <int kThreadCount, int kPerThread, int kRowsOfALane, int kVecWidth = 1>
struct LaneRowLayout
    : Positions<LaneRowLayout<kThreadCount, kPerThread, kRowsOfALane, kVecWidth>,
                sizes::lane_row_tile, kThreadCount, kPerThread, kRowsOfALane, kVecWidth> {
  static_assert(kRowsOfALane == 1 || kVecWidth == 1, "an access has rows or columns");
  using LaneRowLayout::Positions::kRowWarps;
  static constexpr int kThreads = kThreadCount;
  static constexpr int kRows = kRowsOfALane;
  static constexpr int kCols = kPerThread;
  static constexpr int kRowVec = kRowsOfALane;
  static constexpr int kRowLanes = 0;
  static constexpr int kColLanes = 31;

  static INGOT_DEVICE int row_warp(int thread) { return index_of(thread) / 32; }
  static INGOT_DEVICE int col_warp(int) { return 0; }
  static INGOT_DEVICE int first_row(int thread) { return index_of(thread) % 32 * kRowVec; }
  static INGOT_DEVICE int first_col(int thread) { return index_of(thread) / 32 * kVecWidth; }
  static INGOT_DEVICE constexpr int row_offset(int i) { return i; }
  static INGOT_DEVICE constexpr int col_offset(int j) {
    return j / kVecWidth * kRowWarps * kVecWidth + j % kVecWidth;
  }
};

/// Like the layout above, but each warp has kPerThread adjacent columns. It serves scans, which run
/// along the columns.
template <int kThreadCount, int kPerThread>
struct LaneRunLayout : LaneRowLayout<kThreadCount, kPerThread, 1> {
  static constexpr int kWarpCols = kPerThread;

  static INGOT_DEVICE int first_col(int thread) { return index_of(thread) / 32 * kPerThread; }
  static INGOT_DEVICE constexpr int col_offset(int j) { return j; }
  static INGOT_DEVICE int col(int thread, int j) { return first_col(thread) + col_offset(j); }
};

} // namespace ingot
