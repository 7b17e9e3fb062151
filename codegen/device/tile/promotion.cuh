// SPDX-License-Identifier: Apache-2.0
// The accumulation of an f32 matmul: one FMA chain, or promoted sums, whose error has a bound that
// does not grow with K. The SIMT mainloop uses it.
#pragma once

#include "math/logarithms.cuh"

namespace ingot {

// The bound of promoted sums, with u = 2^-24 and P = the sum of |a||b| of an output:
//   8 u   chains of 8 products are FMAs from zero: n u for n operations, in any order
//         (Jeannerod and Rump, "Improved error bounds for inner products in floating-point
//         arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013)
//   4 u   up to 4 chains are added, one by one, to the remainder of the last promotion
//   1 u   a promotion adds this part to the total and keeps the remainder, one step of Kahan's sum:
//         exact where |total| >= |part| (Dekker 1971), else off by u |part|
//   1 u   the last addition of total and part
// The sum is 14 u. The remainder, at most 2 u P, also passes the additions of the next part: 10 u^2
// P for each promotion, less than 2 u P in all while K < 2^26. So the error is at most 16 u P =
// 2^-20 P for all data whose products and sums neither overflow nor underflow. Sums of chains
// without promotion have no such bound for any length of chains: their error grows with K.
//
// If blocks share a tile (tile/split_k.cuh), the 14 u hold for each part and its own P, so also for
// the whole. With half the promotions or fewer, remainders add up to less than 0.7 u P. Adding n
// parts by Sum2 has an error of u |sum| + (n u)^2 P (Ogita, Rump and Oishi, "Accurate sum and dot
// product", SIAM J. Sci. Comput. 26, 6, 2005, pages 1955-1988). That is 1 u and a negligible term
// while parts are few. The total is at most 15.7 u P.

/// Products of one chain. 2^-20 allows no chain of 16, because that would leave nothing for the
/// rest.
constexpr int kChain = 8;

/// The sums of a thread's elements. kPromoteEvery is the number of products between promotions; 0:
/// one chain.
template <int kPromoteEvery, int kRows, int kCols> struct Sums {
  static constexpr bool kPromotes = kPromoteEvery > 0;
  static_assert(kPromoteEvery % kChain == 0 && kPromoteEvery <= 4 * kChain,
                "the bound allows parts of 4 chains");
  f32 (&total)[kRows][kCols];
  f32 part[kPromotes ? kRows : 1][kPromotes ? kCols : 1];

  INGOT_DEVICE explicit Sums(f32 (&acc)[kRows][kCols]) : total(acc) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        total[i][j] = 0.0f;
        if constexpr (kPromotes) part[i][j] = 0.0f;
      }
    }
  }

  INGOT_DEVICE void add(const f32 (&chain)[kRows][kCols]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) part[i][j] += chain[i][j];
    }
  }

  INGOT_DEVICE void promote() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        const f32 sum = total[i][j] + part[i][j];
        const f32 remainder = part[i][j] - (sum - total[i][j]);
        // An infinite total stays infinite; its remainder would be Inf - Inf.
        part[i][j] = fabsf(sum) < math::infinity() ? remainder : 0.0f;
        total[i][j] = sum;
      }
    }
  }

  /// Afterwards `total` has the result.
  INGOT_DEVICE void finish() {
    if constexpr (kPromotes) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kCols; ++j) total[i][j] += part[i][j];
      }
    }
  }
};

} // namespace ingot
