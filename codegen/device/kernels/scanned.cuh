// SPDX-License-Identifier: Apache-2.0
// The scanned skeleton. It reads rows of any length once, chunk by chunk in the order of the scan.
// The stages after the scan run while the chunk is in registers.
#pragma once

#include "kernels/held.cuh"
#include "tile/scan.cuh"

namespace ingot {

template <class L, class S> struct StageScratch<L, Scan<S>> {
  static constexpr int kBytes = ScanPlan<S, L>::kScratchBytes;
};

/// A tile of rows, processed in chunks of the layout's width. Its stages are a scan, then stores.
template <class L, class Params> struct ScannedTile {
  const Params& params;
  const TileContext& rows; ///< from col0 = 0 to col_end, the end of the row
  int& turn;               ///< number of chunks so far, including other tiles

  template <class S, class... Fs, class... Os>
  INGOT_DEVICE void run(List<Scan<S>, Store<Fs, Os>...>) const {
    using Reducer = typename S::Reducer;
    // A row without columns has one chunk, so that an element stored once per row is stored.
    const i64 chunks = rows.col_end == 0 ? 1 : (rows.col_end + L::kTileCols - 1) / L::kTileCols;
    ScanCarry<S> carry;
    for (i64 k = 0; k < chunks; ++k) {
      TileContext context = rows;
      context.col0 = (S::kReverse ? chunks - 1 - k : k) * L::kTileCols;
      const Fragment<L, 0> fragment = {};
      const TileBounds<L> bounds(context);
      ScanResults<S, L> results;
      for_each_element<typename S::Functor>(
          params, context, fragment, results,
          [&](int, int j, i64, i64 col, typename Reducer::Value value) {
            results.state[j] = Reducer::init();
            if (bounds.col(j)) Reducer::step(results.state[j], value, col);
          });
      scan_chunk<S, L>(context, carry, results.state, context.scratch, turn++);
      (run_store<Fs, Os, L>(params, context, fragment, results), ...);
    }
  }
};

template <class K> INGOT_DEVICE void scanned(const typename K::Params& params) {
  const TileGrid grid = K::grid(params);
  int turn = 0;
  for (i64 index = ptx::block_index(); index < grid.tiles(); index += ptx::block_count()) {
    const TileContext context = grid.place(index, ptx::thread_index(), ptx::shared_memory());
    const ScannedTile<typename K::Source::Layout, typename K::Params> tile{params, context, turn};
    tile.run(typename K::Stages());
  }
}

} // namespace ingot
