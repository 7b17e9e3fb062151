// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/fma.cuh.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INGOT_DEVICE f32 rounded_product(f32 a, f32 b) { return a * b; }

} // namespace ptx
} // namespace ingot
