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

  INGOT_DEVICE bool row(int i) const { return rows == L::kTileRows || L::row(thread, i) < rows; }
  /// The number of columns from register j on, at most kVec. Not positive: none.
  INGOT_DEVICE i32 columns(int j) const {
    return cols == L::kTileCols ? L::kVec - j % L::kVec : cols - L::col(thread, j);
  }
  INGOT_DEVICE bool col(int j) const { return columns(j) > 0; }
  /// The number of rows from register i on, at most kRowVec. Not positive: none.
  INGOT_DEVICE i32 rows_from(int i) const {
    return rows == L::kTileRows ? L::kRowVec - i % L::kRowVec : rows - L::row(thread, i);
  }
};

} // namespace ingot
