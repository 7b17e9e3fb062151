// SPDX-License-Identifier: Apache-2.0
// One tile of a staged matmul operand on its way from global to shared memory. It is loaded into
// registers together with the operands of its prologue. Later it passes through the prologue and to
// the mainloop's store. Mainloops load one tile ahead to hide the latency.
#pragma once

#include "ptx/convert.cuh"
#include "tile/layout.cuh"
#include "tile/prologue.cuh"
#include "tile/vector.cuh"

namespace ingot {

/// The beginning of a tile of an operand, and its extents within the matrix.
struct OperandTile {
  i64 batch;
  i64 mn0;
  i64 k0;
  i32 mn_count; ///< positive
  i32 k_count;  ///< not positive: the tile lies behind the end
};

/// The tile that starts at (mn0, k0) of a matrix of mn x k. kTileMn and kTileK limit the counts.
template <int kTileMn, int kTileK>
INGOT_DEVICE OperandTile operand_tile(i64 batch, i64 mn0, i64 k0, i64 mn, i64 k) {
  return {batch, mn0, k0, clipped(mn - mn0, kTileMn), clipped(k - k0, kTileK)};
}

/// The share of one thread in a tile of kTileMn x kTileK elements of the operand X, kVectors
/// vectors at a time. Neighbouring threads take neighbouring vectors along X's major index.
template <class X, int kThreads, int kTileMn, int kTileK, int kVectors> struct StagedTile {
  using Element = typename X::Element;
  static constexpr int kVec = X::kVec;
  static constexpr bool kAlongK = X::kMajor == Major::k;
  static constexpr int kPerLine = (kAlongK ? kTileK : kTileMn) / kVec;
  static constexpr int kLines = kAlongK ? kTileMn : kTileK;
  static constexpr int kTotal = kLines * kPerLine;
  static_assert(kVectors <= 32, "one bit per vector");

  using Cells = PrologueCells<typename X::Prologue::Operands, X::kMajor, kVec>;
  Vector<Element, kVec> raw[kVectors];
  Cells cells[kVectors];
  u32 inside; ///< bit i: raw[i] lies inside the matrix

  /// Loads this thread's vectors from number `first` on, a multiple of kVectors below their number.
  /// Elements outside the matrix are not read.
  template <class Params>
  INGOT_DEVICE void load(const Params& params, const OperandTile& tile, i32 thread, int first) {
    inside = 0;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int mn = mn_of(thread, first + i);
      const int k = k_of(thread, first + i);
      if (is_in_tile(thread, first + i) && mn < tile.mn_count && k < tile.k_count) {
        raw[i] = load_vector<kVec>(X::at(params, tile.batch, tile.mn0 + mn, tile.k0 + k));
        cells[i].fetch(params, tile.batch, tile.mn0 + mn, tile.k0 + k);
        inside |= 1u << i;
      }
    }
  }

  /// Calls stage.put(mn, k, values) for each vector that load() with the same arguments loaded.
  /// (mn, k) are the tile coordinates of the first element; values are kVec results of the
  /// prologue, zero outside the matrix.
  template <class Params, class Stage>
  INGOT_DEVICE void store(const Params& params, const OperandTile& tile, i32 thread, int first,
                          const Stage& stage) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const int mn = mn_of(thread, first + i);
      const int k = k_of(thread, first + i);
      if (!is_in_tile(thread, first + i)) continue;
      Vector<f32, kVec> values = {};
      if ((inside >> i & 1) != 0) {
#pragma unroll
        for (int j = 0; j < kVec; ++j) {
          const ProloguePoint<X, Params> point{params,
                                               cells[i],
                                               InRegister<Element>::load(raw[i].v[j]),
                                               j,
                                               tile.batch,
                                               tile.mn0 + mn + (kAlongK ? 0 : j),
                                               tile.k0 + k + (kAlongK ? j : 0)};
          values.v[j] = X::Prologue::eval(point);
        }
      }
      stage.put(mn, k, values);
    }
  }

private:
  // All threads take whole lines at a time, or a line in turns. The vectors of a thread then share
  // their place in the lines, so that the compiler computes it once.
  static constexpr int kTurns = kPerLine > kThreads ? kPerLine / kThreads : 1;
  static constexpr int kLineStep = kPerLine > kThreads ? 1 : kThreads / kPerLine;
  static_assert(kThreads * kTurns == kPerLine * kLineStep, "whole lines, or whole turns");

  static INGOT_DEVICE int line(i32 thread, int vector) {
    return index_of(thread) / kPerLine + vector / kTurns * kLineStep;
  }
  static INGOT_DEVICE int along(i32 thread, int vector) {
    return (index_of(thread) % kPerLine + vector % kTurns * kThreads) * kVec;
  }
  static INGOT_DEVICE int mn_of(i32 thread, int vector) {
    return kAlongK ? line(thread, vector) : along(thread, vector);
  }
  static INGOT_DEVICE int k_of(i32 thread, int vector) {
    return kAlongK ? along(thread, vector) : line(thread, vector);
  }
  static INGOT_DEVICE bool is_in_tile(i32 thread, int vector) {
    constexpr bool kAlways = kTotal % (kVectors * kThreads) == 0;
    return kAlways || line(thread, vector) < kLines;
  }
};

} // namespace ingot
