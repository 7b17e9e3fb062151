// SPDX-License-Identifier: Apache-2.0
// Tests which of a thread's elements lie in the domain. If tiles divide the constant extents of the
// domain, the compiler knows that all do.
#pragma once

#include "tile/context.cuh"

namespace ingot {

template <class L> struct TileBounds {
  i32 thread;
  i32 rows, cols; ///< rows and columns inside the domain; not positive: none

  explicit INGOT_DEVICE TileBounds(const TileContext& context)
      : thread(context.thread), rows(clipped(context.row_end - context.row0, L::kTileRows)),
        cols(clipped(context.col_end - context.col0, L::kTileCols)) {}

  INGOT_DEVICE bool row(int i) const {
    return rows == L::kTileRows ||
           is_before<L::kRowVec>(rows, L::first_row(thread), i, L::row_offset(i - i % L::kRowVec));
  }
  INGOT_DEVICE bool col(int j) const {
    return cols == L::kTileCols ||
           is_before<L::kVec>(cols, L::first_col(thread), j, L::col_offset(j - j % L::kVec));
  }

private:
  /// Whether register `at` is before `end`. Its access has kWidth elements and begins at `first` +
  /// `offset`, a multiple of kWidth. If kWidth divides a constant `end`, all elements of an access
  /// share one test, and an access that every thread has inside needs none: the compiler knows the
  /// range of `first`, but not that of a difference. Single elements share the difference.
  template <int kWidth> static INGOT_DEVICE bool is_before(i32 end, i32 first, int at, i32 offset) {
    if constexpr (kWidth == 1) return end - first > offset;
    return first < ((end - at % kWidth + (kWidth - 1)) & -kWidth) - offset;
  }
};

} // namespace ingot
