// SPDX-License-Identifier: Apache-2.0
// Totals of long sums in shared memory. The sums of a mainloop move there every so many products:
// chains of additions stay short, and their errors small.
#pragma once

#include "tile/matrix.cuh"

namespace ingot {

/// The totals of a thread's sums of layout L, updated every kEvery tiles of k. No other thread uses
/// them.
template <class L, int kEvery> struct Totals {
  using Sums = f32[L::kRows][L::kCols];
  static constexpr int kBytes = L::kThreads * L::kRows * L::kCols * static_cast<int>(sizeof(f32));
  f32* own;
  i32 tiles = 0; ///< number of tiles in the sums
  bool any = false;

  INGOT_DEVICE Totals(u8* memory, i32 thread) : own(reinterpret_cast<f32*>(memory) + thread) {}

  static INGOT_DEVICE int place(int i, int j) { return (i * L::kCols + j) * L::kThreads; }

  /// Must be called before a tile of k is added to `acc`.
  INGOT_DEVICE void count(Sums& acc) {
    if (tiles++ < kEvery) return;
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; ++j) {
        f32& total = own[place(i, j)];
        total = any ? total + acc[i][j] : acc[i][j];
      }
    }
    clear(acc);
    any = true;
    tiles = 1;
  }
  INGOT_DEVICE void finish(Sums& acc) const {
    if (!any) return;
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; ++j) acc[i][j] += own[place(i, j)];
    }
  }
};
/// Sums that are short have no totals.
template <class L> struct Totals<L, 0> {
  static constexpr int kBytes = 0;
  INGOT_DEVICE Totals(u8*, i32) {}
  template <class Sums> INGOT_DEVICE void count(Sums&) {}
  template <class Sums> INGOT_DEVICE void finish(Sums&) const {}
};

} // namespace ingot
