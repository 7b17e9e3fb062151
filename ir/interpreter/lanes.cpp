// SPDX-License-Identifier: Apache-2.0
// See lanes.h.
#include "ir/interpreter/lanes.h"

#include "ir/float_bits.h"
#include "ir/interpreter/rules.h"

namespace ingot {

namespace {

template <typename Rule, typename... T> auto value_of(T... x) {
  if constexpr (requires { Rule::template value<std::common_type_t<T...>>(x...); })
    return Rule::template value<std::common_type_t<T...>>(x...);
  else
    return Rule::value(x...);
}

bool is_small(float e) { return e >= 0 && e <= FLT_MAX; }

/// The additional rounding of the functions for 16-bit results.
struct Rounding {
  double relative = 0, floor = 0;
};
template <typename Rule> Rounding half_rounding(const Lanes& lanes) {
  if constexpr (requires { Rule::kHalfRounding; })
    if (lanes.halves) return {Rule::kHalfRounding, rules::kHalfFloor};
  return {};
}

template <typename Rule> float unary_bound(const Lanes& lanes, int64_t i) {
  double x = lanes.reals[0][i], y = lanes.y[i];
  float e = lanes.errors[0][i];
  const Rounding half = half_rounding<Rule>(lanes);
  double rounding = Rule::kRounding + half.relative;
  double floor = Rule::kRounding / kUnit * kTiny + half.floor;
  if constexpr (requires { Rule::is_exact_at(x); }) {
    if (e == 0 && Rule::is_exact_at(x)) rounding = floor = 0;
  }
  if (is_small(e) && std::fabs(x) + e <= FLT_MAX && std::fabs(y) <= FLT_MAX) {
    double reach = e == 0 ? 0 : Rule::slope(x, y, e);
    double error = reach + rounding * (std::fabs(y) + reach) + floor;
    if (std::fabs(y) + error <= FLT_MAX) return up(error);
  }
  if (e == kAnything) return kAnything;
  Interval image = Rule::image(lanes.interval(0, i));
  return encode(y, inflate(image, rounding, floor));
}

template <typename Rule> float binary_bound(const Lanes& lanes, int64_t i) {
  double a = lanes.reals[0][i], b = lanes.reals[1][i], y = lanes.y[i];
  float ea = lanes.errors[0][i], eb = lanes.errors[1][i];
  const Rounding half = half_rounding<Rule>(lanes);
  double rounding = Rule::rounding(a, b, y) + half.relative * std::fabs(y);
  bool exact = ea == 0 && eb == 0;
  if (is_small(ea) && is_small(eb) && std::fabs(a) + ea <= FLT_MAX &&
      std::fabs(b) + eb <= FLT_MAX && std::fabs(y) <= FLT_MAX) {
    double reach = exact ? 0 : Rule::slope(a, b, y, ea, eb);
    double floor = rounding > 0 ? 2 * kTiny + half.floor : 0;
    // The rounding also covers the errors of operands. 4u is enough for every rule.
    double error = reach * (1 + 4 * kUnit) + rounding + floor;
    if (std::fabs(y) + error <= FLT_MAX) return up(error);
  }
  if (ea == kAnything || eb == kAnything) return kAnything;
  Interval image = Rule::image(lanes.interval(0, i), lanes.interval(1, i));
  if (rounding == 0 || exact)
    return encode(y, inflate(image, exact ? 2 * kUnit + half.relative : 0, half.floor));
  double relative =
      std::isfinite(rounding / y) ? std::fabs(rounding / y) : 2 * kUnit + half.relative;
  return encode(y, inflate(image, relative, 2 * kTiny + half.floor));
}

template <typename Rule, int Arity> struct Driver {
  using RealResult = decltype([] {
    if constexpr (Arity == 1)
      return value_of<Rule>(0.0);
    else
      return value_of<Rule>(0.0, 0.0);
  }());
  static constexpr bool kYieldsReal = std::is_same_v<RealResult, double>;

  static void reals(const Lanes& lanes) {
    for (int64_t i = 0; i < lanes.length; ++i) {
      RealResult result;
      if constexpr (Arity == 1)
        result = value_of<Rule>(lanes.reals[0][i]);
      else
        result = value_of<Rule>(lanes.reals[0][i], lanes.reals[1][i]);
      if constexpr (kYieldsReal)
        lanes.y[i] = result;
      else
        lanes.n[i] = result;
    }
  }

  static void integers(const Lanes& lanes) {
    for (int64_t i = 0; i < lanes.length; ++i) {
      if constexpr (Arity == 1)
        lanes.n[i] = static_cast<int64_t>(value_of<Rule>(lanes.integers[0][i]));
      else
        lanes.n[i] =
            static_cast<int64_t>(value_of<Rule>(lanes.integers[0][i], lanes.integers[1][i]));
    }
  }

  static float real_bound(const Lanes& lanes, int64_t i) {
    if constexpr (Arity == 1 && kYieldsReal) {
      return unary_bound<Rule>(lanes, i);
    } else if constexpr (Arity == 1) {
      Interval x = lanes.interval(0, i);
      return x.is_point() || x.has_nan() || x.is_finite() ? 0 : kAnything;
    } else if constexpr (requires { Rule::kSettles; }) {
      return integer_bound(lanes, i); // logic has no floats
    } else if constexpr (kYieldsReal) {
      return binary_bound<Rule>(lanes, i);
    } else {
      if (lanes.error_sum(i, 2) == kAnything) return kAnything;
      Interval a = lanes.interval(0, i);
      Interval b = lanes.interval(1, i);
      return a.has_nan() || b.has_nan() || Rule::decide(a, b) ? 0 : kAnything;
    }
  }

  static float integer_bound(const Lanes& lanes, int64_t i) {
    if (lanes.error_sum(i, Arity) == 0) return 0;
    if constexpr (requires { Rule::kSettles; })
      for (int k = 0; k < 2; ++k)
        if (lanes.errors[k][i] == 0 && (lanes.integers[k][i] != 0) == Rule::kSettles) return 0;
    return kAnything;
  }

  static void bounds(const Lanes& lanes) {
    bool is_real = lanes.reals[0] != nullptr;
    for (int64_t i = 0; i < lanes.length; ++i)
      lanes.bound[i] = is_real ? real_bound(lanes, i) : integer_bound(lanes, i);
  }
};

// ---- select ------------------------------------------------------------------------------------

void select_reals(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i)
    lanes.y[i] = lanes.reals[lanes.integers[0][i] ? 1 : 2][i];
}

void select_integers(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i)
    lanes.n[i] = lanes.integers[lanes.integers[0][i] ? 1 : 2][i];
}

