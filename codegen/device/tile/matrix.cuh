// SPDX-License-Identifier: Apache-2.0
// What the emitter tells a mainloop about one matmul operand, and what a mainloop is.
#pragma once

#include "ptx/base.cuh"
#include "tile/context.cuh"

namespace ingot {

/// The index along which neighbours in memory differ by one.
enum class Major { k, mn };

/// How an operand reaches shared memory.
///   direct: cp.async, 16 bytes a thread; needs kVec * sizeof(Element) == 16 and aligned rows
///   staged: global -> registers -> prologue, conversion -> shared memory; kVec may be 1
enum class OperandPath { direct, staged };

/// The part of a contraction that a mainloop sums; begin is a multiple of its kTileK.
struct KRange {
  i64 begin, end;
};

/// What a matrix operand says beside `at`.
template <class T, class F, Major kIndex, OperandPath kWay, int kWidth, bool kIsAffine>
struct Matrix {
  using Element = T;
  using Prologue = F;
  static constexpr Major kMajor = kIndex;
  static constexpr OperandPath kPath = kWay;
  static constexpr int kVec = kWidth;
  static constexpr bool kAffine = kIsAffine;
};

/// Sums of no products.
template <int kRows, int kCols> INGOT_DEVICE void clear(f32 (&sums)[kRows][kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) sums[i][j] = 0.0f;
  }
}

// A matrix operand X, written by the emitter (mn stands for m of A and n of B):
//   using Element        as stored in memory; f32, f16 or bf16 where the prologue is Unchanged
//   kMajor               Major
//   kPath                OperandPath
//   kVec                 adjacent elements along the major index that one access may take: the
//                        extent along it and the address at its multiples are divisible (1: none)
//   at(params, batch, mn, k) -> const Element*
//   kAffine              whether equal steps along mn, or along k, are equal steps in memory
//   using Prologue       staged only: a functor (tile/prologue.cuh) whose result is multiplied;
//                        elements outside the matrix are zero *after* it
//
// A mainloop S:
//   using Layout         of the accumulators (tile/layout.cuh)
//   kSharedBytes         of pipeline stages, from the start of dynamic shared memory
//   kTileK               the k of one stage
//   kCompensated         how its sums are to be added (tile/split_k.cuh)
//   kFillsRegisters      whether a tile's place is found anew after it, not kept across it
//   run(params, context, m, n, k, acc)
//     params: the generated Params; m, n: extents of the matmul; k: a KRange; acc[kRows][kCols]:
//     set (not added to) to the sum over k of A(row, k) * B(k, col) for the tile at context.row0 /
//     col0; rows and columns from context.row_end and col_end on, which m and n bound, may hold
//     anything; nothing past m, n or the end of k is read. When it returns, no copy is in flight
//     and the group has passed a barrier after the last read of the stages, so that scratch and
//     staging may overlay them. It may run again for another tile once the group has passed another
//     barrier.

} // namespace ingot
