// SPDX-License-Identifier: Apache-2.0
// Stores a tile of tensor-core accumulators in whole lines. A thread's fragment holds two adjacent
// columns of many rows. Therefore each warp passes its part of the tile through its own shared
// memory and then stores along the rows: 16 bytes per thread, or fewer where rows are not aligned.
#pragma once

#include "tile/map.cuh"

namespace ingot {

/// The staging memory of one warp: all its rows, and as many columns as a line of 128 bytes holds.
template <class L, class Element> struct StagingPlan {
  static constexpr int kSize = sizeof(Element);
  static_assert(kSize == 2 || kSize == 4, "banks are spread for elements of 2 and 4 bytes");
  static constexpr int kRows = L::kRows * (32 / (L::kRowLanes + 1));
  static constexpr int kColumns = smaller(L::kWarpCols, 128 / kSize);
  static constexpr int kPasses = L::kWarpCols / kColumns;
  static constexpr int kColsPerPass = L::kCols / kPasses; ///< per thread
  /// Pads a row, so that the 8 rows that a warp writes at a time lie in different banks.
  static constexpr int kPitch = kColumns * kSize + 8 * kSize;
  /// The pitch for the widest element, so that consecutive stores of different types need no
  /// barrier between warps.
  static constexpr int kWarpBytes = sizes::staging_bytes(1, kRows);
  static constexpr int kBytes = sizes::staging_bytes(L::kThreads / 32, kRows);
  static_assert(kPitch <= sizes::kStagingPitch, "the widest padding");
};

/// Stores one round of a warp's part from staging memory.
template <class O, class L, class Params>
INGOT_DEVICE void store_lines(const Params& params, const TileContext& context, const u8* staging,
                              int first_row, int first_col) {
  using Element = typename O::Element;
  using Plan = StagingPlan<L, Element>;
  constexpr int kAccesses = Plan::kColumns / O::kVec; ///< of a row
  constexpr int kPerRow = smaller(kAccesses, 32);
  static_assert(32 % kPerRow == 0 && kAccesses % kPerRow == 0, "accesses fill whole rounds");
  static_assert(Plan::kRows * kPerRow % 32 == 0, "every lane stores as often");
  using Access = Vector<Element, O::kVec>;
  const int lane = static_cast<u32>(context.thread) % 32;
  const int lane_row = lane / kPerRow, lane_col = lane % kPerRow * O::kVec;
  const i64 row = context.row0 + first_row + lane_row, col = context.col0 + first_col + lane_col;
  const TileBounds<L> bounds(context);
  const bool whole = bounds.rows == L::kTileRows && bounds.cols == L::kTileCols;
  const int rows = bounds.rows - first_row - lane_row;
  const int cols = bounds.cols - first_col - lane_col;
  constexpr int kStep = 32 / kPerRow; ///< rows that the warp stores at a time
  Element* const to = O::at(params, context.batch, row, col);
  const i64 step = O::at(params, context.batch, row + kStep, col) - to;
  const u8* const from = staging + lane_row * Plan::kPitch + lane_col * Plan::kSize;
#pragma unroll
  for (int k = 0; k < Plan::kRows / kStep; ++k) {
#pragma unroll
    for (int j = 0; j < Plan::kColumns; j += kPerRow * O::kVec) {
      if (!whole && (k * kStep >= rows || j >= cols)) continue;
      if (!O::owns(params, context.batch, row + k * kStep, col + j)) continue;
      Element* const at =
          O::kAffine ? to + k * step + j : O::at(params, context.batch, row + k * kStep, col + j);
      *reinterpret_cast<Access*>(at) =
          *reinterpret_cast<const Access*>(from + k * kStep * Plan::kPitch + j * Plan::kSize);
    }
  }
}

/// Evaluates F on the tile and stores it as O. `region` has StagingPlan::kBytes, which no other
/// code uses.
template <class F, class O, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void run_staged_store(const Params& params, const TileContext& context,
                                   const Fragment<L, kSlots>& fragment, const Results& results,
                                   u8* region) {
  using Element = typename O::Element;
  using Plan = StagingPlan<L, Element>;
  using Value = typename InRegister<Element>::Type;
  if (!O::reaches(params, context.col0, L::kTileCols)) return;
  const int first_row = L::col_warp(context.thread) * (L::kTileRows / L::kColWarps);
  const int first_col = L::row_warp(context.thread) * L::kWarpCols;
  u8* const staging = region + context.thread / 32 * Plan::kWarpBytes;
  u8* const own = staging + (L::first_row(context.thread) - first_row) * Plan::kPitch +
                  (L::first_col(context.thread) - first_col) * Plan::kSize;
  Vector<Element, L::kVec> pack;
  auto stage = [&](int i, int j, i64, i64, Value value) {
    const int e = j % L::kVec;
    pack.v[e] = InRegister<Element>::store(value);
    if (e != L::kVec - 1) return;
    const int place =
        L::row_offset(i) * Plan::kPitch + L::col_offset((j - e) % Plan::kColsPerPass) * Plan::kSize;
    store_vector(reinterpret_cast<Element*>(own + place), pack);
  };
  auto store = [&](int staged) {
    if (staged % Plan::kColsPerPass != 0) return;
    context.warp_barrier();
    store_lines<O, L>(params, context, staging, first_row,
                      first_col + (staged / Plan::kColsPerPass - 1) * Plan::kColumns);
    context.warp_barrier();
  };
  for_each_element<F>(params, context, fragment, results, stage, store);
}

} // namespace ingot
