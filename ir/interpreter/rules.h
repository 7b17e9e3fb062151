// SPDX-License-Identifier: Apache-2.0
// One struct per elementwise op of ops.def: its value, and the error of an f32 kernel. lanes.cpp
// calls them. The `value` of an op whose operands may be integers is a template.
//
// Unary rules on floats have
//   kRounding   relative error of the f32 device function
//   is_exact_at(x)  optional: whether the f32 device function has no error at x
//   kHalfRounding   optional: relative error of the function for 16-bit results, above kRounding
//   slope(x, y, e)  fast path: a bound of |f(x') - y| for |x' - x| <= e; NaN if there is none
//   image(interval) general path: the hull of f over an interval; NaN ends where f may be NaN
// Binary rules have rounding(a, b, y), slope(a, b, y, ea, eb), image(a, b). Comparisons `decide`.
#pragma once

#include "ir/interpreter/exponential_rules.h"
#include "ir/interpreter/rule_parts.h"

namespace ingot::rules {

// ---- one operand -------------------------------------------------------------------------------

struct neg {
  static constexpr double kRounding = 0;
  template <typename T> static T value(T x) { return static_cast<T>(-static_cast<Wrapping<T>>(x)); }
  static double slope(double, double, double e) { return e; }
  static Interval image(Interval x) { return {-x.hi, -x.lo}; }
};

struct abs {
  static constexpr double kRounding = 0;
  template <typename T> static T value(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < 0 ? neg::value(x) : x;
  }
  static double slope(double, double, double e) { return e; }
  static Interval image(Interval x) {
    double far = std::max(std::fabs(x.lo), std::fabs(x.hi));
    return {x.contains(0) ? 0 : std::min(std::fabs(x.lo), std::fabs(x.hi)), far};
  }
};

struct sign : Step<sign> {
  /// sign(NaN) is 0, as in PyTorch. -0.0 gives 0.
  template <typename T> static T value(T x) { return static_cast<T>((x > 0) - (x < 0)); }
};
struct sqrt : Rising<sqrt> {
  static constexpr double kRounding = kTwoRoundings;
  static double value(double x) { return std::sqrt(x); }
  static double slope(double x, double y, double e) { return e < 0.5 * x ? e / y : kNoSlope; }
};

struct rsqrt {
  static constexpr double kRounding = ulps(2);
  static double value(double x) { return 1 / std::sqrt(x); }
  static double slope(double x, double y, double e) {
    // d(x^-1/2) = x^-3/2 / 2, which at x - e is at most 2^1.5 times its value at x.
    return e < 0.5 * x ? 0.5 * y * e / (x - e) * std::sqrt(x / (x - e)) : kNoSlope;
  }
  static Interval image(Interval x) { return {value(x.hi), value(x.lo)}; }
};

struct reciprocal {
  static constexpr double kRounding = kTwoRoundings;
  static double value(double x) { return 1 / x; }
  static double slope(double x, double y, double e) {
    double near = std::fabs(x) - e;
    return near > 0 ? std::fabs(y) * e / near : kNoSlope;
  }
  static Interval image(Interval x) {
    if (x.is_point()) return {value(x.lo), value(x.lo)};
    // Near zero the result may have either sign, but it is never NaN.
    return x.contains(0) ? kEverything : Interval{value(x.hi), value(x.lo)};
  }
};

struct tanh : Rising<tanh> {
  static constexpr double kRounding = ulps(2);
  static double value(double x) { return std::tanh(x); }
  static double slope(double, double y, double e) {
    // |tanh''| <= 0.77.
    return e * std::min(1.0, (1 - y * y) + 0.77 * e);
  }
};

struct erf : Rising<erf> {
  static constexpr double kRounding = ulps(2);
  /// The polynomial of math::short_form::erf is off by 2^-18.5. Its roundings add less than 2^-21.
  static constexpr double kHalfRounding = 0x1p-18;
  static double value(double x) { return std::erf(x); }
  static double slope(double x, double, double e) {
    // erf' = 2/sqrt(pi) exp(-x^2), |erf''| <= 0.97.
    double steep = 1.1283791670955126 * std::exp(-x * x) + 0.97 * e;
    return e * std::min(1.1283791670955126, steep);
  }
};

/// sin and cos are 1-Lipschitz and within [-1, 1].
template <typename Rule> struct Wave {
  static constexpr double kRounding = ulps(2);
  static double slope(double, double, double e) { return std::min(e, 2.0); }
  static Interval image(Interval x) {
    if (x.is_point()) return {Rule::value(x.lo), Rule::value(x.lo)};
    if (!x.is_finite()) return kMaybeNaN;
    double middle = Rule::value(x.lo + (x.hi - x.lo) / 2);
    double reach = (x.hi - x.lo) / 2;
    return {std::max(-1.0, middle - reach), std::min(1.0, middle + reach)};
  }
};

struct sin : Wave<sin> {
  static double value(double x) { return std::sin(x); }
};
struct cos : Wave<cos> {
  static double value(double x) { return std::cos(x); }
};

/// The guide bounds the error of atanf by 2 units.
struct atan : Rising<atan> {
  static constexpr double kRounding = ulps(3);
  static double value(double x) { return std::atan(x); }
  static double slope(double x, double, double e) {
    // atan' = 1 / (1 + x^2) falls with |x|.
    const double near = std::max(std::fabs(x) - e, 0.0);
    return e / (1 + near * near);
  }
};

struct floor : Step<floor> {
  static double value(double x) { return std::floor(x); }
};
struct ceil : Step<ceil> {
  static double value(double x) { return std::ceil(x); }
};
/// Ties go to even.
struct round : Step<round> {
  static double value(double x) { return std::nearbyint(x); }
};

/// The square: a product of a value with itself is never below zero.
struct Square {
  static constexpr double kRounding = kOneRounding;
  static double value(double x) { return x * x; }
  static double slope(double x, double, double e) { return e * (2 * std::fabs(x) + e); }
  static Interval image(Interval x) {
    Interval size = abs::image(x);
    return {size.lo * size.lo, size.hi * size.hi};
  }
};

// ---- two operands ------------------------------------------------------------------------------

/// Whether the operand is always NaN. Products and quotients are then NaN, too.
inline bool is_nan_alone(Interval x) { return std::isnan(x.lo) && std::isnan(x.hi); }

/// The lowest and highest of four corner values. NaN (0 * Inf, Inf - Inf) stays NaN.
inline Interval hull(double a, double b, double c, double d) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c) || std::isnan(d)) return kMaybeNaN;
  return {std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d))};
}

