// SPDX-License-Identifier: Apache-2.0
// Operands that vary along the columns of a tile alone, such as a bias. A warpgroup copies them to
// shared memory while it computes the products of the tile. If a warp read them between its
// calculations, it would wait for memory each time: it holds too many sums to read them earlier.
// Each warpgroup has copies of its own, so that those that share a tile do not wait for each other.
#pragma once

#include "ptx/cp_async.cuh"
#include "tile/kept.cuh"

namespace ingot {

/// The layout L of tiles whose operands Os are copied ahead.
template <class L, class Operands> struct CopyingAhead;
template <class L, class... Os> struct CopyingAhead<L, List<Os...>> : L {
  template <class O>
  static constexpr int kBytes = sizes::ahead_bytes(L::kTileCols, sizeof(typename O::Element));
  static constexpr int kAheadBytes = (kBytes<Os> + ... + 0);

  /// The bytes before those of O; -1: O is not copied ahead.
  template <class O> static INGOT_DEVICE constexpr int offset() {
    int bytes = 0, found = -1;
    ((found = kIsSame<O, Os> ? bytes : found, bytes += kBytes<Os>), ...);
    return found;
  }

  /// The place of column `at` of the kVec columns from the thread's register j on.
  template <class O> static INGOT_DEVICE u8* place(const TileContext& tile, int j, int at) {
    return column<O>(tile, L::first_col(tile.thread) + L::col_offset(j) + at);
  }

  /// Starts the copies of a tile to tile.kept, by a warpgroup.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile) {
    (copy_operand(params, tile, static_cast<Os*>(nullptr)), ...);
  }

private:
  template <class O> static INGOT_DEVICE u8* column(const TileContext& tile, int col) {
    return tile.kept + offset<O>() + col * static_cast<int>(sizeof(typename O::Element));
  }

  template <class O, class Params>
  static INGOT_DEVICE void copy_operand(const Params& params, const TileContext& tile, O*) {
    using Element = typename O::Element;
    constexpr int kAccess = access_width<Element>(L::kTileCols, O::kVec);
    constexpr int kAccessBytes = kAccess * static_cast<int>(sizeof(Element));
    constexpr int kStep = sizes::kWarpgroup * kAccess; ///< columns
    const i32 columns = clipped(tile.col_end - tile.col0, L::kTileCols);
#pragma unroll
    for (int first = 0; first < L::kTileCols; first += kStep) {
      const int col = first + static_cast<int>(index_of(tile.thread) % sizes::kWarpgroup) * kAccess;
      if (col >= columns) continue;
      const Element* const from = O::at(params, tile.batch, tile.row0, tile.col0 + col);
      if constexpr (kAccessBytes >= 4)
        ptx::cp_async<kAccessBytes>(column<O>(tile, col), from);
      else
        store_vector(reinterpret_cast<Element*>(column<O>(tile, col)), load_vector<kAccess>(from));
    }
  }
};

} // namespace ingot
