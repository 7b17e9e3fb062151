// SPDX-License-Identifier: Apache-2.0
// The machine's reciprocal: one instruction.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// 1 / x with a relative error of 2^-23. Results below 2^-126 are 0 (PTX ISA, rcp.approx.ftz.f32).
INGOT_DEVICE f32 reciprocal_approx(f32 x) {
  f32 result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

} // namespace ptx
} // namespace ingot
