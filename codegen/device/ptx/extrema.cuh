// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum that propagate NaN, unlike fminf and fmaxf. One instruction from sm_80 on.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// NaN if a or b is NaN. +0 is larger than -0.
INGOT_DEVICE f32 maximum(f32 a, f32 b) {
  f32 result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
INGOT_DEVICE f32 minimum(f32 a, f32 b) {
  f32 result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

} // namespace ptx
} // namespace ingot
