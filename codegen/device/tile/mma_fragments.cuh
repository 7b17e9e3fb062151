// SPDX-License-Identifier: Apache-2.0
// The operand fragments of one warp: loaded from a slot to registers, and multiplied. A step is 32
// bytes of k: 16 values of 16 bits or 8 of 32, the k of one tensor-core product.
#pragma once

#include "ptx/ldmatrix.cuh"
#include "ptx/mma.cuh"
#include "ptx/shared.cuh"
#include "tile/mma_stage.cuh"

namespace ingot {

enum class Operand { a, b };

/// The fragments of kWarpMn rows of A or columns of B for one step. Each block of 16 rows or
/// columns has 4 registers, one for each half of the block and half of the step:
///   A: (upper, first k), (lower, first k), (upper, last k), (lower, last k)
///   B: (left, first k), (left, last k), (right, first k), (right, last k)
template <Operand kOperand, class Stage, int kWarpMn> struct MmaFragments {
  static constexpr int kBlocks = kWarpMn / 16;
  static_assert(kWarpMn % 16 == 0 && (kWarpMn & (kWarpMn - 1)) == 0,
                "offsets within a warp's tile are added modulo 2");
  u32 block[kBlocks][4];

  /// The offset of the thread's first read in a slot, for the warp whose tile begins at warp_mn0, a
  /// multiple of kWarpMn.
  static INGOT_DEVICE int first_offset(int warp_mn0, i32 thread) {
    const int lane = static_cast<u32>(thread) % 32;
    if constexpr (kIsScalar) {
      const int mn = warp_mn0 + lane / 4;
      return Stage::offset(lane % 4, mn / Stage::kChunk) + mn % Stage::kChunk * Stage::kSize;
    } else {
      // Lanes 8*i to 8*i + 7 address the lines that become register i.
      const int mn_half = kOperand == Operand::a ? lane / 8 % 2 : lane / 16;
      const int k_half = kOperand == Operand::a ? lane / 16 : lane / 8 % 2;
      if constexpr (Stage::kMajor == Major::k) {
        return Stage::offset(warp_mn0 + mn_half * 8 + lane % 8, k_half);
      } else {
        return Stage::offset(k_half * 8 + lane % 8, warp_mn0 / Stage::kChunk + mn_half);
      }
    }
  }

  /// Loads the fragments of a step. `first` is first_offset plus the slot's offset in shared
  /// memory.
  INGOT_DEVICE void load(int first, int step) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) load_block(first, step, i);
  }
  INGOT_DEVICE void load_block(int first, int step, int i) {
    if constexpr (kIsScalar) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int mn_half = kOperand == Operand::a ? r % 2 : r / 2;
        const int k_half = kOperand == Operand::a ? r / 2 : r % 2;
        block[i][r] = ptx::load_shared(moved(first, step * 8 + k_half * 4, i * 4 + mn_half * 2));
      }
    } else if constexpr (Stage::kMajor == Major::k) {
      ptx::ldmatrix_x4(block[i], moved(first, i * 16, step * 2));
    } else {
      ptx::ldmatrix_x4_trans(block[i], moved(first, step * 16, i * 2));
    }
  }

  /// Rounds f32 values to tf32.
  INGOT_DEVICE void round() {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
#pragma unroll
      for (int r = 0; r < 4; ++r) block[i][r] = ptx::round_tf32(block[i][r]);
    }
  }

private:
  /// ldmatrix moves 16-bit values, and 32-bit values only along a line. 32-bit values whose k runs
  /// across lines are therefore read one by one.
  static constexpr bool kIsScalar = Stage::kSize == 4 && Stage::kMajor == Major::mn;

  /// The address that is `lines` and `chunks` further. Lines are multiples of the swizzle's period,
  /// and the chunk index of `first` has no bit in common with `chunks`, so neither affects the
  /// swizzle.
  static INGOT_DEVICE u32 moved(u32 first, int lines, int chunks) {
    return (first ^ (chunks % 8 * kChunkBytes)) + chunks / 8 * 8 * kChunkBytes +
           lines * Stage::kLineBytes;
  }
};

/// Adds the product of one block of 16 rows of A and one of 8 columns of B. `i` and `j`: their
/// numbers in acc, which has the layout MmaLayout of tile/layout.cuh.
template <Compute kCompute, int kRows, int kCols>
INGOT_DEVICE void multiply_block(const u32 (&a)[4], u32 b0, u32 b1, int i, int j,
                                 f32 (&acc)[kRows][kCols]) {
  const ptx::MmaAccumulator d = {acc[2 * i][2 * j], acc[2 * i][2 * j + 1], acc[2 * i + 1][2 * j],
                                 acc[2 * i + 1][2 * j + 1]};
  if constexpr (kCompute == Compute::f16) {
    ptx::mma_m16n8k16_f16(d, a, b0, b1);
  } else if constexpr (kCompute == Compute::bf16) {
    ptx::mma_m16n8k16_bf16(d, a, b0, b1);
  } else {
    ptx::mma_m16n8k8_tf32(d, a, b0, b1);
  }
}

/// The same, for all columns of a warp in a slot, a few at a time: large sums leave few registers.
/// `first`: as of FragmentsB::load.
template <Compute kCompute, class FragmentsB, int kBlocks, int kRows, int kCols>
INGOT_DEVICE void multiply_by_columns(const u32 (&a)[kBlocks][4], u32 first, int step,
                                      f32 (&acc)[kRows][kCols]) {
  FragmentsB b;
#pragma unroll
  for (int j = 0; j < kCols / 4; ++j) {
    b.load_block(first, step, j);
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      multiply_block<kCompute>(a[i], b.block[j][0], b.block[j][1], i, 2 * j, acc);
      multiply_block<kCompute>(a[i], b.block[j][2], b.block[j][3], i, 2 * j + 1, acc);
    }
  }
}

/// acc += A * B for one step, with acc in the layout MmaLayout of tile/layout.cuh. Calls before(i)
/// before the products of block i of 16 rows.
template <Compute kCompute, class FragmentsA, class FragmentsB, int kRows, int kCols, class Before>
INGOT_DEVICE void multiply(const FragmentsA& a, const FragmentsB& b, f32 (&acc)[kRows][kCols],
                           const Before& before) {
#pragma unroll
  for (int i = 0; i < kRows / 2; ++i) {
    before(i);
#pragma unroll
    for (int column = 0; column < kCols / 2; ++column) {
      // The order is back and forth, so that consecutive products share the registers of one
      // operand.
      const int j = i % 2 == 0 ? column : kCols / 2 - 1 - column;
      multiply_block<kCompute>(a.block[i], b.block[j / 2][j % 2 * 2], b.block[j / 2][j % 2 * 2 + 1],
                               i, j, acc);
    }
  }
}

} // namespace ingot
