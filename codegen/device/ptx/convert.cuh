// SPDX-License-Identifier: Apache-2.0
// Conversions between f32 and the 16-bit types, and rounding to tf32. Narrowing rounds to nearest
// and keeps infinities, NaN and subnormals.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE u32 as_bits(f32 value) { return __float_as_uint(value); }
INGOT_DEVICE f32 as_f32(u32 bits) { return __uint_as_float(bits); }

INGOT_DEVICE f32 to_f32(f32 value) { return value; }
INGOT_DEVICE f32 to_f32(f16 value) {
  f32 result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
INGOT_DEVICE f32 to_f32(bf16 value) { return as_f32(static_cast<u32>(value.bits) << 16); }

/// Rounds to nearest, ties to even.
template <class T> INGOT_DEVICE T from_f32(f32 value);
template <> INGOT_DEVICE f32 from_f32<f32>(f32 value) { return value; }
template <> INGOT_DEVICE f16 from_f32<f16>(f32 value) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
template <> INGOT_DEVICE bf16 from_f32<bf16>(f32 value) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

/// Rounds towards zero. Saturates out of range; NaN gives 0.
template <class T> INGOT_DEVICE T to_integer(f32 value);
template <> INGOT_DEVICE i32 to_integer<i32>(f32 value) {
  i32 result;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return result;
}
template <> INGOT_DEVICE i64 to_integer<i64>(f32 value) {
  i64 result;
  asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(result) : "f"(value));
  // Unlike the conversion to 32 bits, this instruction turns NaN into the least integer.
  return value != value ? 0 : result;
}

/// Two values of T in one register, `low` in the lower 16 bits. Rounds like from_f32.
template <class T> INGOT_DEVICE u32 pack_x2(f32 low, f32 high);
template <> INGOT_DEVICE u32 pack_x2<f16>(f32 low, f32 high) {
  u32 result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
template <> INGOT_DEVICE u32 pack_x2<bf16>(f32 low, f32 high) {
  u32 result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// The bits of an f32, rounded to the 10 fraction bits of tf32, ties away from zero. A tensor core
/// drops the low 13 bits of its operands. Without this rounding, products are biased towards zero.
INGOT_DEVICE u32 round_tf32(u32 bits) {
  u32 result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(as_f32(bits)));
  return result;
}

} // namespace ptx

using ptx::from_f32;
using ptx::to_f32;

} // namespace ingot
