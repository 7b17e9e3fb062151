// SPDX-License-Identifier: Apache-2.0
// f32 numbers as three bf16 parts, of any range.
#pragma once

#include "ptx/convert.cuh"

namespace ingot {

/// The parts of an f32 number: each is the remainder of the parts before it, rounded to nearest. A
/// bf16 has the exponents of an f32 and 8 of its 24 bits, so x is high + middle + low without an
/// error. A product of parts leaves out middle * low, low * middle and low * low: at most 2^-23 of
/// it. Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for
/// higher-precision computations", ARITH 2019.
constexpr int kBf16Parts = 3;

/// Numbers are multiplied by this before they are split: the last bit of a subnormal f32, 2^-149,
/// is then a normal bf16. Numbers of 2^104 and more become infinite.
constexpr f32 kPartsScale = 16777216.0f;                        // 2^24
constexpr f32 kPartsUnscale = 1.0f / kPartsScale / kPartsScale; ///< of a product

/// The parts of two numbers, each in a register, those of x0 in the lower 16 bits. Where the high
/// part is infinite, the others are NaN.
INGOT_DEVICE void split_pair(f32 x0, f32 x1, u32 (&parts)[kBf16Parts]) {
  x0 *= kPartsScale;
  x1 *= kPartsScale;
#pragma unroll
  for (int part = 0; part < kBf16Parts; ++part) {
    parts[part] = ptx::pack_x2<bf16>(x0, x1);
    x0 -= ptx::as_f32(parts[part] << 16);
    x1 -= ptx::as_f32(parts[part] & 0xffff0000u);
  }
}

} // namespace ingot