struct add {
  template <typename T> static T value(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  /// |a| + |b| + |a + b| rather than |a + b|. With it, (a + b) + c also covers the rounding of a +
  /// (b + c), which involves |b + c| and |a + b + c|, whichever of them is largest.
  static double rounding(double a, double b, double y) {
    return kUnit * (std::fabs(a) + std::fabs(b) + std::fabs(y));
  }
  static double slope(double, double, double, double ea, double eb) { return ea + eb; }
  static Interval image(Interval a, Interval b) { return {a.lo + b.lo, a.hi + b.hi}; }
};

struct sub {
  template <typename T> static T value(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
  static double rounding(double a, double b, double y) { return add::rounding(a, b, y); }
  static double slope(double, double, double, double ea, double eb) { return ea + eb; }
  static Interval image(Interval a, Interval b) { return {a.lo - b.hi, a.hi - b.lo}; }
};

struct mul {
  template <typename T> static T value(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  static double rounding(double, double, double y) { return kUnit * std::fabs(y); }
  static double slope(double a, double b, double, double ea, double eb) {
    return std::fabs(a) * eb + std::fabs(b) * ea + ea * eb;
  }
  static Interval image(Interval a, Interval b) {
    if (is_nan_alone(a) || is_nan_alone(b)) return {kNaN, kNaN};
    // An infinite end of an interval also stands for large finite values, but Inf * 0 = NaN may
    // still occur.
    bool zero_a = a.contains(0), zero_b = b.contains(0);
    bool endless_a = std::isinf(a.lo) || std::isinf(a.hi);
    bool endless_b = std::isinf(b.lo) || std::isinf(b.hi);
    if (!(a.is_point() && b.is_point()) && ((zero_a && endless_b) || (zero_b && endless_a)))
      return kMaybeNaN;
    return hull(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
  }
};

struct div {
  /// The division uses a reciprocal that is off by 2^-23 (PTX ISA, rcp.approx), and two more
  /// roundings.
  static constexpr double kHalfRounding = 4 * kUnit;
  template <typename T> static T value(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a / b;
    else
      return b == 0 ? 0 : b == -1 ? neg::value(a) : a / b;
  }
  static double rounding(double, double, double y) { return kTwoRoundings * std::fabs(y); }
  static double slope(double, double b, double y, double ea, double eb) {
    double near = std::fabs(b) - eb;
    return near > 0 ? (ea + std::fabs(y) * eb) / near : kNoSlope;
  }
  static Interval image(Interval a, Interval b) {
    if (is_nan_alone(a) || is_nan_alone(b)) return {kNaN, kNaN};
    if (a.is_point() && b.is_point()) return {a.lo / b.lo, a.lo / b.lo};
    bool endless = (std::isinf(a.lo) || std::isinf(a.hi)) && (std::isinf(b.lo) || std::isinf(b.hi));
    if (endless || (a.contains(0) && b.contains(0))) return kMaybeNaN;
    if (b.contains(0)) return kEverything;
    return hull(a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi);
  }
};

struct pow {
  static double value(double a, double b) { return std::pow(a, b); }
  static double rounding(double, double, double y) { return ulps(8) * std::fabs(y); }
  static double slope(double, double, double, double, double) { return kNoSlope; }
  static Interval image(Interval a, Interval b) {
    bool whole = b.is_point() && std::nearbyint(b.lo) == b.lo;
    if (a.lo > 0 || (a.lo >= 0 && b.lo > 0) || (a.is_point() && b.is_point()))
      return hull(value(a.lo, b.lo), value(a.lo, b.hi), value(a.hi, b.lo), value(a.hi, b.hi));
    if (!whole) return kMaybeNaN;
    Interval ends =
        hull(value(a.lo, b.lo), value(a.hi, b.lo), value(a.lo, b.lo), value(a.hi, b.lo));
    if (!a.contains(0)) return ends;
    if (b.lo < 0) return kEverything;
    return {std::min(ends.lo, value(0.0, b.lo)), std::max(ends.hi, value(0.0, b.lo))};
  }
};

/// The remainder of a quotient rounded towards zero, with the sign of a. It is a number of the
/// type, and fmodf computes it exactly.
struct fmod {
  static double value(double a, double b) { return std::fmod(a, b); }
  static double rounding(double, double, double) { return 0; }
  static double slope(double, double, double, double, double) { return kNoSlope; }
  static Interval image(Interval a, Interval b) {
    if (is_nan_alone(a) || is_nan_alone(b)) return {kNaN, kNaN};
    if (a.is_point() && b.is_point()) return {value(a.lo, b.lo), value(a.lo, b.lo)};
    if (b.contains(0) || !a.is_finite() || a.has_nan() || b.has_nan()) return kMaybeNaN;
    // For one divisor and one quotient, the remainder rises with a.
    if (b.is_point() && std::trunc(a.lo / b.lo) == std::trunc(a.hi / b.lo) &&
        value(a.lo, b.lo) <= value(a.hi, b.lo))
      return {value(a.lo, b.lo), value(a.hi, b.lo)};
    const double divisor = std::max(std::fabs(b.lo), std::fabs(b.hi));
    return {a.lo < 0 ? -std::min(divisor, -a.lo) : 0, a.hi > 0 ? std::min(divisor, a.hi) : 0};
  }
};

/// min and max are 1-Lipschitz in each operand and select one of them, so they do not round.
template <typename Rule> struct Extremum {
  static double rounding(double, double, double) { return 0; }
  static double slope(double, double, double, double ea, double eb) { return std::max(ea, eb); }
  static Interval image(Interval a, Interval b) {
    return {Rule::value(a.lo, b.lo), Rule::value(a.hi, b.hi)};
  }
};

struct minimum : Extremum<minimum> {
  template <typename T> static T value(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
};
struct maximum : Extremum<maximum> {
  template <typename T> static T value(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
};

/// `decide`: whether the answer is the same for all of a and b.
struct equal {
  template <typename T> static bool value(T a, T b) { return a == b; }
  static bool decide(Interval a, Interval b) {
    return (a.is_point() && b.is_point()) || a.hi < b.lo || b.hi < a.lo;
  }
};
struct not_equal : equal {
  template <typename T> static bool value(T a, T b) { return a != b; }
};
/// <, <=, >, >= are decided if the intervals do not touch.
struct Order {
  static bool decide(Interval a, Interval b) {
    return (a.is_point() && b.is_point()) || a.hi < b.lo || b.hi < a.lo;
  }
};
struct less : Order {
  template <typename T> static bool value(T a, T b) { return a < b; }
};
struct less_equal : Order {
  template <typename T> static bool value(T a, T b) { return a <= b; }
};
struct greater : Order {
  template <typename T> static bool value(T a, T b) { return a > b; }
};
struct greater_equal : Order {
  template <typename T> static bool value(T a, T b) { return a >= b; }
};

// ---- classification and logic ------------------------------------------------------------------

struct is_nan {
  static bool value(double x) { return std::isnan(x); }
};
struct is_inf {
  static bool value(double x) { return std::isinf(x); }
};
struct not_ {
  static bool value(bool a) { return !a; }
};
struct and_ {
  static bool value(bool a, bool b) { return a && b; }
  /// An operand with this certain value decides the result.
  static constexpr bool kSettles = false;
};
struct or_ {
  static bool value(bool a, bool b) { return a || b; }
  static constexpr bool kSettles = true;
};

} // namespace ingot::rules
