// SPDX-License-Identifier: Apache-2.0
// The kept skeleton, for rows that registers do not hold. Operands that a reduction reads are
// copied to shared memory, where later walks find them. A cluster of blocks shares a row that the
// memory of one block does not hold (sm_90). While a row's results are stored, the next row arrives
// in its place.
#pragma once

#include "kernels/streamed.cuh"

namespace ingot {

// A kernel K is as in kernels/held.cuh, and has
//   Kept             List of the operands that are kept
//   kColumns         columns of a row
// A tile has one row.

/// Waits until at most `pending` groups of this thread's copies are in flight. Above kPending it
/// waits for more groups than that.
template <i32 kPending = 7> INGOT_DEVICE void wait_for_copies(i32 pending) {
  if constexpr (kPending == 0)
    ptx::cp_async_wait<0>();
  else if (pending >= kPending)
    ptx::cp_async_wait<kPending>();
  else
    wait_for_copies<kPending - 1>(pending);
}

/// The chunks of a block's part of a row, in shared memory. Layout L is Keeping.
template <class L> struct KeptChunks {
  static constexpr int kChunkBytes = L::kCols / L::kVec * L::kStepBytes * L::kThreads;
  u8* base;
  i32 under_way = 0; ///< chunks of the row for whose copies this thread has not waited

  /// Before each chunk of each walk.
  INGOT_DEVICE void begin(TileContext& chunk, i32 number) {
    chunk.kept = base + number * kChunkBytes;
    if (under_way > 0) wait_for_copies(--under_way);
  }

  /// Starts the copies of a whole row. `row` has at least one chunk.
  template <class Params> INGOT_DEVICE void copy(const Params& params, const TileContext& row) {
    i32 number = 0;
    for (i64 col0 = row.col0; col0 == row.col0 || col0 < row.col_end; col0 += L::kTileCols) {
      TileContext chunk = row;
      chunk.col0 = col0;
      chunk.kept = base + number++ * kChunkBytes;
      L::copy(params, chunk);
    }
    under_way = number;
  }
};

/// Dynamic shared memory of a kernel.
template <class K> struct KeptBytes {
  using Layout = Keeping<typename K::Source::Layout, typename K::Kept>;
  static constexpr int kStages = ScratchBytes<Layout, typename K::Stages>::kBytes;
  static constexpr int kStep = Layout::kThreads * Layout::kVec; ///< columns
  static constexpr int kElement = Layout::kStepBytes / Layout::kVec;
  static constexpr int kExchange = sizes::exchange_offset(kStages);
  static constexpr int kFirst = sizes::kept_offset(kStages, Layout::kCluster); ///< of the operands
  static constexpr i64 kWidth = sizes::kept_columns(K::kColumns, Layout::kCluster); ///< of a block
  static constexpr i64 kBytes =
      sizes::kept_bytes(kStages, K::kColumns, Layout::kCluster, kStep, kElement);
};

template <class K> INGOT_DEVICE void kept(const typename K::Params& params) {
  using L = typename KeptBytes<K>::Layout;
  using Stages = typename K::Stages;
  using Results = typename ResultsOf<L, List<>, Stages>::Type;
  using Tile = StreamedTile<L, K::kSlots, typename K::Params, Results, KeptChunks<L>>;
  static_assert(L::kTileRows == 1, "a chunk is part of one row");
  const TileGrid grid = K::grid(params);
  constexpr i64 kWidth = KeptBytes<K>::kWidth;
  const i32 rank = ptx::block_index() % L::kCluster;
  const i64 first_col = min_of(rank * kWidth, K::kColumns);
  ClusterExchange exchange{ptx::shared_address(ptx::shared_memory()) + KeptBytes<K>::kExchange,
                           static_cast<u32>(rank)};
  if constexpr (L::kCluster > 1) {
    if (ptx::thread_index() == 0) exchange.make();
    ptx::cluster_arrive();
  }
  const auto row_of = [&](i64 index) {
    TileContext row = grid.place(index, ptx::thread_index(), ptx::shared_memory());
    row.col0 = first_col;
    row.col_end = min_of(first_col + kWidth, K::kColumns);
    row.exchange = &exchange;
    return row;
  };
  const i64 clusters = ptx::block_count() / L::kCluster, rows = grid.tiles();
  i64 index = ptx::block_index() / L::kCluster;
  KeptChunks<L> chunks{ptx::shared_memory() + KeptBytes<K>::kFirst};
  if (index < rows) chunks.copy(params, row_of(index));
  if constexpr (L::kCluster > 1) ptx::cluster_wait();
  for (bool again = false; index < rows; index += clusters, again = true) {
    const TileContext row = row_of(index);
    // Until here, threads may read the scratch of the last row. In a cluster they have read it
    // when its states arrive.
    if (L::kCluster == 1 && again) row.barrier();
    Results results(row.thread);
    const Tile tile{params, row, results, chunks};
    tile.reductions(List<>(), Stages(), row.scratch);
    const bool has_next = index + clusters < rows;
    TileContext next = row_of(has_next ? index + clusters : index);
    i32 copied = 0;
    tile.template walk<typename Tile::MapsAndStores>(
        Stages(), [&](const TileContext& chunk, Fragment<L, K::kSlots>&) {
          if (!has_next) return;
          next.col0 = chunk.col0;
          next.kept = chunk.kept;
          L::copy(params, next);
          ++copied;
        });
    chunks.under_way = copied;
  }
}

} // namespace ingot
