// SPDX-License-Identifier: Apache-2.0
// The host twin of codegen/device/ptx/exponential.cuh.
#pragma once

#include "ptx/convert.cuh"

#include <cmath>

namespace ingot {
namespace ptx {

/// Off by a unit in the last place, up or down by the last bit of x.
INGOT_DEVICE f32 exp2_approx(f32 x) {
  const f32 result = ::exp2f(x);
  if (result < 0x1p-126f) return 0.0f;
  const bool up = (as_bits(x) & 1u) != 0;
  return result < 0x1p127f ? as_f32(as_bits(result) + (up ? 1u : 0xffffffffu)) : result;
}

} // namespace ptx
} // namespace ingot
