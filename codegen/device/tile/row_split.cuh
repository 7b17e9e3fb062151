// SPDX-License-Identifier: Apache-2.0
// How the elements of a row become the 16-bit elements that tensor cores multiply: f32 as two f16
// halves, f32 as one scaled f16, or converted. Rows of f32 have records, from which a tile of a
// product decides whether its precision is kept. Ootomo and Yokota, "Recovering single precision
// accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022. Here
// rows are scaled, so that no exponent is out of range.
#pragma once

#include "math/elementwise.cuh"
#include "sizes/f32_products.h"
#include "tile/vector.cuh"

namespace ingot {

// A row (of A, or a column of B) is multiplied by the power of two that brings its largest element
// into [2^14, 2^15). A row whose largest element is below 2^-64 is multiplied by 2^78: more of its
// elements are weak (below). A row with an element of 2^81 or more is marked, and suits no tile.
//
// Sums of fewer than 2^31 scaled products are multiples of 2^-48 below 2^61. With shifts from -66
// to 78, a sum times 2^-shift is a normal number. So two products, with the factors of its row and
// its column, remove the scales, and only the second one rounds.
//
// Two halves: a scaled element t becomes high = f16(t) and low = f16(t - high). The error is
// 2^-23 |t| where |t| >= 2^-2. Below that ("weak") it is 2^-25, because the least step of f16 is
// 2^-24. Only low_a low_b is missing from high_a high_b + high_a low_b + low_a high_b, at most
// 2^-22 |a b|.
//
// Weak elements change an output by at most 2 K 2^-25 2^15. If both factors are strong, |t| >= 2^9,
// in p of its products, the sum of |a b| is at least p 2^18, and the change is K / p 2^-27 of it:
// 2^-23 for p = K / 16. If n elements of a row and m of a column are strong, n + m - K products
// have two strong factors.
//
// Rows with few nonzero elements have few strong ones. A packed row therefore lists the residuals
// of its weak elements: t - high - low, exact in f32. Where the counts of strong elements do not
// suffice, a product adds the products of the residuals. Of normally distributed elements in
// rows of some thousands, one in 20,000 to 40,000 is weak. A row is not listed if its residuals are
// more than its list holds, or if it has a nonzero element below 2^-24.
//
// A sum with products of residuals may be smaller than the sums above. The first factor then rounds
// it to a multiple of 2^-149. All nonzero |a| and |b| of listed rows are 2^-24 or more, so that
// |a b| times the first factor is 2^-126 or more. The loss is at most 2^-150, which is 2^-24 of it.
//
// One scaled f16: t becomes f16(tf32(t)). That is tf32(t) where |t| >= 2^-14. Below that ("weak")
// the error is 2^-25. As for two halves, weak elements may change an output by 2^-23 of the sum of
// |a b|.

/// The residual of a weak element of a row, in the row's scale.
struct Residual {
  u32 k;
  f32 value;
};
static_assert(sizeof(Residual) == sizes::kResidualBytes, "the host plans the memory of residuals");

/// The record of one row of an operand.
struct HalvedRow {
  f32 factor; ///< removes the scale: 2^-shift, if elements were multiplied by 2^shift
  i32 strong; ///< strong elements; all in a row of zeros, whose products are exact
  i32 flags;  ///< a set of kWeak, kTooLarge and kUnlisted
  static constexpr i32 kWeak = 1;     ///< it has nonzero weak elements
  static constexpr i32 kTooLarge = 2; ///< it has elements of 2^81 or more, or NaN
  static constexpr i32 kUnlisted = 4; ///< it has weak elements whose residuals are not listed
};
static_assert(sizeof(HalvedRow) == sizes::kHalvedRowBytes, "the host plans the memory of halves");

/// A record in one byte. A guard reads these bytes before it reads records. The thread that copies
/// a tile decides by them whether the tile needs residuals. Bit i is set if fewer than
/// sixteenths(i) sixteenths of the row's elements are strong. The bits of several rows, or'ed, are
/// those of their merged record.
struct RowBits {
  static constexpr int kLevels = 5;
  static constexpr u32 kWeak = 1 << kLevels, kTooLarge = 2 << kLevels, kUnlisted = 4 << kLevels;
  static INGOT_DEVICE i64 sixteenths(int level) {
    constexpr int kSixteenths[] = {4, 8, 9, 12, 14};
    return kSixteenths[level];
  }

