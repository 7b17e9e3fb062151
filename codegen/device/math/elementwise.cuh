// SPDX-License-Identifier: Apache-2.0
// One functor per elementwise op of ir/ops.def, with the same name; log2, log10 and exp2 are in
// logarithms.cuh. Arithmetic is in f32 for every float type. NaN and Inf behave as in PyTorch.
#pragma once

#include "math/logarithms.cuh"
#include "ptx/convert.cuh"
#include "ptx/exponential.cuh"
#include "ptx/extrema.cuh"
#include "ptx/fma.cuh"
#include "ptx/reciprocal.cuh"

namespace ingot {
namespace math {

INGOT_DEVICE bool is_nan(f32 x) { return x != x; }
INGOT_DEVICE bool is_inf(f32 x) { return (ptx::as_bits(x) & 0x7fffffffu) == 0x7f800000u; }

/// Integers wrap around. C++ guarantees that only for unsigned ones.
template <class T> struct Wrapping {
  using Type = T;
};
template <> struct Wrapping<i32> {
  using Type = u32;
};
template <> struct Wrapping<i64> {
  using Type = u64;
};
template <class T> INGOT_DEVICE typename Wrapping<T>::Type wrapping(T x) {
  return static_cast<typename Wrapping<T>::Type>(x);
}

template <class T> INGOT_DEVICE T neg(T x) { return static_cast<T>(-wrapping(x)); }
INGOT_DEVICE f32 abs(f32 x) { return ptx::as_f32(ptx::as_bits(x) & 0x7fffffffu); }
template <class T> INGOT_DEVICE T abs(T x) { return x < 0 ? neg(x) : x; }
INGOT_DEVICE f32 sign(f32 x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
template <class T> INGOT_DEVICE T sign(T x) { return (x > 0) - (x < 0); }

INGOT_DEVICE f32 exp(f32 x) { return ::expf(x); }
/// exp(x) for x <= 0. It is off by 1e-10 on average and by 0.82 units at most, while the error of
/// the machine's exponential is biased. It is 0 below exp(-86.5). exp(n ln 2 + f) = 2^n (1 + f +
/// f^2 q(f)), with q the minimax polynomial of (exp(f) - 1 - f) / f^2 for |f| <= ln 2 / 2, off by
/// 2^-28 of exp(f).
INGOT_DEVICE f32 unbiased_exp(f32 x) {
  const f32 rounder = 12582912.0f; // 1.5 * 2^23: the sum has the nearest integer in its low bits
  const f32 shifted = ptx::fma(x, 1.44269504f, rounder), n = shifted - rounder;
  const f32 f = ptx::fma(n, 1.90465432e-09f, ptx::fma(n, -0.693147182f, x));
  f32 q = ptx::fma(0.00138144556f, f, 0.00836878549f);
  q = ptx::fma(q, f, 0.0416683964f);
  q = ptx::fma(q, f, 0.166665196f);
  q = ptx::fma(q, f, 0.49999994f);
  const f32 mantissa = ptx::fma(f * f, q, f) + 1.0f;
  const f32 result = ptx::as_f32(ptx::as_bits(mantissa) + (ptx::as_bits(shifted) << 23));
  return x < -86.5f ? 0.0f : x == x ? result : x;
}
INGOT_DEVICE f32 expm1(f32 x) { return ::expm1f(x); }
INGOT_DEVICE f32 log(f32 x) { return ::logf(x); }
INGOT_DEVICE f32 log1p(f32 x) { return ::log1pf(x); }
INGOT_DEVICE f32 sqrt(f32 x) { return ::sqrtf(x); }
/// Whole rows are multiplied by the result. A step of Newton's method therefore reduces the
/// machine's error of two units in the last place to one. At zero and infinity the step is NaN.
INGOT_DEVICE f32 rsqrt(f32 x) {
  const f32 y = ::rsqrtf(x);
  const f32 step = ptx::fma(-(x * y), y, 1.0f) * (0.5f * y);
  return abs(step) < infinity() ? y + step : y;
}
INGOT_DEVICE f32 reciprocal(f32 x) { return 1.0f / x; }
INGOT_DEVICE f32 tanh(f32 x) { return ::tanhf(x); }
INGOT_DEVICE f32 erf(f32 x) { return ::erff(x); }
INGOT_DEVICE f32 sin(f32 x) { return ::sinf(x); }
INGOT_DEVICE f32 cos(f32 x) { return ::cosf(x); }
INGOT_DEVICE f32 atan(f32 x) { return ::atanf(x); }
INGOT_DEVICE f32 floor(f32 x) { return ::floorf(x); }
INGOT_DEVICE f32 ceil(f32 x) { return ::ceilf(x); }
INGOT_DEVICE f32 round(f32 x) { return ::rintf(x); }
INGOT_DEVICE f32 pow(f32 x, f32 y) { return ::powf(x, y); }
INGOT_DEVICE f32 fmod(f32 x, f32 y) { return ::fmodf(x, y); }

template <class T> INGOT_DEVICE T add(T x, T y) {
  return static_cast<T>(wrapping(x) + wrapping(y));
}
template <class T> INGOT_DEVICE T sub(T x, T y) {
  return static_cast<T>(wrapping(x) - wrapping(y));
}
template <class T> INGOT_DEVICE T mul(T x, T y) {
  return static_cast<T>(wrapping(x) * wrapping(y));
}
INGOT_DEVICE f32 div(f32 x, f32 y) { return x / y; }
/// x / y for y in [1/2, 2^120] or NaN, within 0.5001 units. The exception is a quotient that rounds
/// to infinity before it is corrected. The general division has a branch; this one has none, so
/// that divisions of many elements overlap. 0 / 0 is NaN here too. The remainder of a quotient from
/// an approximate reciprocal is exact and corrects the quotient once (Markstein, "Computation of
/// elementary functions on the IBM RISC System/6000 processor", 1990). An infinite quotient has no
/// remainder.
INGOT_DEVICE f32 div_bounded(f32 x, f32 y) {
  const f32 r = ptx::reciprocal_approx(y), quotient = x * r;
  const f32 surplus = ptx::fma(quotient, y, -x);
  const f32 corrected = ptx::fma(-surplus, r, quotient);
  return abs(surplus) < infinity() ? corrected : quotient;
}
/// 1 / y for y of at least 1/2, or NaN, by the same method. A quarter of y has no reciprocal below
/// 2^-126. fminf drops the NaN of infinity times zero.
INGOT_DEVICE f32 reciprocal_bounded(f32 y) {
  const f32 quarter = y * 0.25f, r = ptx::reciprocal_approx(quarter);
  const f32 remainder = ::fminf(ptx::fma(-quarter, r, 1.0f), 1.0f);
  return ptx::fma(r, remainder, r) * 0.25f;
}
/// The power of two, with the sign of y, by which a divisor becomes positive and the machine's
/// reciprocal of it is neither flushed to 0 nor infinite: between 2^-126 and 2^126.
INGOT_DEVICE f32 divisor_scale(f32 y) {
  const f32 size = abs(y) > 0x1p125f ? 0x1p-2f : abs(y) < 0x1p-125f ? 0x1p24f : 1.0f;
  return ptx::as_f32(ptx::as_bits(size) | (ptx::as_bits(y) & 0x80000000u));
}
/// x / y by the same method for any y, within 0.51 units for |x| >= 2^-119, and within 1.5 for
/// normal numbers below. Many elements that are divided by the same y share all that depends on it
/// alone.
INGOT_DEVICE f32 div_shared(f32 x, f32 y) {
  const f32 scale = divisor_scale(y);
  return div_bounded(x * scale, y * scale);
}
/// Integer division rounds towards zero. A divisor of 0 gives 0, and a divisor of -1 may wrap.
template <class T> INGOT_DEVICE T div(T x, T y) { return y == 0 ? 0 : y == -1 ? neg(x) : x / y; }

/// The functions for 16-bit results. 16 bits do not show their error, and they take a third of the
/// instructions.
namespace short_form {

/// Within 2^-17. Results below 2^-126 are 0.
INGOT_DEVICE f32 exp(f32 x) { return ptx::exp2_approx(x * 1.44269504f); }
/// x / y and 1 / y in the domains of the functions above, within 3 units. 1 / y below 2^-126 is 0.
INGOT_DEVICE f32 div_bounded(f32 x, f32 y) { return x * ptx::reciprocal_approx(y); }
INGOT_DEVICE f32 reciprocal_bounded(f32 y) { return ptx::reciprocal_approx(y); }
/// erf within 2^-18, and never beyond 1: x times a minimax polynomial of x^2 - 3.296875^2 / 2,
/// without a branch. From 3.296875 on, where erf is within 2^-18 of 1, it is 1, so that x (1 +
/// erf(x)) vanishes on the left. The polynomial was fitted by Lawson's iteration for the least
/// relative error, and to 1 at the end.
INGOT_DEVICE f32 erf(f32 x) {
  const f32 t = ptx::minimum(ptx::maximum(x, -3.296875f), 3.296875f);
  const f32 u = ptx::fma(t, t, -5.4346923828125f);
  f32 sum = 1.7616223757510596e-10f;
  sum = ptx::fma(sum, u, -2.3340078758593563e-09f);
  sum = ptx::fma(sum, u, 1.3622935668422542e-08f);
  sum = ptx::fma(sum, u, -1.2312449371165712e-07f);
  sum = ptx::fma(sum, u, 1.4333020317280898e-06f);
  sum = ptx::fma(sum, u, -1.2538298506115098e-05f);
  sum = ptx::fma(sum, u, 9.616779425414279e-05f);
  sum = ptx::fma(sum, u, -0.0007124866242520511f);
  sum = ptx::fma(sum, u, 0.005151642486453056f);
  sum = ptx::fma(sum, u, -0.03897596895694733f);
  sum = ptx::fma(sum, u, 0.42853665351867676f);
  return ptx::rounded_product(sum, t); // the compiler must not contract this product
}

} // namespace short_form

INGOT_DEVICE f32 minimum(f32 x, f32 y) { return ptx::minimum(x, y); }
INGOT_DEVICE f32 maximum(f32 x, f32 y) { return ptx::maximum(x, y); }
template <class T> INGOT_DEVICE T minimum(T x, T y) { return x < y ? x : y; }
template <class T> INGOT_DEVICE T maximum(T x, T y) { return x > y ? x : y; }

template <class T> INGOT_DEVICE bool equal(T x, T y) { return x == y; }
template <class T> INGOT_DEVICE bool not_equal(T x, T y) { return x != y; }
template <class T> INGOT_DEVICE bool less(T x, T y) { return x < y; }
template <class T> INGOT_DEVICE bool less_equal(T x, T y) { return x <= y; }
template <class T> INGOT_DEVICE bool greater(T x, T y) { return x > y; }
template <class T> INGOT_DEVICE bool greater_equal(T x, T y) { return x >= y; }

INGOT_DEVICE bool not_(bool x) { return !x; }
INGOT_DEVICE bool and_(bool x, bool y) { return x && y; }
INGOT_DEVICE bool or_(bool x, bool y) { return x || y; }

template <class T> INGOT_DEVICE T select(bool condition, T x, T y) { return condition ? x : y; }

/// cast: To is f32, f16 or bf16 (rounded to the type, held in f32), i32, i64 or bool. Floats
/// convert to integers towards zero, saturate out of range, and give 0 for NaN.
template <class To, class From> struct Cast {
  static INGOT_DEVICE To apply(From x) { return static_cast<To>(x); }
};
template <class From> struct Cast<f16, From> {
  static INGOT_DEVICE f32 apply(From x) { return to_f32(from_f32<f16>(static_cast<f32>(x))); }
};
template <class From> struct Cast<bf16, From> {
  static INGOT_DEVICE f32 apply(From x) { return to_f32(from_f32<bf16>(static_cast<f32>(x))); }
};
template <> struct Cast<i32, f32> {
  static INGOT_DEVICE i32 apply(f32 x) { return ptx::to_integer<i32>(x); }
};
template <> struct Cast<i64, f32> {
  static INGOT_DEVICE i64 apply(f32 x) { return ptx::to_integer<i64>(x); }
};
template <class From> struct Cast<bool, From> {
  static INGOT_DEVICE bool apply(From x) { return x != From(0); }
};

} // namespace math
} // namespace ingot
