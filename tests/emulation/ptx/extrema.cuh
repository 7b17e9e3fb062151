// SPDX-License-Identifier: Apache-2.0
// The host twin of codegen/device/ptx/extrema.cuh.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE f32 maximum(f32 a, f32 b) {
  if (a != a || b != b) return __builtin_nanf("");
  return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}
INGOT_DEVICE f32 minimum(f32 a, f32 b) {
  if (a != a || b != b) return __builtin_nanf("");
  return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}

} // namespace ptx
} // namespace ingot
