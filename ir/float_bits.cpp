// SPDX-License-Identifier: Apache-2.0
// See float_bits.h.
#include "ir/float_bits.h"

#include <cmath>

namespace ingot {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

/// Drops the low `count` bits of a magnitude and rounds to nearest, ties to even. A carry out of
/// the fraction moves into the exponent field and gives the next float.
uint64_t round_off(uint64_t magnitude, int count) {
  uint64_t half = uint64_t{1} << (count - 1);
  uint64_t odd = (magnitude >> count) & 1;
  return ((magnitude + half - 1 + odd) >> count) << count;
}

} // namespace

double round_to_format(double value, int precision, int min_exponent, double max_finite) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t magnitude = bits & ~kSign;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent == 1024) return value; // Inf and NaN
  double rounded;
  if (exponent >= min_exponent) {
    rounded = std::bit_cast<double>(round_off(magnitude, 53 - precision));
  } else {
    // Below the normal range the grid is uniform. Adding a power of two whose ulp is the spacing of
    // the grid makes the hardware round to it.
    double anchor = std::ldexp(1.5, min_exponent - precision + 1 + 52);
    volatile double shifted = std::bit_cast<double>(magnitude) + anchor;
    rounded = shifted - anchor;
  }
  if (rounded > max_finite) rounded = HUGE_VAL;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) | (bits & kSign));
}

double round_by_f32(DType dtype, double v) {
  const double rounded = round_to_f32(v);
  return dtype == DType::f16    ? round_to_f16(rounded)
         : dtype == DType::bf16 ? round_to_bf16(rounded)
                                : rounded;
}

uint16_t bf16_bits(double value) {
  if (std::isnan(value)) {
    return static_cast<uint16_t>((std::bit_cast<uint64_t>(value) >> 63 << 15) | 0x7fc0);
  }
  float exact = static_cast<float>(round_to_bf16(value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(exact) >> 16);
}

uint16_t f16_bits(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  double rounded = std::fabs(round_to_f16(value));
  if (std::isinf(rounded)) return static_cast<uint16_t>(sign | 0x7c00);
  if (rounded < 0x1p-14)
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded * 0x1p24));
  uint64_t exact = std::bit_cast<uint64_t>(rounded);
  auto exponent = static_cast<uint16_t>((exact >> 52) - 1023 + 15);
  auto fraction = static_cast<uint16_t>((exact >> 42) & 0x3ff);
  return static_cast<uint16_t>(sign | (exponent << 10) | fraction);
}

float f16_value(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t fraction = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

} // namespace ingot
