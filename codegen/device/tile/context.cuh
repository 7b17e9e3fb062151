// SPDX-License-Identifier: Apache-2.0
// What a stage or a source may know of where it runs: the tile's place, its bounds, the thread's
// index in the group that owns the tile, and that group's barrier and scratch.
#pragma once

#include "ptx/base.cuh"

namespace ingot {

/// Coordinates are those of the kernel's iteration domain: batch, row, column.
struct TileContext {
  i32 thread; ///< in the group that owns the tile
  i64 batch;
  i64 row0;    ///< domain row of the tile's first row
  i64 col0;    ///< domain column of the tile's first column
  i64 row_end; ///< first domain row that is not this tile's: bounds of both tile and domain
  i64 col_end;
  u8* scratch; ///< the group's scratch in shared memory, 128-byte aligned

  /// Every thread of the group arrives. The group is the whole block for all sm_80 skeletons.
  INGOT_DEVICE void barrier() const { ptx::block_barrier(); }
  /// The threads of a warp arrive.
  INGOT_DEVICE void warp_barrier() const { ptx::warp_barrier(); }
  /// Every thread of the group arrives; whether any of them gave true.
  INGOT_DEVICE bool barrier_any(bool value) const { return ptx::block_barrier_any(value); }
};

/// What index arithmetic divides by for an extent that may be 0: a tile without elements evaluates
/// indices, and uses none.
INGOT_DEVICE i64 nonzero(i64 extent) { return extent > 0 ? extent : 1; }

/// Zeros for an access to a tensor that has no elements: as many as the widest access reads.
template <class T> INGOT_DEVICE const T* nothing() {
  struct alignas(32) Zeros {
    u8 bytes[32];
  };
  static const Zeros zeros = {};
  return reinterpret_cast<const T*>(zeros.bytes);
}

/// Of integers whose quotient is not negative.
INGOT_DEVICE i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }
INGOT_DEVICE i64 min_of(i64 a, i64 b) { return a < b ? a : b; }
INGOT_DEVICE i64 max_of(i64 a, i64 b) { return a > b ? a : b; }

/// A position that is read: itself where there are so many, and the first one where it is not one
/// of them.
INGOT_DEVICE i64 within(i64 position, i64 extent) {
  return position >= 0 && position < extent ? position : 0;
}

/// The smaller one; may be negative.
INGOT_DEVICE i32 clipped(i64 value, i32 limit) {
  return value < limit ? static_cast<i32>(value) : limit;
}

} // namespace ingot
