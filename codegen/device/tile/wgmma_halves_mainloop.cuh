// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on sm_90a: three products of halves (tile/halves.cuh) for one f32
// product, by wgmma from a ring of slots. All tiles are computed, also those whose rows do not
// suit. Config gives kTileM, kTileN, kTileK, kRingSlots and kTotalEvery.
#pragma once

#include "ptx/bulk_copy.cuh"
#include "ptx/wgmma.cuh"
#include "tile/layout.cuh"
#include "tile/matrix.cuh"
#include "tile/packed_halves.cuh"
#include "tile/prologue.cuh"
#include "tile/slot_ring.cuh"

namespace ingot {

/// The descriptor of a matrix with k innermost, at a shared address (PTX ISA, "Matrix Descriptor
/// Format"): lines of 128 bytes, swizzled, in groups of 8 lines.
INGOT_DEVICE u64 matrix_descriptor(u32 address) {
  constexpr u64 kGroupBytes = 8 * 128, kLeadingUnused = 1, kSwizzle128 = 1;
  return static_cast<u64>((address & 0x3ffff) >> 4) | kLeadingUnused << 16 |
         kGroupBytes >> 4 << 32 | kSwizzle128 << 62;
}

// An operand X: halves(params) -> PackedHalves. The sums are those of tile/halves_mainloop.cuh:
// parts of one slot are summed on tensor cores, from zero, and f32 additions that round add them;
// sums of kTotalEvery products move to totals. Measured on an H200 for K = 8192 and positive data,
// the worst error is 1.03 of 2^-20 |a||b| without totals and 0.48 with totals every 2048.

template <class Config, class A, class B> struct WgmmaHalvesMainloop {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kGroups = kTileM / 64; ///< warpgroups, each with 64 rows of the tile
  static constexpr bool kTotals = Config::kTotalEvery > 0;
  static_assert(kTileK == PackedHalves::kDepth && kTileM % 64 == 0 && kTileN % 64 == 0,
                "slots hold whole blocks");
  /// A warp has 16 rows and all columns, as mma.sync lays them out (PTX ISA, "Register Fragments
  /// for wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<kTileM / 16, 1, 16, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  static constexpr int kBlockBytes = PackedHalves::kBlockBytes;
  static constexpr int kHalfOfA = kTileM / 64 * kBlockBytes, kHalfOfB = kTileN / 64 * kBlockBytes;
  static constexpr int kSlotBytes = 2 * (kHalfOfA + kHalfOfB);
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, kGroups>;
  using Place = typename Ring::Place;

  /// The number of slots that a tile's operands fill.
  static INGOT_DEVICE i32 slots_of(KRange k) {
    return static_cast<i32>((k.end - k.begin + kTileK - 1) / kTileK);
  }

  /// By one thread: copies the operands of a tile.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    const PackedHalves a = A::halves(params), b = B::halves(params);
    i64 depth_block = k.begin / kTileK;
    for (i32 left = slots_of(k); left > 0; --left, ++depth_block) {
      const u32 full = ring.begin_filling(place);
      const u32 to = ring.slot(place.slot);
      copy_operand<kTileM>(a, tile.batch, tile.row0, depth_block, to, full);
      copy_operand<kTileN>(b, tile.batch, tile.col0, depth_block, to + 2 * kHalfOfA, full);
      place.advance();
    }
  }

  /// By the warpgroups: the sums of a tile, scaled. `thread` is the index among all of them.
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc) {
    const i32 group = ptx::uniform(thread / 128);
    const u64 a = matrix_descriptor(ring.slot(0) + group * kBlockBytes);
    const u64 b = matrix_descriptor(ring.slot(0) + 2 * kHalfOfA);
    Sums part, total;
    clear(acc);
    if constexpr (kTotals) clear(total);
    i32 since_total = 0;
    for (i32 left = slots_of(k); left > 0; --left) {
      ring.wait_until_full(place);
      ptx::pin(part);
      ptx::wgmma_fence();
      const u64 slot = place.slot * (kSlotBytes >> 4);
      multiply_blocks(a + slot + (kHalfOfA >> 4), b + slot, false, part);
      multiply_blocks(a + slot, b + slot + (kHalfOfB >> 4), true, part);
      multiply_blocks(a + slot, b + slot, true, part);
      ptx::wgmma_commit();
      ptx::pin(part);
      ptx::wgmma_wait<0>();
      ptx::pin(part);
      if (index_of(thread) % 128 == 0) ring.release(place);
      place.advance();
      add(part, acc);
      if constexpr (kTotals) {
        if (++since_total < Config::kTotalEvery / kTileK) continue;
        add(acc, total);
        clear(acc);
        since_total = 0;
      }
    }
    if constexpr (kTotals) add(total, acc);
  }

  /// Removes the scales of rows and columns from the sums of a tile.
  template <class Params>
  static INGOT_DEVICE void finish(const Params& params, const TileContext& tile, Sums& acc) {
    const PackedHalves a = A::halves(params), b = B::halves(params);
    Unscaling row_scale[Layout::kRows];
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i)
      row_scale[i] = unscaling(a, tile.batch, tile.row0 + Layout::row(tile.thread, i));
#pragma unroll
    for (int j = 0; j < Layout::kCols; ++j) {
      const Unscaling scale = unscaling(b, tile.batch, tile.col0 + Layout::col(tile.thread, j));
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i)
        acc[i][j] = acc[i][j] * (row_scale[i].half * scale.half) * (row_scale[i].rest * scale.rest);
    }
  }

private:
  /// Copies kLines rows of both halves to a slot: the high halves, then the low ones.
  template <int kLines>
  static INGOT_DEVICE void copy_operand(const PackedHalves& from, i64 batch, i64 row0,
                                        i64 depth_block, u32 to, u32 full) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < kLines / 64; ++i)
        ptx::copy_bulk(to + (half * (kLines / 64) + i) * kBlockBytes,
                       from.block(batch, row0 / 64 + i, depth_block, half), kBlockBytes, full);
    }
  }

  /// d = [d +] A B for one slot's k.
  static INGOT_DEVICE void multiply_blocks(u64 a, u64 b, bool adds, Sums& d) {
#pragma unroll
    for (int step = 0; step < kTileK / 16; ++step)
      ptx::Wgmma<kTileN, f16>::run(d, a + step * 2, b + step * 2, adds || step > 0);
  }

  static INGOT_DEVICE void add(const Sums& from, Sums& to) {
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) to[i][j] += from[i][j];
    }
  }

  static INGOT_DEVICE Unscaling unscaling(const PackedHalves& of, i64 batch, i64 row) {
    return Unscaling(row < of.rows ? of.row(batch, row).shift : 0);
  }
};

} // namespace ingot
