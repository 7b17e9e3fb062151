// SPDX-License-Identifier: Apache-2.0
// Logarithms to the bases 2 and 10, and powers of 2. They are exact wherever f32 can hold the
// result: floor(log2(8)) is 3, log10(1000) is 3, exp2(3) is 8.
#pragma once

#include "ptx/convert.cuh"
#include "ptx/fma.cuh"

namespace ingot {
namespace math {

INGOT_DEVICE f32 infinity() { return ptx::as_f32(0x7f800000u); }

/// 2^exponent for -126 to 127.
INGOT_DEVICE f32 power_of_two(i32 exponent) {
  return ptx::as_f32(static_cast<u32>(exponent + 127) << 23);
}

/// A number x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)). fraction is
/// exact, and ln(1 + fraction) = fraction + rest.
struct SplitLog {
  f32 exponent, fraction, rest;
};

/// Splits a positive finite x. rest is fraction^2 q(fraction), with q the minimax polynomial of
/// (ln(1 + f) - f) / f^2, off by 2^-27.5 of ln(1 + f).
INGOT_DEVICE SplitLog split_log(f32 x) {
  const bool subnormal = x < 1.17549435e-38f;
  const u32 bits = ptx::as_bits(subnormal ? x * 8388608.0f : x);
  const u32 steps = (bits - 0x3f3504f3u) & 0xff800000u; // the exponent above sqrt(1/2), times 2^23
  SplitLog log;
  log.exponent = static_cast<f32>(static_cast<i32>(steps) / 8388608 - (subnormal ? 23 : 0));
  log.fraction = ptx::as_f32(bits - steps) - 1.0f;
  const f32 f = log.fraction;
  f32 q = ptx::fma(-0.0762177855f, f, 0.129044339f);
  q = ptx::fma(q, f, -0.132429883f);
  q = ptx::fma(q, f, 0.141818255f);
  q = ptx::fma(q, f, -0.166090831f);
  q = ptx::fma(q, f, 0.200019732f);
  q = ptx::fma(q, f, -0.250015825f);
  q = ptx::fma(q, f, 0.333333254f);
  q = ptx::fma(q, f, -0.499999881f);
  log.rest = ptx::rounded_product(ptx::rounded_product(f, f), q);
  return log;
}

/// `result` for a positive finite x. For other x, the common limit of all logarithms.
INGOT_DEVICE f32 log_or_limit(f32 x, f32 result) {
  if (x > 0 && x < infinity()) return result;
  return x == 0 ? -infinity() : x < 0 ? ptx::as_f32(0x7fffffffu) : x;
}

/// Within 1.1 units in the last place; exact at powers of two. 1 / ln 2 is represented by a sum of
/// two numbers.
INGOT_DEVICE f32 log2(f32 x) {
  const SplitLog log = split_log(x);
  const f32 low =
      ptx::fma(log.fraction, 1.92596303e-08f, ptx::rounded_product(log.rest, 1.44269502f));
  return log_or_limit(x, log.exponent + ptx::fma(log.fraction, 1.44269502f, low));
}

/// Within 1.1 units; exactly n at the f32 value of 10^n. 1 / ln 10 and log10(2) are represented by
/// sums of two numbers.
INGOT_DEVICE f32 log10(f32 x) {
  const SplitLog log = split_log(x);
  f32 low = ptx::fma(log.fraction, -1.010305e-08f, ptx::rounded_product(log.rest, 0.434294492f));
  low = ptx::fma(log.exponent, -1.43209888e-08f, low);
  return log_or_limit(
      x, ptx::fma(log.exponent, 0.30103001f, ptx::fma(log.fraction, 0.434294492f, low)));
}

/// Within one unit; exact at integers. 2^(n + f) = 2^n (1 + f q(f)), |f| <= 1/2, with q the minimax
/// polynomial of (2^f - 1) / f, off by 2^-26 of 2^f. 2^n is a product of two powers, so that only
/// the result is rounded, even if it is subnormal.
INGOT_DEVICE f32 exp2(f32 x) {
  const f32 rounder = 12582912.0f; // 1.5 * 2^23: the sum has the nearest integer in its low bits
  const f32 bounded = x < -152.0f ? -152.0f : x > 129.0f ? 129.0f : x;
  const f32 shifted = bounded + rounder;
  const f32 f = bounded - (shifted - rounder);
  f32 q = ptx::fma(0.000154763009f, f, 0.00134002697f);
  q = ptx::fma(q, f, 0.00961800385f);
  q = ptx::fma(q, f, 0.055503279f);
  q = ptx::fma(q, f, 0.240226507f);
  q = ptx::fma(q, f, 0.693147182f);
  const i32 n = static_cast<i32>(ptx::as_bits(shifted) - ptx::as_bits(rounder)), half = n / 2;
  return ptx::rounded_product(ptx::rounded_product(ptx::fma(f, q, 1.0f), power_of_two(half)),
                              power_of_two(n - half));
}

} // namespace math
} // namespace ingot
