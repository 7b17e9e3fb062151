// SPDX-License-Identifier: Apache-2.0
// The product of a tile whose rows do not suit halves: by the SIMT mainloop, from the f32 operands.
#pragma once

#include "sizes/f32_products.h"
#include "sizes/shared_memory.h"
#include "tile/simt_mainloop.cuh"

namespace ingot {

/// An operand X by the path of the SIMT mainloop.
template <class X> struct Staged : X {
  static constexpr OperandPath kPath = OperandPath::staged;
};

/// The sums of a tile of layout L.
template <class L, class A, class B> struct SafeMainloop {
  struct Config {
    static constexpr int kTileM = sizes::kSafeRows, kTileN = sizes::safe_cols(L::kTileCols),
                         kTileK = sizes::kSafeDepth, kPromoteEvery = sizes::kPromoteEvery;
  };
  using Mainloop = SimtMainloop<Config, Staged<A>, Staged<B>>;
  using Layout = L;
  static constexpr bool kCompensated = true;
  static constexpr int kTileK = Config::kTileK;
  static constexpr int kSharedBytes = sizes::safe_bytes(L::kTileRows, L::kTileCols);
  static_assert(Mainloop::Layout::kThreads == L::kThreads, "the same threads run both");

  /// Computes the sums piece by piece through shared memory, of sizes::safe_bytes.
  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange k, f32 (&acc)[L::kRows][L::kCols]) {
    using S = typename Mainloop::Layout;
    f32* const tile = reinterpret_cast<f32*>(ptx::shared_memory() + Mainloop::kSharedBytes);
#pragma unroll 1
    for (int row0 = 0; row0 < L::kTileRows; row0 += Config::kTileM) {
#pragma unroll 1
      for (int col0 = 0; col0 < L::kTileCols; col0 += Config::kTileN) {
        TileContext piece = context;
        piece.row0 += row0;
        piece.col0 += col0;
        f32 sums[S::kRows][S::kCols] = {};
        if (piece.row0 < m && piece.col0 < n) Mainloop::run(params, piece, m, n, k, sums);
#pragma unroll
        for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
          for (int j = 0; j < S::kCols; ++j)
            tile[(row0 + S::row(context.thread, i)) * L::kTileCols + col0 +
                 S::col(context.thread, j)] = sums[i][j];
        }
        context.barrier();
      }
    }
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; ++j)
        acc[i][j] = tile[L::row(context.thread, i) * L::kTileCols + L::col(context.thread, j)];
    }
    context.barrier();
  }
};

} // namespace ingot
