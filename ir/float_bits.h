// SPDX-License-Identifier: Apache-2.0
// Conversions between the bits of f16 and bf16 and wider floats, rounded once to nearest, ties to
// even. NaN stays NaN (quiet), infinities and the sign of zero stay. Used wherever host data is
// typed: tensors, the interpreter, npy files.
#pragma once

#include "ir/types.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace ingot {

/// Rounds to a binary float of `precision` significant bits (the hidden one included) whose least
/// normal exponent is `min_exponent`; overflow beyond `max_finite` becomes infinity.
double round_to_format(double value, int precision, int min_exponent, double max_finite);

inline double round_to_f16(double v) { return round_to_format(v, 11, -14, 65504.0); }
inline double round_to_bf16(double v) {
  return round_to_format(v, 8, -126, 3.3895313892515355e+38);
}
inline double round_to_f32(double v) { return static_cast<double>(static_cast<float>(v)); }
/// A finite number that f32 rounds to an infinity.
inline bool overflows_f32(double v) { return std::isfinite(v) && std::isinf(round_to_f32(v)); }

/// As PyTorch makes a number one of a float type: by way of f32, beyond the range infinity.
double round_by_f32(DType dtype, double v);

/// Direct from f64: no double rounding through f32.
uint16_t f16_bits(double value);
uint16_t bf16_bits(double value);
float f16_value(uint16_t bits);
inline float bf16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

} // namespace ingot