  static INGOT_DEVICE u32 of(const HalvedRow& row, i64 depth) {
    u32 bits = 0;
#pragma unroll
    for (int level = 0; level < kLevels; ++level)
      bits |= i64{row.strong} * 16 < sixteenths(level) * depth ? 1u << level : 0;
    return bits | ((row.flags & HalvedRow::kWeak) != 0 ? kWeak : 0) |
           ((row.flags & HalvedRow::kTooLarge) != 0 ? kTooLarge : 0) |
           ((row.flags & HalvedRow::kUnlisted) != 0 ? kUnlisted : 0);
  }

  /// The bits of the four rows of a word, one a byte, or'ed.
  static INGOT_DEVICE u32 merged(u32 rows) {
    rows |= rows >> 16;
    return (rows | rows >> 8) & 0xff;
  }

  /// Whether rows with these bits surely suit each other (HalvedTile::suits, tile/halves.cuh).
  static INGOT_DEVICE bool suit(u32 a, u32 b) {
    return ((a | b) & kTooLarge) == 0 && (((a | b) & kUnlisted) == 0 || are_strong(a, b));
  }

  /// Whether rows with these bits suit each other only with the products of their residuals, which
  /// are listed.
  static INGOT_DEVICE bool need_residuals(u32 a, u32 b) {
    return ((a | b) & (kWeak | kTooLarge | kUnlisted)) == kWeak && !are_strong(a, b);
  }

private:
  /// HalvedTile asks for K + ceil(K / 16) strong elements in all. That is 17 sixteenths of K,
  /// rounded up.
  static INGOT_DEVICE bool are_strong(u32 a, u32 b) {
    return least_strong(a) + least_strong(b) >= 17;
  }

  /// The least share of strong elements that the bits promise, in sixteenths.
  static INGOT_DEVICE i64 least_strong(u32 bits) {
    i64 least = sixteenths(kLevels - 1);
#pragma unroll
    for (int level = kLevels - 1; level >= 0; --level)
      if ((bits >> level & 1) != 0) least = level > 0 ? sixteenths(level - 1) : 0;
    return least;
  }
};

/// The combination of the values of a warp's lanes, in all of them.
template <class Combine> INGOT_DEVICE u32 combined_in_warp(u32 value, Combine combine) {
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) value = combine(value, ptx::shuffle_xor(value, mask));
  return value;
}

/// The largest and the least of some elements of a row, as the bits of |x|. Bits order like the
/// values, with Inf and NaN above all.
struct RowExtremes {
  u32 largest = 0;
  u32 least = 0xffffffffu; ///< its bits minus 1. A zero wraps around, so that it never counts

  template <int kCount> INGOT_DEVICE void add(const Vector<f32, kCount>& elements) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const u32 bits = ptx::as_bits(math::abs(elements.v[j]));
      largest = bits > largest ? bits : largest;
      least = bits - 1 < least ? bits - 1 : least;
    }
  }
  /// Adds those of other threads. combined(value, region, combine) combines the values of all of
  /// them; regions 0 and 1 are used.
  template <class Combined> INGOT_DEVICE void add_threads(Combined combined) {
    largest = combined(largest, 0, [](u32 a, u32 b) { return a > b ? a : b; });
    least = combined(least, 1, [](u32 a, u32 b) { return a < b ? a : b; });
  }
};

