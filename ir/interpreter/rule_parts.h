// SPDX-License-Identifier: Apache-2.0
// Parts that the rules of elementwise ops share; see rules.h.
#pragma once

#include "ir/interpreter/interval.h"

#include <cstdint>
#include <type_traits>

namespace ingot::rules {

/// Declares every op of the table. Only the ops defined below have a rule.
#define INGOT_OP(name, ...) struct name;
#include "ir/ops.def"

/// Two's complement arithmetic for integers, plain for floats.
template <typename T> using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

/// The relative error of a device function whose result is within `ulps` of the correctly rounded
/// one. The numbers are from the table of maximum ulp errors in the CUDA C++ Programming Guide
/// (section "Mathematical Functions", single precision, default compile flags), plus one ulp of
/// margin. Rounding adds half an ulp. An ulp is at most 2^-23 of the value.
constexpr double ulps(double count) { return (count + 0.5) * 0x1p-23; }
/// One or two IEEE roundings. Two allow x / c to run as x * (1 / c).
inline constexpr double kOneRounding = kUnit;
inline constexpr double kTwoRoundings = 2 * kUnit;

/// The absolute error of functions for 16-bit results: values below 2^-126 may become zero.
inline constexpr double kHalfFloor = 0x1p-126;

inline constexpr double kNoSlope = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The image under a function that is increasing wherever it is defined.
template <typename Rule> struct Rising {
  static Interval image(Interval x) { return {Rule::value(x.lo), Rule::value(x.hi)}; }
};

/// Step functions: no slope and no rounding.
template <typename Rule> struct Step : Rising<Rule> {
  static constexpr double kRounding = 0;
  static double slope(double, double, double) { return kNoSlope; }
};

} // namespace ingot::rules
