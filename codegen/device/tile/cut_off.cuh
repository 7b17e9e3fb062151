// SPDX-License-Identifier: Apache-2.0
// The part of f32 sums that tensor cores cut off, in the mean.
#pragma once

#include "ptx/convert.cuh"
#include "ptx/fma.cuh"
#include "tile/layout.cuh"

namespace ingot {

// A tensor core cuts off the sum of each step, towards zero. The sums of a mainloop are therefore
// too small, by a share that depends on the steps of a part and hardly on K. All elements have an
// error of that sign, which does not average out where elements are summed later, as for the
// gradient of a bias.
//
// The last bits of a sum that was cut off are random. Sums with other last bits than 0 become
// larger here. Sums of few bits, as of whole numbers below 2^22, are exact and stay so. Exact sums
// of all 24 bits, as of one product of thirds, become larger too: nothing tells them from others.

/// Multiplies each sum that has any of the last bits CutOff::kLast by 1 + CutOff::kGrowth. NaN
/// stays NaN.
template <class CutOff, int kRows, int kCols>
INGOT_DEVICE void add_cut_off(f32 (&sums)[kRows][kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j)
      if ((ptx::as_bits(sums[i][j]) & CutOff::kLast) != 0)
        sums[i][j] = ptx::fma(sums[i][j], CutOff::kGrowth, sums[i][j]);
  }
}

} // namespace ingot
