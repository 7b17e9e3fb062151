// SPDX-License-Identifier: Apache-2.0
// The fused multiply-add of the SIMT mainloop.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// a * b + c, rounded once to nearest.
INGOT_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }

} // namespace ptx
} // namespace ingot
