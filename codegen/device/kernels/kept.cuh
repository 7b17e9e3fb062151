// SPDX-License-Identifier: Apache-2.0
// The kept skeleton, for rows that registers do not hold. Operands that a reduction reads are
// copied to shared memory, where later walks find them. A cluster of blocks shares a row that the
// memory of one block does not hold (sm_90). A stored chunk leaves its slot to a chunk of a later
// row. If there are more slots than chunks of a row, copies are under way while the threads of a
// row wait for one another.
#pragma once

#include "kernels/streamed.cuh"

namespace ingot {

// A kernel K is as in kernels/held.cuh, and has
//   Kept             List of the operands that are kept
//   kColumns         columns of a row
//   Source::Layout   a KeptLayout
// A tile has one row.

/// Waits until at most `pending` groups of this thread's copies are in flight. Above kPending it
/// waits for more groups than that.
template <i32 kPending> INGOT_DEVICE void wait_for_copies(i32 pending) {
  if constexpr (kPending == 0)
    ptx::cp_async_wait<0>();
  else if (pending >= kPending)
    ptx::cp_async_wait<kPending>();
  else
    wait_for_copies<kPending - 1>(pending);
}

/// The ring of slots for chunks of the block's rows, in shared memory. Layout L is Keeping. A row
/// has at least one chunk and at most L::kRingSlots.
template <class L> struct KeptChunks {
  static constexpr int kChunkBytes = L::kCols / L::kVec * L::kStepBytes * L::kThreads;
  static constexpr i32 kMostPending = smaller(7, L::kRingSlots - 1); ///< that a wait tells apart
  u8* base;
  i32 first = 0;     ///< the slot of the row's first chunk
  i32 arrived = 0;   ///< chunks of the row for whose copies this thread has waited
  i32 under_way = 0; ///< copies for which it has not waited, of later rows too

  INGOT_DEVICE u8* slot(i32 number) const {
    const i32 at = first + number;
    return base + (at < L::kRingSlots ? at : at - L::kRingSlots) * kChunkBytes;
  }
  /// Before each chunk of each walk.
  INGOT_DEVICE void begin(TileContext& chunk, i32 number) {
    chunk.kept = slot(number);
    if (number < arrived) return;
    ++arrived;
    wait_for_copies<kMostPending>(--under_way);
  }
  /// Behind the last walk of a row.
  INGOT_DEVICE void end_row() {
    first += arrived;
    if (first >= L::kRingSlots) first -= L::kRingSlots;
    arrived = 0;
  }
};

/// Dynamic shared memory of a kernel.
template <class K> struct KeptBytes {
  using Layout = Keeping<typename K::Source::Layout, typename K::Kept>;
  static constexpr int kStages = ScratchBytes<Layout, typename K::Stages>::kBytes;
  static constexpr int kElement = Layout::kStepBytes / Layout::kVec;
  static constexpr int kExchange = sizes::exchange_offset(kStages);
  static constexpr int kFirst = sizes::kept_offset(kStages, Layout::kCluster); ///< of the operands
  static constexpr i64 kWidth = sizes::kept_columns(K::kColumns, Layout::kCluster); ///< of a block
  static_assert(kWidth <= i64{Layout::kRingSlots} * Layout::kTileCols, "the slots hold a row");
  static constexpr int kBytes =
      sizes::kept_bytes(kStages, Layout::kCluster, Layout::kRingSlots, Layout::kTileCols, kElement);
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
  i64 index_ahead = index;           // of the row that is copied
  TileContext ahead = row_of(index); // from its next chunk on
  const auto copy_next = [&](u8* slot) {
    if (index_ahead >= rows) return;
    ahead.kept = slot;
    L::copy(params, ahead);
    ++chunks.under_way;
    ahead.col0 += L::kTileCols;
    if (ahead.col0 < ahead.col_end) return;
    index_ahead += clusters;
    if (index_ahead < rows) ahead = row_of(index_ahead);
  };
#pragma unroll 1
  for (int slot = 0; slot < L::kRingSlots; ++slot) copy_next(chunks.slot(slot));
  if constexpr (L::kCluster > 1) ptx::cluster_wait();
  for (bool again = false; index < rows; index += clusters, again = true) {
    const TileContext row = row_of(index);
    // Until here, threads may read the scratch of the last row. In a cluster they have read it
    // when its states arrive.
    if (L::kCluster == 1 && again) row.barrier();
    Results results(row.thread);
    const Tile tile{params, row, results, chunks};
    tile.reductions(List<>(), Stages(), row.scratch);
    tile.template walk<typename Tile::MapsAndStores>(
        Stages(),
        [&](const TileContext& chunk, Fragment<L, K::kSlots>&) { copy_next(chunk.kept); });
    chunks.end_row();
  }
}

} // namespace ingot
