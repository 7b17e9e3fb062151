// SPDX-License-Identifier: Apache-2.0
// A fused multiply-add, and a product that the compiler does not fuse.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// a * b + c, rounded once to nearest.
INGOT_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
/// a * b, rounded to nearest. The compiler never contracts it with a sum.
INGOT_DEVICE f32 rounded_product(f32 a, f32 b) { return __fmul_rn(a, b); }

} // namespace ptx
} // namespace ingot
