// SPDX-License-Identifier: Apache-2.0
// What the rules of elementwise ops share; see rules.h.
#pragma once

#include "ir/interpreter/interval.h"

#include <cstdint>
#include <type_traits>

namespace ingot::rules {

/// Every op of the table; only those defined below have a rule.
#define INGOT_OP(name, op_class, arity, results, rule) struct name;
#include "ir/ops.def"

/// Two's complement arithmetic for integers, plain for floats.
template <typename T> using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

/// Relative error of a device function that is off by at most `ulps` from the correctly rounded
/// result: the CUDA C++ Programming Guide's table of maximum ulp errors (section "Mathematical
/// Functions", single precision, default compile flags), taken with one ulp to spare. Half an ulp
/// of rounding comes on top, and an ulp is at most 2^-23 of the value.
constexpr double ulps(double count) { return (count + 0.5) * 0x1p-23; }
/// One or two IEEE roundings: two allow x / c to run as x * (1 / c).
inline constexpr double kOneRounding = kUnit;
inline constexpr double kTwoRoundings = 2 * kUnit;

/// What functions of their own give half-typed results, absolute: less than 2^-126 may be zero.
inline constexpr double kHalfFloor = 0x1p-126;

inline constexpr double kNoSlope = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// image of a function that only rises where it is defined.
template <typename Rule> struct Rising {
  static Interval image(Interval x) { return {Rule::value(x.lo), Rule::value(x.hi)}; }
};

/// Step functions: no quick way, no rounding.
template <typename Rule> struct Step : Rising<Rule> {
  static constexpr double kRounding = 0;
  static double slope(double, double, double) { return kNoSlope; }
};

} // namespace ingot::rules
