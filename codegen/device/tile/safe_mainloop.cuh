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
        f32* const to = tile + row0 * L::kTileCols + col0 + first<S>(context.thread);
#pragma unroll
        for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
          for (int j = 0; j < S::kCols; j += 4) {
            const Vector<f32, 4> four = {sums[i][j], sums[i][j + 1], sums[i][j + 2],
                                         sums[i][j + 3]};
            store_vector(to + place<S>(i, j), four);
          }
        }
        context.barrier();
      }
    }
    const f32* const from = tile + first<L>(context.thread);
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < L::kCols; j += L::kVec) {
        const auto adjacent = load_vector<L::kVec>(from + place<L>(i, j));
#pragma unroll
        for (int e = 0; e < L::kVec; ++e) acc[i][j + e] = adjacent.v[e];
      }
    }
    context.barrier();
  }

private:
  /// The place of a thread's first element in the tile in shared memory, by its layout Own, and the
  /// distance of element (i, j) from it.
  template <class Own> static INGOT_DEVICE int first(i32 thread) {
    return Own::first_row(thread) * L::kTileCols + Own::first_col(thread);
  }
  template <class Own> static INGOT_DEVICE constexpr int place(int i, int j) {
    return Own::row_offset(i) * L::kTileCols + Own::col_offset(j);
  }
};

} // namespace ingot
