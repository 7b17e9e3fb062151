// SPDX-License-Identifier: Apache-2.0
// A product of the specialised skeleton may pack its own A. Three warps of the warpgroup that
// copies pack rows, in ascending order, beside the products. The copying thread waits for the rows
// of its tile. Called by kernels/specialised.cuh.
#pragma once

#include "ptx/atomic.cuh"
#include "ptx/bulk_copy.cuh"
#include "tile/context.cuh"
#include "tile/row_packing.cuh"

namespace ingot {

/// The counters through which the blocks of a launch exchange packed rows. All are 0 between
/// launches.
struct PackingBeside {
  u32* counters; ///< state: next unit, blocks that are done, then packed units of each row tile

  INGOT_DEVICE u32* next() const { return counters; }
  INGOT_DEVICE u32* done() const { return counters + 1; }
  INGOT_DEVICE u32* packed(i64 row_tile) const {
    return counters + sizes::kBesideCounters + row_tile;
  }
};

// No block waits for a block that may not have begun: warps take units as they come, and pack those
// that they took without waiting for anything.

/// X: the operand A. kTileM: rows of a tile.
template <class X, int kTileM> struct BesidePacking {
  using To = typename X::Packed;
  static constexpr int kUnit = sizes::kBesideUnit;
  /// Chunks that a thread has at a time: fewer beside a prologue's operands, and the addresses of
  /// single elements.
  static constexpr bool kHasCells =
      PrologueCells<typename X::Prologue::Operands, Major::k, X::kVec>::kBytes > 0;
  static constexpr int kHeld =
      sizes::kPackedHeld / To::kChunk / (kHasCells || X::kVec == 1 ? 2 : 1);
  static_assert(kTileM % To::kRows == 0 && To::kRows % kUnit == 0, "tiles have whole units");

  const To to;
  const PackingBeside meeting;

  INGOT_DEVICE i64 row_tiles() const { return (to.rows + kTileM - 1) / kTileM; }

  /// By a warp: packs units of rows until all are taken.
  template <class Params> INGOT_DEVICE void pack(const Params& params) const {
    const u32 units_of_batch = static_cast<u32>(to.stored_rows() / kUnit);
    const u32 units = static_cast<u32>(to.batches) * units_of_batch;
    const u32 last = units + sizes::kBesideWarps * static_cast<u32>(ptx::block_count()) - 1;
    const i32 lane = ptx::thread_index() % 32;
    const auto take = [&] { return lane == 0 ? ptx::take_number(meeting.next(), last) : 0; };
    for (u32 taken = take();;) {
      const u32 unit = ptx::from_first_lane(taken);
      if (unit >= units) return;
      taken = take(); // arrives while this unit is packed
      const u32 batch = unit / units_of_batch, row0 = unit % units_of_batch * kUnit;
#pragma unroll 1
      for (int row = 0; row < kUnit; ++row)
        RowPacking<X, 32, kHeld>::run(
            params, to, batch, row0 + row, lane,
            [](u32 value, int, auto combine) { return combined_in_warp(value, combine); });
      ptx::order_with_copies();
      ptx::warp_barrier();
      if (lane == 0) ptx::count_up(meeting.packed(batch * row_tiles() + row0 / kTileM));
    }
  }

  /// By the copying thread: waits until the rows of a tile are packed.
  INGOT_DEVICE void wait(const TileContext& tile) const {
    const i64 batch = to.batches == 1 ? 0 : tile.batch;
    const i64 left = to.stored_rows() - tile.row0, rows = left < kTileM ? left : kTileM;
    ptx::wait_for_count(meeting.packed(batch * row_tiles() + tile.row0 / kTileM),
                        static_cast<u32>(rows / kUnit));
    ptx::order_with_copies();
  }

  /// By the copying thread of each block, after its last wait. The last one sets the counters back.
  /// Each count was seen by a thread that has arrived here, so none comes after that.
  INGOT_DEVICE void finish() const {
    const auto last = static_cast<u32>(ptx::block_count() - 1);
    if (ptx::count_arrival(meeting.done(), last) != last) return;
#pragma unroll 1 // a constant count is unrolled otherwise
    for (i64 tile = 0; tile < to.batches * row_tiles(); ++tile) *meeting.packed(tile) = 0;
  }
};

} // namespace ingot
