// SPDX-License-Identifier: Apache-2.0
// The tiles of a block, and their order. The order is a grouped rasterisation: blocks that run
// together share operand tiles in L2.
#pragma once

#include "tile/context.cuh"

namespace ingot {

/// The extents of an iteration domain, and its tiles.
struct TileGrid {
  i64 batch, rows, cols;
  i64 tile_rows, tile_cols; ///< steps: distances between tiles
  i64 group_rows;           ///< row tiles that run side by side before the next tile column
  /// Adjacent row tiles that a cluster's blocks take together. Divides group_rows.
  i64 together = 1;

  /// A multiple of `together`: the last ones may lie past the last row.
  INGOT_DEVICE i64 row_tiles() const {
    return (rows + tile_rows * together - 1) / (tile_rows * together) * together;
  }
  /// At least one, because reductions of no elements have results too.
  INGOT_DEVICE i64 col_tiles() const { return cols == 0 ? 1 : (cols + tile_cols - 1) / tile_cols; }
  INGOT_DEVICE i64 tiles() const { return batch * row_tiles() * col_tiles(); }

  /// The place of tile `index`. Within a batch, bands of group_rows row tiles are processed column
  /// by column.
  INGOT_DEVICE TileContext place(i64 index, i32 thread, u8* scratch) const {
    const i64 per_batch = row_tiles() * col_tiles();
    const i64 within = index % per_batch;
    const i64 per_band = group_rows * col_tiles();
    const i64 first_row = within / per_band * group_rows;
    const i64 band = row_tiles() - first_row < group_rows ? row_tiles() - first_row : group_rows;
    const i64 row0 = (first_row + within % per_band % band) * tile_rows;
    const i64 col0 = within % per_band / band * tile_cols;
    return {thread,
            index / per_batch,
            row0,
            col0,
            end_of(row0, tile_rows, rows),
            end_of(col0, tile_cols, cols),
            scratch};
  }

private:
  /// If the tile divides the extent, the compiler then knows that every tile is whole. For a tile
  /// past the last row the result has no meaning.
  static INGOT_DEVICE i64 end_of(i64 first, i64 tile, i64 extent) {
    return (extent > 0 && extent % tile == 0) || first + tile < extent ? first + tile : extent;
  }
};

} // namespace ingot
