// SPDX-License-Identifier: Apache-2.0
// Adds the products of the residuals that rows of packed halves list (tile/row_split.cuh) to the
// sums of a tile.
#pragma once

#include "tile/context.cuh"
#include "tile/packed.cuh"

namespace ingot {

// A row has elements a = h + r: h is the sum of the halves and r the residual, or 0 if none is
// listed. A column has b = g + s in the same way. The sums hold the products h g. Here a s is added
// for each residual of a column, and r g for each residual of a row.

/// L: the layout of the sums of a tile by wgmma. A and B are packed halves, and list their
/// residuals.
template <class L, class A, class B> struct ResidualProducts {
  using Sums = f32[L::kRows][L::kCols];
  static constexpr int kBlockCols = B::kRows; ///< columns of a block of B
  static_assert(L::kTileCols % kBlockCols == 0 && L::kCols == L::kTileCols / 4,
                "a warp has all columns");
  const A a;
  const B b;
  const TileContext& tile;

  /// By all threads of the tile. No row or column of it is too large or unlisted.
  INGOT_DEVICE void run(Sums& acc) const {
    const i32 thread = ptx::opaque(tile.thread);
    u32 longest = 0; // list of the warp's rows
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
      const u32 count = count_of(a, tile.row0 + L::row(thread, i));
      longest = count > longest ? count : longest;
    }
    longest = in_all_lanes(longest, [](u32 x, u32 y) { return x > y ? x : y; });
#pragma unroll 1
    for (int first = 0; first < L::kTileCols; first += 32) add_columns(thread, first, longest, acc);
#pragma unroll 1
    for (int i = 0; i < L::kRows; ++i) add_row(thread, i, longest, acc);
  }

private:
  // All lanes run each loop equally often, also where their own lists are shorter. Otherwise the
  // assembler guards each later shuffle.

  /// Of 32 columns.
  INGOT_DEVICE void add_columns(i32 thread, int first, u32 longest, Sums& acc) const {
    const int lane = static_cast<int>(index_of(thread) % 32);
    const bool has_any = count_of(b, tile.col0 + first + lane) > 0;
    const u32 listing = in_all_lanes(has_any ? 1u << lane : 0, [](u32 x, u32 y) { return x | y; });
#pragma unroll 1
    for (int at = 0; at < 32; ++at) {
      if ((listing >> at & 1) == 0) continue;
      const int column = first + at;
      f32 sums[L::kRows] = {};
      const u32 count = ptx::from_first_lane(count_of(b, tile.col0 + column));
#pragma unroll 1
      for (u32 n = 0; n < count; ++n) {
        const Residual residual = b.residuals(tile.batch, tile.col0 + column)[n];
#pragma unroll
        for (int i = 0; i < L::kRows; ++i)
          sums[i] += element_of_a(thread, i, residual.k, longest) * residual.value;
      }
      const int offset = column - first_col(thread);
#pragma unroll
      for (int j = 0; j < L::kCols; ++j) {
        if (L::col_offset(j) != offset) continue;
#pragma unroll
        for (int i = 0; i < L::kRows; ++i) acc[i][j] += sums[i];
      }
    }
  }

  /// Of the thread's row i.
  INGOT_DEVICE void add_row(i32 thread, int i, u32 longest, Sums& acc) const {
#pragma unroll 1
    for (u32 n = 0; n < longest; ++n) {
      const Residual residual = residual_of(tile.row0 + L::row(thread, i), n);
      f32 of_row[L::kRows];
#pragma unroll
      for (int other = 0; other < L::kRows; ++other)
        of_row[other] = other == i ? residual.value : 0.0f;
#pragma unroll
      for (int block = 0; block < L::kTileCols / kBlockCols; ++block) {
        // A thread's columns come in pairs. Pairs are 8 lines apart, where k has the same place.
        const typename B::Element* from[2];
#pragma unroll
        for (int odd = 0; odd < 2; ++odd)
          from[odd] = b.high(tile.batch, tile.col0 + block * kBlockCols + first_col(thread) + odd,
                             residual.k);
#pragma unroll
        for (int j = 0; j < kBlockCols / 4; ++j) {
          const f32 of_column = B::sum(from[j % 2] + j / 2 * 8 * B::kDepth);
#pragma unroll
          for (int other = 0; other < L::kRows; ++other)
            acc[other][block * (kBlockCols / 4) + j] += of_row[other] * of_column;
        }
      }
    }
  }

  /// The first column of a thread: warps have all of them.
  static INGOT_DEVICE int first_col(i32 thread) {
    return static_cast<int>(index_of(thread) % 4 * 2);
  }

  /// Element k of the thread's row i, with its residual.
  INGOT_DEVICE f32 element_of_a(i32 thread, int i, u32 k, u32 longest) const {
    const i64 row = tile.row0 + L::row(thread, i);
    f32 element = A::sum(a.high(tile.batch, row, k));
#pragma unroll 1
    for (u32 n = 0; n < longest; ++n) {
      const Residual residual = residual_of(row, n);
      element += residual.k == k ? residual.value : 0.0f;
    }
    return element;
  }

  /// Residual n of a row of A; 0 if its list is shorter.
  INGOT_DEVICE Residual residual_of(i64 row, u32 n) const {
    Residual residual = {};
    if (n < count_of(a, row)) residual = a.residuals(tile.batch, row)[n];
    return residual;
  }

  /// The combination of the values of the lanes. Taken from one lane, so that the assembler knows
  /// that all have the same.
  template <class Combine> static INGOT_DEVICE u32 in_all_lanes(u32 value, Combine combine) {
    return ptx::from_first_lane(combined_in_warp(value, combine));
  }

  /// The number of residuals of a row. Rows outside the matrix have none.
  template <class X> INGOT_DEVICE u32 count_of(const X& x, i64 row) const {
    return row < x.rows ? *x.residual_count(tile.batch, row) : 0;
  }
};

} // namespace ingot
