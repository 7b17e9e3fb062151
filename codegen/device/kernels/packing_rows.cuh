// SPDX-License-Identifier: Apache-2.0
// The packing_rows skeleton: packs an operand (tile/packed.cuh) whose rows are contiguous. The
// threads of a row that is scaled hold it in registers from the search for its largest and its
// least element to the split. A longer row is read twice. Threads
// whose residuals are listed read their part of the row once more.
#pragma once

#include "sizes/shared_memory.h"
#include "tile/row_packing.cuh"

namespace ingot {

// The parts of a kernel K of this skeleton, written by the emitter:
//   kPerRow         the threads of a row: a power of two from 32 on
//   using Operand   a matrix operand of major k (tile/matrix.cuh), with packed(params): the place
//                   of the packed operand, and the extents (tile/packed.cuh)
template <class K> struct PackingRows {
  using X = typename K::Operand;
  using To = typename X::Packed;
  static constexpr int kThreads = sizes::kPackingThreads, kPerRow = K::kPerRow;
  static constexpr int kRows = kThreads / kPerRow, kWarpsOfRow = kPerRow / 32;
  static constexpr int kSharedBytes = sizes::packing_rows_bytes(kThreads);
  static_assert(To::kRows % kRows == 0, "no block passes the last row");

  /// The combination of the values of a row's threads, in all of them. `region` is one of three
  /// that the block's rows share.
  template <class Combine>
  static INGOT_DEVICE u32 combined(u32 value, int region, Combine combine) {
    value = combined_in_warp(value, combine);
    if constexpr (kWarpsOfRow > 1) {
      const i32 warp = ptx::thread_index() / 32;
      u32* const all = reinterpret_cast<u32*>(ptx::shared_memory()) + region * (kThreads / 32);
      if (ptx::thread_index() % 32 == 0) all[warp] = value;
      ptx::block_barrier();
      const u32* const own = all + warp / kWarpsOfRow * kWarpsOfRow;
      value = own[0];
#pragma unroll
      for (int i = 1; i < kWarpsOfRow; ++i) value = combine(value, own[i]);
    }
    return value;
  }

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, i64 batch, i64 row0, const To& to) {
    const i64 row = row0 + ptx::thread_index() / kPerRow, lane = ptx::thread_index() % kPerRow;
    RowPacking<X, kPerRow, sizes::kPackedHeld / To::kChunk>::run(
        params, to, batch, row, lane,
        [](u32 value, int region, auto combine) { return combined(value, region, combine); });
  }
};

template <class K> INGOT_DEVICE void packing_rows(const typename K::Params& params) {
  using Skeleton = PackingRows<K>;
  const auto to = K::Operand::packed(params);
  const i64 units = to.stored_rows() / Skeleton::kRows;
  for (i64 unit = ptx::block_index(); unit < to.batches * units; unit += ptx::block_count())
    Skeleton::run(params, unit / units, unit % units * Skeleton::kRows, to);
}

} // namespace ingot