void select_bounds(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i) {
    int taken = lanes.integers[0][i] ? 1 : 2;
    float e = lanes.errors[taken][i];
    if (lanes.errors[0][i] == 0) {
      lanes.bound[i] = e;
    } else if (!lanes.reals[1]) {
      lanes.bound[i] = kAnything;
    } else {
      // Either branch may be taken, so the result is the hull of both.
      Interval a = lanes.interval(1, i);
      Interval b = lanes.interval(2, i);
      bool both_nan = std::isnan(a.lo) && std::isnan(b.lo);
      bool nan =
          a.has_nan() || b.has_nan() || lanes.error_sum(i, 3) - lanes.errors[0][i] == kAnything;
      Interval hull =
          nan && !both_nan ? kMaybeNaN : Interval{std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
      lanes.bound[i] = encode(lanes.y[i], hull);
    }
  }
}

/// Ops without a rule use that of select; cast has its own code.
template <typename Rule, int Arity> Handler handler() {
  if constexpr (requires { sizeof(Rule); })
    return {Driver<Rule, Arity>::reals, Driver<Rule, Arity>::integers, Driver<Rule, Arity>::bounds};
  else
    return {select_reals, select_integers, select_bounds};
}

} // namespace

Handler handler_of(OpKind kind) {
  static const Handler kHandlers[] = {
#define INGOT_OP(name, op_class, arity, ...) handler<rules::name, arity>(),
#include "ir/ops.def"
  };
  return kHandlers[static_cast<size_t>(kind)];
}

Handler square_handler() { return handler<rules::Square, 1>(); }

// ---- cast --------------------------------------------------------------------------------------

double round_to(DType dtype, double x) {
  switch (dtype) {
  case DType::f16: return round_to_f16(x);
  case DType::bf16: return round_to_bf16(x);
  default: return x;
  }
}

namespace {

/// Float to integer truncates and saturates. NaN gives 0.
int64_t to_integer(DType dtype, double x) {
  if (dtype == DType::boolean) return x != 0;
  double limit = dtype == DType::i32 ? 0x1p31 : 0x1p63;
  auto least = dtype == DType::i32 ? int64_t{INT32_MIN} : INT64_MIN;
  if (std::isnan(x)) return 0;
  if (x >= limit) return dtype == DType::i32 ? int64_t{INT32_MAX} : INT64_MAX;
  return x <= -limit ? least : static_cast<int64_t>(x);
}

int64_t wrap(DType dtype, int64_t n) {
  if (dtype == DType::boolean) return n != 0;
  return dtype == DType::i32 ? static_cast<int32_t>(n) : n;
}

/// Converts through f32, as kernels and PyTorch do.
double from_integer(DType dtype, int64_t n) { return round_to(dtype, static_cast<float>(n)); }

float cast_bound(const Lanes& lanes, int64_t i, DType to) {
  float e = lanes.errors[0][i];
  if (e == 0 || e == kAnything) return e;
  if (!lanes.reals[0]) return kAnything;
  Interval x = lanes.interval(0, i);
  if (lanes.y) return encode(lanes.y[i], {round_to(to, x.lo), round_to(to, x.hi)});
  bool settled =
      to == DType::boolean ? !x.contains(0) : to_integer(to, x.lo) == to_integer(to, x.hi);
  return settled ? 0 : kAnything;
}

} // namespace

void cast_values(const Lanes& lanes, DType to) {
  for (int64_t i = 0; i < lanes.length; ++i) {
    if (lanes.reals[0] && lanes.y)
      lanes.y[i] = round_to(to, lanes.reals[0][i]);
    else if (lanes.reals[0])
      lanes.n[i] = to_integer(to, lanes.reals[0][i]);
    else if (lanes.y)
      lanes.y[i] = from_integer(to, lanes.integers[0][i]);
    else
      lanes.n[i] = wrap(to, lanes.integers[0][i]);
  }
}

void cast_bounds(const Lanes& lanes, DType to) {
  for (int64_t i = 0; i < lanes.length; ++i) lanes.bound[i] = cast_bound(lanes, i, to);
}

} // namespace ingot
