// SPDX-License-Identifier: Apache-2.0
// Adds the products of the residuals that rows of packed halves list (tile/row_split.cuh) to the
// sums of a tile.
#pragma once

#include "tile/context.cuh"
#include "tile/packed.cuh"

namespace ingot {

// A row has elements a = h + r: h is the sum of the halves and r the residual, or 0 if none is
// listed. A column has b = g + s in the same way. The products of a tile are h g. Here they get
// r g for each residual of a row, and a s for each residual of a column.

/// L: the layout of the sums of a tile by wgmma. A and B are packed halves, and list their
/// residuals.
template <class L, class A, class B> struct ResidualProducts {
  using Sums = f32[L::kRows][L::kCols];
  static_assert(L::kCols == L::kTileCols / 4, "a warp has all columns");
  const A a;
  const B b;
  const TileContext& tile;

  /// By all threads of the tile, of which no row or column is too large or unlisted. Sets the sums,
  /// before the first product is added.
  INGOT_DEVICE void run(Sums& acc) const {
    const i32 thread = ptx::opaque(tile.thread);
    u32 longest = 0; // list of the warp's rows
#pragma unroll
    for (int i = 0; i < L::kRows; ++i)
      longest = larger(longest, count_of(a, tile.row0 + L::row(thread, i)));
    longest = in_all_lanes(longest, larger);
    // In local memory, because the loops are not unrolled: their code would be a fifth of a kernel.
    Sums sums;
#pragma unroll 1
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll 1
      for (int at = 0; at < L::kCols; at += kStep) set_row(thread, i, at, longest, sums[i] + at);
    }
#pragma unroll 1
    for (int at = 0; at < L::kCols; at += kStep) add_columns(thread, at, longest, sums);
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; ++j) acc[i][j] = sums[i][j];
    }
  }

private:
  static constexpr int kStep = 8; ///< columns of a thread at a time, of 32 of the tile
  static_assert(L::kCols % kStep == 0 && B::kRows % (4 * kStep) == 0, "blocks have whole steps");

  // All lanes run each loop equally often, also where their own lists are shorter. Otherwise the
  // assembler guards each later shuffle.

  /// Sets kStep sums of the thread's row i, from its column `at` on, to the products of the
  /// row's residuals.
  INGOT_DEVICE void set_row(i32 thread, int i, int at, u32 longest, f32* sums) const {
    f32 step[kStep] = {};
#pragma unroll 1
    for (u32 n = 0; n < longest; ++n) {
      const Residual residual = residual_of(a, row_of(thread, i), n);
      // A thread's columns come in pairs. Pairs are 8 lines apart, where k has the same place.
      const typename B::Element* from[2];
#pragma unroll
      for (int odd = 0; odd < 2; ++odd)
        from[odd] = b.high(tile.batch, first_col(thread, at) + odd, residual.k);
#pragma unroll
      for (int j = 0; j < kStep; ++j)
        step[j] += residual.value * B::sum(from[j % 2] + j / 2 * 8 * B::kDepth);
    }
#pragma unroll
    for (int j = 0; j < kStep; ++j) sums[j] = step[j];
  }

  /// Adds the products of the residuals of kStep columns of each thread, from `at` on.
  INGOT_DEVICE void add_columns(i32 thread, int at, u32 longest, Sums& sums) const {
    const int lane = static_cast<int>(index_of(thread) % 32);
    const u32 count = count_of(b, tile.col0 + 4 * at + lane);
    const u32 listing = in_all_lanes(count > 0 ? 1u << lane : 0, either);
    const u32 most = in_all_lanes(count, larger);
#pragma unroll 1
    for (int j = 0; j < kStep; ++j) {
      const int pair = j / 2 * 8; // of four lanes, in the columns of the warp
      if ((listing >> pair & 0xff) == 0) continue;
      const i64 col = first_col(thread, at) + pair + j % 2;
#pragma unroll 1
      for (u32 n = 0; n < most; ++n) {
        const Residual residual = residual_of(b, col, n);
#pragma unroll
        for (int i = 0; i < L::kRows; ++i)
          sums[i][at + j] += element_of_a(thread, i, residual.k, longest) * residual.value;
      }
    }
  }

  /// The thread's columns of a tile are adjacent in pairs, and the pairs of four lanes are. Warps
  /// have all columns.
  INGOT_DEVICE i64 first_col(i32 thread, int at) const {
    return tile.col0 + 4 * at + index_of(thread) % 4 * 2;
  }
  INGOT_DEVICE i64 row_of(i32 thread, int i) const { return tile.row0 + L::row(thread, i); }

  /// Element k of the thread's row i, with its residual.
  INGOT_DEVICE f32 element_of_a(i32 thread, int i, u32 k, u32 longest) const {
    f32 element = A::sum(a.high(tile.batch, row_of(thread, i), k));
#pragma unroll 1
    for (u32 n = 0; n < longest; ++n) {
      const Residual residual = residual_of(a, row_of(thread, i), n);
      element += residual.k == k ? residual.value : 0.0f;
    }
    return element;
  }

  /// Residual n of a row of A or of a column of B; 0 if its list is shorter.
  template <class X> INGOT_DEVICE Residual residual_of(const X& x, i64 row, u32 n) const {
    Residual residual = {};
    if (n < count_of(x, row)) residual = x.residuals(tile.batch, row)[n];
    return residual;
  }
  /// The number of residuals. Rows outside the matrix have none.
  template <class X> INGOT_DEVICE u32 count_of(const X& x, i64 row) const {
    return row < x.rows ? *x.residual_count(tile.batch, row) : 0;
  }

  /// The combination of the values of the lanes. Taken from one lane, so that the assembler knows
  /// that all have the same.
  static INGOT_DEVICE u32 in_all_lanes(u32 value, u32 combine(u32, u32)) {
    return ptx::from_first_lane(combined_in_warp(value, combine));
  }
  static INGOT_DEVICE u32 larger(u32 x, u32 y) { return x > y ? x : y; }
  static INGOT_DEVICE u32 either(u32 x, u32 y) { return x | y; }
};

} // namespace ingot
