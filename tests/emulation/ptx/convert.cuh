// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/convert.cuh.
#pragma once

#include "ptx/base.cuh"

#include <limits>

namespace ingot {
namespace ptx {

INGOT_DEVICE u32 as_bits(f32 value) {
  u32 bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
INGOT_DEVICE f32 as_f32(u32 bits) {
  f32 value;
  std::memcpy(&value, &bits, 4);
  return value;
}

INGOT_DEVICE f32 to_f32(f32 value) { return value; }
// GCC turns a conversion to f32 and then to f64 into one call of its library, which takes half of
// the time of some tests. The empty statement keeps the two apart.
INGOT_DEVICE f32 to_f32(f16 value) {
  _Float16 half;
  std::memcpy(&half, &value.bits, 2);
  f32 wide = static_cast<f32>(half);
  asm("" : "+m"(wide));
  return wide;
}
INGOT_DEVICE f32 to_f32(bf16 value) { return as_f32(static_cast<u32>(value.bits) << 16); }

template <class T> INGOT_DEVICE T from_f32(f32 value);
template <> INGOT_DEVICE f32 from_f32<f32>(f32 value) { return value; }
template <> INGOT_DEVICE f16 from_f32<f16>(f32 value) {
  const _Float16 half = static_cast<_Float16>(value);
  f16 result;
  std::memcpy(&result.bits, &half, 2);
  return result;
}
template <> INGOT_DEVICE bf16 from_f32<bf16>(f32 value) {
  const u32 bits = as_bits(value);
  if (value != value) return {0x7fff};
  return {static_cast<u16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

// As C++ has it, out of range is undefined, and x86 gives the least integer.
template <class T> INGOT_DEVICE T to_integer(f32 value) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kGreatest = std::numeric_limits<T>::max();
  if (value != value) return 0;
  if (value >= -static_cast<f32>(kLeast)) return kGreatest;
  return value <= static_cast<f32>(kLeast) ? kLeast : static_cast<T>(value);
}

template <class T> INGOT_DEVICE u32 pack_x2(f32 low, f32 high) {
  return from_f32<T>(low).bits | static_cast<u32>(from_f32<T>(high).bits) << 16;
}

INGOT_DEVICE u32 round_tf32(u32 bits) {
  const bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
  return is_finite ? (bits + 0x1000u) & ~0x1fffu : bits;
}

} // namespace ptx

using ptx::from_f32;
using ptx::to_f32;

} // namespace ingot