/// Splits the elements of a row into kPlanes f16 elements each, and counts for its record.
template <int kPlanes> struct RowSplit {
  static constexpr bool kScales = true;
  static constexpr int kScaledExponent = 14, kLeastShift = -66, kMostShift = 78;
  static constexpr f32 kLeastStrong = 512.0f;
  static constexpr f32 kLeastNotWeak = kPlanes == 2 ? 0.25f : 6.103515625e-05f;
  static constexpr f32 kLeastListed = 5.9604644775390625e-08f; ///< 2^-24
  f32 scale;
  u32 strong = 0;

  /// own_least: RowExtremes::least of the thread's elements.
  INGOT_DEVICE RowSplit(const RowExtremes& of_row, u32 own_least)
      : shift(kScaledExponent + 127 - static_cast<i32>(of_row.largest >> 23)) {
    const bool is_too_large = shift < kLeastShift;
    if (shift > kMostShift) shift = kMostShift;
    if (is_too_large) shift = 0;
    scale = math::power_of_two(shift);
    const bool has_weak = is_weak(of_row.least);
    facts = (has_weak ? HalvedRow::kWeak : 0) | (is_too_large ? HalvedRow::kTooLarge : 0) |
            (of_row.largest == 0 ? kZero : 0) | (is_weak(own_least) ? kOwnWeak : 0);
    if (kPlanes == 2 && has_weak && !is_too_large && !is_below(of_row.least, kLeastListed))
      facts |= kListable;
  }

  template <int kCount>
  INGOT_DEVICE void run(const Vector<f32, kCount>& row, Vector<f16, kCount> (&planes)[kPlanes]) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const f32 t = row.v[j] * scale;
      const f16 high =
          from_f32<f16>(kPlanes == 1 ? ptx::as_f32(ptx::round_tf32(ptx::as_bits(t))) : t);
      planes[0].v[j] = high;
      if constexpr (kPlanes == 2) planes[1].v[j] = from_f32<f16>(t - to_f32(high));
      strong += math::abs(t) >= kLeastStrong ? 1 : 0;
    }
  }

  /// Whether there are nonzero weak elements that can be listed, if they are not too many.
  INGOT_DEVICE bool can_list() const { return (facts & kListable) != 0; }
  /// Whether the thread has nonzero weak elements.
  INGOT_DEVICE bool has_own_weak() const { return (facts & kOwnWeak) != 0; }
  /// Whether an element is weak and not zero, by the bits of its size minus 1.
  INGOT_DEVICE bool is_weak(u32 bits) const { return is_below(bits, kLeastNotWeak); }
  /// The residual of an element.
  INGOT_DEVICE f32 residual(f32 element) const {
    const f32 t = element * scale, rest = t - to_f32(from_f32<f16>(t));
    return rest - to_f32(from_f32<f16>(rest));
  }

  /// The record, once the count is that of the whole row. is_listed: whether the residuals of all
  /// weak elements are in the row's list.
  INGOT_DEVICE HalvedRow record(i64 depth, bool is_listed) const {
    const i32 flags = facts & (HalvedRow::kWeak | HalvedRow::kTooLarge);
    const bool is_unlisted = (facts & HalvedRow::kWeak) != 0 && !is_listed;
    return {math::power_of_two(-shift), static_cast<i32>((facts & kZero) != 0 ? depth : strong),
            is_unlisted ? flags | HalvedRow::kUnlisted : flags};
  }

private:
  i32 shift; ///< elements are multiplied by 2^shift
  i32 facts; ///< flags of the record, and these. In one register, because packing has few
  static constexpr i32 kZero = 64, kListable = 128, kOwnWeak = 256;

  /// Whether an element, once it is scaled, is below a limit and not zero, by its bits minus 1.
  INGOT_DEVICE bool is_below(u32 bits, f32 limit) const {
    // The product is exact: an element is below it if the scaled element is below the limit.
    return bits < ptx::as_bits(limit * math::power_of_two(-shift)) - 1;
  }
};

/// Converts the elements of a row to T. It has no record.
template <class T> struct Conversion {
  static constexpr bool kScales = false;
  INGOT_DEVICE Conversion(const RowExtremes&, u32) {}

  template <int kCount>
  INGOT_DEVICE void run(const Vector<f32, kCount>& row, Vector<T, kCount> (&planes)[1]) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) planes[0].v[j] = from_f32<T>(row.v[j]);
  }
};

} // namespace ingot
