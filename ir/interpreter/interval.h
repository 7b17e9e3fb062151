// SPDX-License-Identifier: Apache-2.0
// Error bounds in the interpreter: a value v in f64, and one float e that encodes an interval for
// the result of an f32 kernel. Sums and products of bounds are rounded up.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ingot {

/// Unit roundoff of f32, and its least subnormal, which is the minimum error of any rounding.
inline constexpr double kUnit = 0x1p-24;
inline constexpr double kTiny = 0x1p-149;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr float kAnything = std::numeric_limits<float>::infinity();

/// Rounds a bound up to float, with a margin for the f64 arithmetic that computed it.
inline float up(double bound) {
  bound *= 1 + 0x1p-40;
  auto rounded = static_cast<float>(bound);
  if (rounded < bound) rounded = std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) + 1);
  return rounded;
}

/// The f32 results within a bound. `e` encodes them relative to the f64 value v:
///   e == 0         exactly v (including its NaN or infinity)
///   0 < e < Inf    [v - e, v + e]
///   e < 0          as |e|, and also everything beyond v in the direction of v's sign, with
///                  infinity: the results after an f32 overflow
///   e == Inf       anything, including NaN
/// An end beyond the range of f32 extends to infinity, because the kernel overflows there.
struct Interval {
  double lo;
  double hi;

  bool is_point() const { return lo == hi; }
  bool contains(double x) const { return lo <= x && x <= hi; }
  bool has_nan() const { return std::isnan(lo) || std::isnan(hi); }
  bool is_finite() const { return std::isfinite(lo) && std::isfinite(hi); }
};

inline constexpr Interval kEverything{-kInfinity, kInfinity};
inline constexpr Interval kMaybeNaN{std::numeric_limits<double>::quiet_NaN(), kInfinity};

inline Interval decode(double v, float e) {
  if (e == 0) return {v, v};
  if (std::isnan(v)) return kMaybeNaN;
  double reach = std::fabs(e);
  Interval result{v - reach, v + reach};
  if (e < 0) (v >= 0 ? result.hi : result.lo) = v >= 0 ? kInfinity : -kInfinity;
  if (result.hi > FLT_MAX) result.hi = kInfinity;
  if (result.lo < -FLT_MAX) result.lo = -kInfinity;
  return result;
}

/// The tightest encoding that accepts all of `image`, which contains v. A NaN end means that a
/// kernel may yield NaN.
inline float encode(double v, Interval image) {
  if (std::isnan(v)) return std::isnan(image.lo) && std::isnan(image.hi) ? 0 : kAnything;
  if (image.has_nan()) return kAnything;
  // An f32 result of a kernel is within the range of f32, even if it is exact.
  if (image.lo == image.hi && image.lo == v)
    return std::isfinite(v) && std::fabs(v) > FLT_MAX ? FLT_MAX : 0;
  if (std::isinf(v)) return kAnything;
  double below = std::max(v - image.lo, 0.0);
  double above = std::max(image.hi - v, 0.0);
  if (std::isinf(below) && std::isinf(above)) return kAnything;
  bool open = std::isinf(below) || std::isinf(above);
  if (!open) {
    double reach = std::max(below, above);
    if (reach <= FLT_MAX) return up(reach);
    // Beyond the range of f32 a kernel yields only infinity. If the whole image overflows, its near
    // end is beyond every f32 value for any reach.
    return std::fabs(v) > FLT_MAX && image.lo * image.hi > 0 ? FLT_MAX : kAnything;
  }
  if (std::isinf(above) != (v >= 0)) return kAnything;
  double reach = std::isinf(above) ? below : above;
  if (reach > FLT_MAX) return std::fabs(v) > 2.0 * FLT_MAX ? -FLT_MAX : kAnything;
  return -std::max(up(reach), FLT_TRUE_MIN);
}

/// Widens both finite ends by a relative error and by `floor`.
inline Interval inflate(Interval image, double relative, double floor) {
  if (std::isfinite(image.lo)) image.lo -= std::fabs(image.lo) * relative + floor;
  if (std::isfinite(image.hi)) image.hi += std::fabs(image.hi) * relative + floor;
  return image;
}

/// The encoding for a finite value with a small finite total error. Larger errors go through
/// encode.
inline float encode_error(double v, double error) {
  if (std::fabs(v) + error <= FLT_MAX) return up(error);
  return encode(v, {v - error, v + error});
}

} // namespace ingot
