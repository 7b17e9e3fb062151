// SPDX-License-Identifier: Apache-2.0
// Rules of exponentials and logarithms; see rules.h.
#pragma once

#include "ir/interpreter/rule_parts.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot::rules {

struct exp : Rising<exp> {
  static constexpr double kRounding = ulps(2);
  /// x log2(e) is at most 2^7. It is off by two roundings of 2^-24, that of the constant and its
  /// own. ex2.approx is off by 2^-22 (PTX ISA).
  static constexpr double kHalfRounding = 0x1p-17;
  static double value(double x) { return std::exp(x); }
  static double slope(double, double y, double e) { return e <= 1 ? y * e * (1 + e) : kNoSlope; }
};

/// The result is exact at integers whose power is a normal number.
struct exp2 : Rising<exp2> {
  static constexpr double kRounding = ulps(1);
  static bool is_exact_at(double x) { return std::nearbyint(x) == x && x >= -126 && x < 128; }
  static double value(double x) { return std::exp2(x); }
  static double slope(double, double y, double e) {
    // ln 2 < 0.7, and the power of e grows by at most that factor.
    return e <= 1 ? 0.7 * y * e * (1 + e) : kNoSlope;
  }
};

struct expm1 : Rising<expm1> {
  static constexpr double kRounding = ulps(2);
  static double value(double x) { return std::expm1(x); }
  static double slope(double, double y, double e) {
    return e <= 1 ? (y + 1) * e * (1 + e) : kNoSlope;
  }
};

/// A bound of log(x +- e) - log(x): at most r / (1 - r) for r = e/x.
inline double log_slope(double x, double e) { return e < 0.5 * x ? e / (x - e) : kNoSlope; }

struct log : Rising<log> {
  static constexpr double kRounding = ulps(2);
  static double value(double x) { return std::log(x); }
  static double slope(double x, double, double e) { return log_slope(x, e); }
};

/// 1 / ln 2 < 1.4427. The result is exact at powers of two.
struct log2 : Rising<log2> {
  static constexpr double kRounding = ulps(1);
  static bool is_exact_at(double x) {
    int exponent;
    return std::frexp(x, &exponent) == 0.5;
  }
  static double value(double x) { return std::log2(x); }
  static double slope(double x, double, double e) { return 1.4427 * log_slope(x, e); }
};

/// 1 / ln 10 < 0.4343. The result is exact at powers of ten that f32 holds.
struct log10 : Rising<log10> {
  static constexpr double kRounding = ulps(1);
  static constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10};
  static bool is_exact_at(double x) { return llvm::is_contained(kPowers, x); }
  static double value(double x) {
    const auto* power = llvm::find(kPowers, x);
    return power != std::end(kPowers) ? static_cast<double>(power - kPowers) : std::log10(x);
  }
  static double slope(double x, double, double e) { return 0.4343 * log_slope(x, e); }
};

struct log1p : Rising<log1p> {
  static constexpr double kRounding = ulps(2);
  static double value(double x) { return std::log1p(x); }
  static double slope(double x, double, double e) { return log_slope(1 + x, e); }
};

} // namespace ingot::rules
