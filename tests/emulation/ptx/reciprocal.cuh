// SPDX-License-Identifier: Apache-2.0
// The host twin of codegen/device/ptx/reciprocal.cuh.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// Off by a unit in the last place, as the machine's may be: up or down by the last bit of x.
INGOT_DEVICE f32 reciprocal_approx(f32 x) {
  const f32 result = 1.0f / x, size = result < 0.0f ? -result : result;
  if (size < 0x1p-126f) return 0.0f;
  const bool up = (as_bits(x) & 1u) != 0;
  return size < 0x1p126f ? as_f32(as_bits(result) + (up ? 1u : 0xffffffffu)) : result;
}

} // namespace ptx
} // namespace ingot
