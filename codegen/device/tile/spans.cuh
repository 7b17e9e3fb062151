// SPDX-License-Identifier: Apache-2.0
// The position of a reduction's extent among the threads of a layout: the registers, lanes and
// warps that share one result. It is compile-time arithmetic on the layout's constants.
#pragma once

#include "tile/layout.cuh"

namespace ingot {

/// kPerThread results per thread. Element (i, j) belongs to result index(i, j). Lanes that differ
/// only in the bits of kLanes, and kWarps warps, share each result. kResults: where they are.
template <class L, Span kSpan, int kWidth> struct SpanPlan;

/// The members that all plans have alike.
template <class L, Span kSpan, int kWidth> struct SharedResults {
  static constexpr sizes::Sharing kSharing = sizes::sharing_of(L::kSizes, kSpan, kWidth);
  static constexpr sizes::Results kResults = sizes::results_of(kSpan, kSharing);
  static constexpr int kThreads = L::kThreads;
  static constexpr int kWarps = kSharing.warps;
  static constexpr int kCluster = L::kCluster;      ///< blocks that share each result
  static constexpr int kPerTile = kSharing.results; ///< results of the tile
};

template <class L, int kWidth>
struct SpanPlan<L, Span::row, kWidth> : SharedResults<L, Span::row, kWidth> {
  static constexpr int kPerThread = L::kRows;
  static constexpr int kLanes = L::kRowLanes;
  static INGOT_DEVICE constexpr int index(int i, int) { return i; }
  /// The result of the tile that thread and k own.
  static INGOT_DEVICE int slot(int thread, int k) { return L::row(thread, k); }
  static INGOT_DEVICE int warp(int thread) { return L::row_warp(thread); }
};

template <class L, int kWidth>
struct SpanPlan<L, Span::column, kWidth> : SharedResults<L, Span::column, kWidth> {
  static constexpr int kPerThread = L::kCols;
  static constexpr int kLanes = L::kColLanes;
  static INGOT_DEVICE constexpr int index(int, int j) { return j; }
  static INGOT_DEVICE int slot(int thread, int k) { return L::col(thread, k); }
  static INGOT_DEVICE int warp(int thread) { return L::col_warp(thread); }
};

template <class L, int kWidth>
struct SpanPlan<L, Span::matrix, kWidth> : SharedResults<L, Span::matrix, kWidth> {
  static constexpr int kPerThread = 1;
  static constexpr int kLanes = 31;
  static INGOT_DEVICE constexpr int index(int, int) { return 0; }
  static INGOT_DEVICE int slot(int, int) { return 0; }
  static INGOT_DEVICE int warp(int thread) { return thread / 32; }
};

template <class L, int kWidth>
struct SpanPlan<L, Span::segment, kWidth> : SharedResults<L, Span::segment, kWidth> {
  static constexpr sizes::Segments kWhere = sizes::segments_of(L::kSizes, kWidth);
  static constexpr bool kInRun = kWhere == sizes::Segments::in_run;
  static constexpr bool kInWarp = kWhere == sizes::Segments::in_warp;
  static constexpr int kBlocks = L::kCols / L::kVec;
  static constexpr int kPerRow = kInRun ? kBlocks : kInWarp ? L::kWarpCols / kWidth : 1;
  static constexpr int kPerThread = L::kRows * kPerRow;
  static constexpr int kLanes = kInRun ? kWidth / L::kVec - 1 : L::kRowLanes;
  static constexpr int kSegments = L::kTileCols / kWidth; ///< whole segments in a row of the tile

  static INGOT_DEVICE constexpr int index(int i, int j) {
    return i * kPerRow + (kInRun ? j / L::kVec : kInWarp ? j / L::kVec * L::kRun / kWidth : 0);
  }
  static INGOT_DEVICE int slot(int thread, int k) {
    const int first = L::col(thread, kInRun ? k % kPerRow * L::kVec : 0);
    return L::row(thread, k / kPerRow) * kSegments + first / kWidth;
  }
  /// The result of an element, of any segment. Columns past the last segment count as of it.
  static INGOT_DEVICE int slot_of(int thread, int i, int j) {
    const int segment = L::col(thread, j) / kWidth;
    return L::row(thread, i) * kSegments + (segment < kSegments ? segment : kSegments - 1);
  }
  static INGOT_DEVICE int warp(int thread) { return L::row_warp(thread) % SpanPlan::kWarps; }
};

} // namespace ingot
