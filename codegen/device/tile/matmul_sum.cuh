// SPDX-License-Identifier: Apache-2.0
// A source with one tile: the sum of two products over the same rows and columns.
#pragma once

#include "tile/matrix.cuh"

namespace ingot {

// Second, written by the emitter, gives kFirstDepth, the K of the first product, and kFactor, the
// number that multiplies that product.

/// The contractions of both products as one: the second one begins at the k kBegin, in a slot of
/// its own.
template <class Second, int kTileK> struct SummedContraction {
  static constexpr i64 kDepth = Second::kFirstDepth;
  static constexpr i64 kBegin = (kDepth + kTileK - 1) / kTileK * kTileK;

  static INGOT_DEVICE KRange first(KRange k) { return {at_most(k.begin), at_most(k.end)}; }
  static INGOT_DEVICE KRange second(KRange k) { return {behind(k.begin), behind(k.end)}; }

private:
  static INGOT_DEVICE i64 at_most(i64 k) { return k < kDepth ? k : kDepth; }
  static INGOT_DEVICE i64 behind(i64 k) { return k < kBegin ? 0 : k - kBegin; }
};

/// Multiplies the sums of the first product by the factor.
template <class Second, int kRows, int kCols>
INGOT_DEVICE void scale_sums(f32 (&acc)[kRows][kCols]) {
  if constexpr (Second::kFactor != 1.0f) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) acc[i][j] *= Second::kFactor;
    }
  }
}

/// The second mainloop, B, adds its products to the sums of the first one, A, in the same shared
/// memory. Each ends with a barrier after its last read.
template <class A, class B, class Second> struct MatmulSum {
  using Layout = typename A::Layout;
  static constexpr int kSharedBytes =
      A::kSharedBytes > B::kSharedBytes ? A::kSharedBytes : B::kSharedBytes;
  static constexpr int kTileK = A::kTileK;
  static constexpr bool kCompensated = false;
  static constexpr bool kFillsRegisters = false;
  using Contraction = SummedContraction<Second, kTileK>;

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, f32 (&acc)[Layout::kRows][Layout::kCols]) {
    A::run(params, context, m, n, Contraction::first(k), acc);
    scale_sums<Second>(acc);
    B::add(params, context, Contraction::second(k), acc);
  }
};

} // namespace ingot
