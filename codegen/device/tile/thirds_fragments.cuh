// SPDX-License-Identifier: Apache-2.0
// Fragments of bf16 thirds (tile/thirds.cuh), and their products.
#pragma once

#include "tile/mma_fragments.cuh"
#include "tile/thirds.cuh"

namespace ingot {

/// Splits a block of 16 rows or columns and 16 k, whose halves of 8 k are `low` and `high`. A
/// product of 16 k takes pairs of adjacent k from a lane, and the lane has k and k + 4 of each
/// half. They are taken for adjacent ones on both sides: the sum is over all 16.
/// kPair: the distance of the registers of a pair; kOther: that of the pairs of a half.
template <int kPair, int kOther>
INGOT_DEVICE void split_block(const u32 (&low)[4], const u32 (&high)[4],
                              u32 (&thirds)[kThirds][4]) {
  // Registers of A: both rows of the first 8 k, both of the last. Of B: both 8 k of the left
  // columns, both of the right ones.
  constexpr bool kIsA = kPair == 2;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int from = (kIsA ? r % 2 : r / 2) * kOther;
    const u32(&half)[4] = (kIsA ? r / 2 : r % 2) == 0 ? low : high;
    u32 pair[kThirds];
    split_pair(ptx::as_f32(half[from]), ptx::as_f32(half[from + kPair]), pair);
#pragma unroll
    for (int third = 0; third < kThirds; ++third) thirds[third][r] = ptx::opaque(pair[third]);
  }
}

/// Sets `part` to the products of blocks of 16 rows and one of 16 columns, with 16 k. Tensor cores
/// truncate sums (tile/halves_mainloop.cuh). Therefore they sum the 16 k from zero, small products
/// first, and f32 additions that round add these sums: only the last of the six products truncates
/// at the size of the sum. Of two parts there are three products.
template <int kBlocks, int kParts>
INGOT_DEVICE void multiply_thirds(const u32 (&a)[kBlocks][kParts][4], const u32 (&b)[kParts][4],
                                  f32 (&part)[2 * kBlocks][4]) {
  clear(part);
#pragma unroll
  for (int order = kParts - 1; order >= 0; --order) { // of 2^(-8 order)
#pragma unroll
    for (int of_a = order; of_a >= 0; --of_a) {
#pragma unroll
      for (int i = 0; i < kBlocks; ++i) {
        const u32(&own)[4] = b[order - of_a];
        multiply_block<Compute::bf16>(a[i][of_a], own[0], own[1], i, 0, part);
        multiply_block<Compute::bf16>(a[i][of_a], own[2], own[3], i, 1, part);
      }
    }
  }
}

} // namespace ingot
