// SPDX-License-Identifier: Apache-2.0
// Totals of long sums in shared memory. The sums of a mainloop move there every so many products:
// chains of additions stay short, and their errors small.
#pragma once

#include "tile/matrix.cuh"
#include "tile/vector.cuh"

namespace ingot {

/// The totals of a thread's sums of layout L, updated every kEvery tiles of k. No other thread uses
/// them.
template <class L, int kEvery> struct Totals {
  using Sums = f32[L::kRows][L::kCols];
  static constexpr int kBytes = L::kThreads * L::kRows * L::kCols * static_cast<int>(sizeof(f32));
  static constexpr int kVec = L::kCols % 4 == 0 ? 4 : L::kVec;
  using Adjacent = Vector<f32, kVec>;
  f32* own;
  i32 tiles = 0; ///< number of tiles in the sums

  INGOT_DEVICE Totals(u8* memory, i32 thread)
      : own(reinterpret_cast<f32*>(memory) + kVec * thread) {
    for_each([&](f32* totals, int, int) { store_vector(totals, Adjacent{}); });
  }

  /// Must be called before a tile of k is added to `acc`.
  INGOT_DEVICE void count(Sums& acc) {
    if (tiles++ < kEvery) return;
    for_each([&](f32* totals, int i, int j) {
      Adjacent sums = load_vector<kVec>(totals);
#pragma unroll
      for (int e = 0; e < kVec; ++e) sums.v[e] += acc[i][j + e];
      store_vector(totals, sums);
    });
    clear(acc);
    tiles = 1;
  }
  INGOT_DEVICE void finish(Sums& acc) const {
    for_each([&](const f32* totals, int i, int j) {
      const Adjacent sums = load_vector<kVec>(totals);
#pragma unroll
      for (int e = 0; e < kVec; ++e) acc[i][j + e] += sums.v[e];
    });
  }

private:
  /// Calls use(totals, i, j) for the totals of the kVec sums from (i, j) on.
  template <class Use> INGOT_DEVICE void for_each(Use use) const {
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; j += kVec) use(own + (i * L::kCols + j) * L::kThreads, i, j);
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
