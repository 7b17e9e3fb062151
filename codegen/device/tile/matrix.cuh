// SPDX-License-Identifier: Apache-2.0
// The description of a matmul operand for a mainloop, and the interface of a mainloop.
#pragma once

#include "ptx/base.cuh"
#include "tile/context.cuh"

namespace ingot {

/// The index along which elements are adjacent in memory.
enum class Major { k, mn };

/// The path of an operand to shared memory.
///   direct: cp.async, 16 bytes per thread; needs kVec * sizeof(Element) == 16 and aligned rows
///   staged: global -> registers -> prologue, conversion -> shared memory; kVec may be 1
///   mapped: tensor copies (tile/mapped.cuh)
enum class OperandPath { direct, staged, mapped };

/// The part of a contraction that a mainloop sums. begin is a multiple of its kTileK.
struct KRange {
  i64 begin, end;
};

/// All members of a matrix operand but `at`.
template <class T, class F, Major kIndex, OperandPath kWay, int kWidth, bool kIsAffine>
struct Matrix {
  using Element = T;
  using Prologue = F;
  static constexpr Major kMajor = kIndex;
  static constexpr OperandPath kPath = kWay;
  static constexpr int kVec = kWidth;
  static constexpr bool kAffine = kIsAffine;
};

/// Sets sums to zero.
template <int kRows, int kCols> INGOT_DEVICE void clear(f32 (&sums)[kRows][kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) sums[i][j] = 0.0f;
  }
}

// A matrix operand X, written by the emitter (mn is m for A and n for B):
//   using Element        the stored type; f32, f16 or bf16 where the prologue is Unchanged
//   kMajor               Major
//   kPath                OperandPath
//   kVec                adjacent elements along the major index per access: the extent along it and
//                        the address at its multiples are divisible by it (1: none)
//   at(params, batch, mn, k) -> const Element*
//   kAffine              whether equal steps along mn, and along k, are equal steps in memory
//   using Prologue       staged only: a functor (tile/prologue.cuh) whose result is multiplied.
//                        Elements outside the matrix are zero *after* it
//
// A mainloop S:
//   using Layout         the layout of the accumulators (tile/layout.cuh)
//   kSharedBytes         bytes of the slots, from the start of dynamic shared memory
//   kTileK               the k of one slot
//   kCompensated         how to add its sums (tile/split_k.cuh)
//   kFillsRegisters      whether the tile's place is computed again after it, instead of kept
//   run(params, context, m, n, k, acc)
//     params: the generated Params; m, n: extents of the matmul; k: a KRange; acc[kRows][kCols]:
//     set (not added to) to the sum over k of A(row, k) * B(k, col) for the tile at context.row0 /
//     col0. Elements from context.row_end and col_end on, which are at most m and n, are undefined.
//     It reads nothing past m, n or the end of k. When it returns, no copy is in flight, and the
//     group has passed a barrier after the last read of the slots, so that scratch and staging may
//     overlay them. It may run again for another tile after the group has passed another barrier.

} // namespace ingot
