// SPDX-License-Identifier: Apache-2.0
// Which of a thread's elements lie in the domain. Where the domain's extents are constants that
// tiles divide, the compiler knows that all do.
#pragma once

#include "tile/context.cuh"

namespace ingot {

template <class L> struct TileBounds {
  i32 thread;
  i32 rows, cols; ///< of the tile; not positive where it lies outside, at most the tile's own

  explicit INGOT_DEVICE TileBounds(const TileContext& context)
      : thread(context.thread), rows(clipped(context.row_end - context.row0, L::kTileRows)),
        cols(clipped(context.col_end - context.col0, L::kTileCols)) {}

  INGOT_DEVICE bool row(int i) const { return rows == L::kTileRows || L::row(thread, i) < rows; }
  /// How many columns there are from register j on, of kVec at most; not positive: none.
  INGOT_DEVICE i32 columns(int j) const {
    return cols == L::kTileCols ? L::kVec - j % L::kVec : cols - L::col(thread, j);
  }
  INGOT_DEVICE bool col(int j) const { return columns(j) > 0; }
  /// How many rows there are from register i on, of kRowVec at most; not positive: none.
  INGOT_DEVICE i32 rows_from(int i) const {
    return rows == L::kTileRows ? L::kRowVec - i % L::kRowVec : rows - L::row(thread, i);
  }
};

} // namespace ingot
