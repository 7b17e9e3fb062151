// SPDX-License-Identifier: Apache-2.0
// The surroundings of a stage or a source: the tile's place, its bounds, the thread's index in the
// group that owns the tile, and the barrier and scratch of that group.
#pragma once

#include "ptx/base.cuh"

namespace ingot {

struct ClusterExchange;

/// Coordinates are those of the kernel's iteration domain: batch, row, column.
struct TileContext {
  i32 thread; ///< index in the group that owns the tile
  i64 batch;
  i64 row0;    ///< domain row of the tile's first row
  i64 col0;    ///< domain column of the tile's first column
  i64 row_end; ///< first domain row after the tile, within tile and domain
  i64 col_end;
  u8* scratch;        ///< the group's scratch in shared memory, aligned to 128 bytes
  i32 barrier_id = 0; ///< the group's, 1 to 15; 0: the group is the whole block
  i32 threads = 0;    ///< of a group that is not the block
  u8* kept = nullptr; ///< operands in shared memory (tile/kept.cuh, tile/copied_ahead.cuh)
  ClusterExchange* exchange = nullptr; ///< used if a cluster shares the tile's rows

  /// A barrier of the group.
  INGOT_DEVICE void barrier() const {
    if (barrier_id == 0)
      ptx::block_barrier();
    else
      ptx::group_barrier(barrier_id, threads);
  }
  /// A barrier of the warp.
  INGOT_DEVICE void warp_barrier() const { ptx::warp_barrier(); }
  /// A barrier of the group. Returns whether any thread passed true.
  INGOT_DEVICE bool barrier_any(bool value) const {
    return barrier_id == 0 ? ptx::block_barrier_any(value)
                           : ptx::group_barrier_any(barrier_id, threads, value);
  }
};

/// The divisor for an extent that may be 0. A tile without elements evaluates indices but does not
/// use them.
INGOT_DEVICE i64 nonzero(i64 extent) { return extent > 0 ? extent : 1; }

/// Zeros for an access to a tensor without elements, as many as the widest access reads.
template <class T> INGOT_DEVICE const T* nothing() {
  struct alignas(32) Zeros {
    u8 bytes[32];
  };
  static const Zeros zeros = {};
  return reinterpret_cast<const T*>(zeros.bytes);
}

/// a / b and a % b of numbers that are known to be below 2^32.
INGOT_DEVICE i64 div_u32(i64 a, u32 b) { return static_cast<u32>(a) / b; }
INGOT_DEVICE i64 mod_u32(i64 a, u32 b) { return static_cast<u32>(a) % b; }

/// The rounded-up quotient of integers, if the quotient is not negative.
INGOT_DEVICE i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }
INGOT_DEVICE i64 min_of(i64 a, i64 b) { return a < b ? a : b; }
INGOT_DEVICE i64 max_of(i64 a, i64 b) { return a > b ? a : b; }

/// The position to read: `position` if it is in [0, extent), else 0.
INGOT_DEVICE i64 within(i64 position, i64 extent) {
  return position >= 0 && position < extent ? position : 0;
}

/// The smaller of the two; may be negative.
INGOT_DEVICE i32 clipped(i64 value, i32 limit) {
  return value < limit ? static_cast<i32>(value) : limit;
}

} // namespace ingot
