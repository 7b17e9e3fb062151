// SPDX-License-Identifier: Apache-2.0
// The machine's power of two: one instruction.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// 2^x with a relative error of 2^-22. Results below 2^-126 are 0 (PTX ISA, ex2.approx.ftz.f32).
INGOT_DEVICE f32 exp2_approx(f32 x) {
  f32 result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

} // namespace ptx
} // namespace ingot
