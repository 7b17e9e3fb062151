// SPDX-License-Identifier: Apache-2.0
// f32 numbers as three bf16 numbers, of any range.
#pragma once

#include "ptx/convert.cuh"

namespace ingot {

/// The thirds of an f32 number, as bf16: each is the remainder of those before it, rounded to
/// nearest. A bf16 has the exponents of an f32 and 8 of its 24 bits, so x is high + middle + low
/// without an error. A product of thirds leaves out middle * low, low * middle and low * low:
/// hardly more than 2^-23 of it. Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial
/// intelligence datatype for higher-precision computations", ARITH 2019.
constexpr int kThirds = 3;

/// Numbers are multiplied by this before they are split: the last bit of a subnormal f32, 2^-149,
/// is then a normal bf16. Numbers that round to 2^104 or more become infinite.
constexpr f32 kThirdsScale = 16777216.0f;                          // 2^24
constexpr f32 kThirdsUnscale = 1.0f / kThirdsScale / kThirdsScale; ///< of a product

/// For add_cut_off (tile/cut_off.cuh). On an H200 sums of products of thirds are too small
/// by 4.5e-8 for normally distributed data, and by 5.1e-8 for positive data. This adds 4.5e-8 in
/// the mean.
struct CutOffThirds {
  static constexpr u32 kLast = 1;
  static constexpr f32 kGrowth = 0x1.cp-24f;
};

/// The thirds of two numbers, or their first parts, each pair in a register, that of x0 in the
/// lower 16 bits. Where the high third is infinite, the low one is NaN. Two parts keep 16 bits of a
/// number.
template <int kParts> INGOT_DEVICE void split_pair(f32 x0, f32 x1, u32 (&thirds)[kParts]) {
  x0 *= kThirdsScale;
  x1 *= kThirdsScale;
#pragma unroll
  for (u32& third : thirds) {
    third = ptx::pack_x2<bf16>(x0, x1);
    x0 -= ptx::as_f32(third << 16);
    x1 -= ptx::as_f32(third & 0xffff0000u);
  }
}

} // namespace ingot
