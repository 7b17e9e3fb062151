// SPDX-License-Identifier: Apache-2.0
// Multiplications that are fused with an addition, and that are not.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// a * b + c, rounded once to nearest.
INGOT_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
/// a * b, rounded before anything is added to it: the compiler contracts no sum with it.
INGOT_DEVICE f32 rounded_product(f32 a, f32 b) { return __fmul_rn(a, b); }

} // namespace ptx
} // namespace ingot
