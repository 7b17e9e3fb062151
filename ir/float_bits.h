// SPDX-License-Identifier: Apache-2.0
// Conversions between the bits of f16 and bf16 and wider floats. They round once, to nearest, ties
// to even. NaN becomes a quiet NaN; infinities and the sign of zero stay. All typed host data uses
// them: tensors, the interpreter, npy files.
#pragma once

#include "ir/types.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace ingot {

/// Rounds to a binary float of `precision` significant bits, including the hidden one, with the
/// least normal exponent `min_exponent`. Values beyond `max_finite` become infinity.
double round_to_format(double value, int precision, int min_exponent, double max_finite);

inline double round_to_f16(double v) { return round_to_format(v, 11, -14, 65504.0); }
inline double round_to_bf16(double v) {
  return round_to_format(v, 8, -126, 3.3895313892515355e+38);
}
inline double round_to_f32(double v) { return static_cast<double>(static_cast<float>(v)); }
/// Whether f32 rounds a finite number to infinity.
inline bool overflows_f32(double v) { return std::isfinite(v) && std::isinf(round_to_f32(v)); }

/// Converts a number to a float type as PyTorch does: through f32. Beyond the range it is infinity.
double round_by_f32(DType dtype, double v);

/// Converts from f64 directly, without double rounding through f32.
uint16_t f16_bits(double value);
uint16_t bf16_bits(double value);
float f16_value(uint16_t bits);
inline float bf16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace ingot
