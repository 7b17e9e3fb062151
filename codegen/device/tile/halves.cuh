// SPDX-License-Identifier: Apache-2.0
// f32 operands as two f16 halves per element, with a record for each row. From the records, a tile
// of a product decides whether three products of halves are as good as one f32 product. Ootomo and
// Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance", 2022. Here rows are scaled, so that no exponent is out of range.
#pragma once

#include "math/elementwise.cuh"
#include "sizes/f32_products.h"
#include "tile/vector.cuh"

namespace ingot {

// A row (of A, or a column of B) is multiplied by the power of two that brings its largest element
// into [2^14, 2^15). A scaled element t becomes high = f16(t) and low = f16(t - high). The error is
// 2^-23 |t| where |t| >= 2^-2. Below that ("weak") it is 2^-25, because the least step of f16 is
// 2^-24. Only low_a low_b is missing from high_a high_b + high_a low_b + low_a high_b, at most
// 2^-22 |a b|.
//
// Weak elements change an output by at most 2 K 2^-25 2^15. If both factors are strong, |t| >= 2^9,
// in K / 16 of its products, the sum of |a b| is at least K 2^14, and the change is 2^-23 of it. If
// n elements of a row and m of a column are strong, n + m - K products have two strong factors.

/// The record of one row of an operand.
struct HalvedRow {
  i32 shift;  ///< elements were multiplied by 2^shift: -113 to 126
  i32 strong; ///< strong elements; all in a row of zeros, whose products are exact
  i32 flags;  ///< a set of kWeak and kNotFinite
  static constexpr i32 kWeak = 1;      ///< it has nonzero weak elements
  static constexpr i32 kNotFinite = 2; ///< it has Inf or NaN
};
static_assert(sizeof(HalvedRow) == sizes::kHalvedRowBytes, "the host plans the memory of halves");

constexpr f32 kLeastStrong = 512.0f;
constexpr f32 kLeastNotWeak = 0.25f;
constexpr int kScaledExponent = 14;

/// Splits the elements of a row into halves, and counts for its record.
struct RowSplit {
  i32 exponent, shift;
  f32 scale;
  u32 strong = 0, weak = 0;

  /// `largest`: the bits of the row's largest |x|. Bits of |x| order like the values, with Inf and
  /// NaN above all.
  explicit INGOT_DEVICE RowSplit(u32 largest)
      : exponent(static_cast<i32>(largest >> 23) - 127), shift(kScaledExponent - exponent) {
    if (shift > 126) shift = 126; // elements below 2^-112 stay weak
    if (exponent == 128) shift = 0;
    scale = math::power_of_two(shift);
  }

  INGOT_DEVICE void split(f32 x, f16& high, f16& low) {
    const f32 t = x * scale, size = math::abs(t);
    high = from_f32<f16>(t);
    low = from_f32<f16>(t - to_f32(high));
    strong += size >= kLeastStrong ? 1 : 0;
    weak |= x != 0.0f && size < kLeastNotWeak ? 1 : 0;
  }

  /// The record, once the counts are those of the whole row.
  INGOT_DEVICE HalvedRow record(u32 largest, i64 depth) const {
    return {shift, static_cast<i32>(largest == 0 ? depth : strong),
            (weak != 0 ? HalvedRow::kWeak : 0) | (exponent == 128 ? HalvedRow::kNotFinite : 0)};
  }
};

/// The scale of a row as two factors, 2^-shift in all: the whole power may be out of range although
/// the scaled sum is not.
struct Unscaling {
  f32 half, rest;
  Unscaling() = default;
  explicit INGOT_DEVICE Unscaling(i32 shift)
      : half(math::power_of_two(-shift >> 1)), rest(math::power_of_two(-shift - (-shift >> 1))) {}
};

/// The halves of an operand in memory: rows along k with a pitch of their own and zeros behind the
/// last element. The high halves of all rows come first, then the low ones, then the records of the
/// rows. One matrix may serve a batch.
struct Halves {
  u8* base; ///< 16-byte aligned
  i64 batches, rows, depth;

  INGOT_DEVICE i64 pitch() const {
    constexpr i64 kAligned = sizes::kHalvesAligned;
    return (depth + kAligned - 1) / kAligned * kAligned;
  }
  INGOT_DEVICE i64 row_index(i64 batch, i64 row) const {
    return batches == 1 ? row : batch * rows + row;
  }
  INGOT_DEVICE f16* high(i64 batch, i64 row, i64 k) const {
    return reinterpret_cast<f16*>(base) + row_index(batch, row) * pitch() + k;
  }
  INGOT_DEVICE f16* low(i64 batch, i64 row, i64 k) const {
    return high(batch, row, k) + batches * rows * pitch();
  }
  /// Rows with the padding.
  INGOT_DEVICE i64 stored_rows() const { return rows; }
  INGOT_DEVICE bool stores(i64 row, i64 k) const { return row < rows && k < depth; }
  /// Stores eight elements of a row, from a k that is a multiple of 8.
  INGOT_DEVICE void put(i64 batch, i64 row, i64 k, const Vector<f16, 8>& high,
                        const Vector<f16, 8>& low) const {
    store_vector(this->high(batch, row, k), high);
    store_vector(this->low(batch, row, k), low);
  }
  INGOT_DEVICE HalvedRow& row(i64 batch, i64 row) const {
    auto* all = reinterpret_cast<HalvedRow*>(base + sizes::kHalvesBytes * batches * rows * pitch());
    return all[row_index(batch, row)];
  }
};

/// The records of a tile's rows, merged.
struct HalvedTile {
  i32 strong_a, strong_b; ///< minimum over its rows, and over its columns
  i32 flags;

  static INGOT_DEVICE HalvedTile none() { return {0x7fffffff, 0x7fffffff, 0}; }
  INGOT_DEVICE void add(const HalvedRow& row, bool of_a) {
    if (of_a)
      strong_a = row.strong < strong_a ? row.strong : strong_a;
    else
      strong_b = row.strong < strong_b ? row.strong : strong_b;
    flags |= row.flags;
  }
  INGOT_DEVICE void add(const HalvedTile& other) {
    strong_a = other.strong_a < strong_a ? other.strong_a : strong_a;
    strong_b = other.strong_b < strong_b ? other.strong_b : strong_b;
    flags |= other.flags;
  }
  /// Adds the records of the other lanes of the warp.
  INGOT_DEVICE void add_lanes() {
#pragma unroll
    for (int mask = 1; mask < 32; mask *= 2)
      add({static_cast<i32>(ptx::shuffle_xor(static_cast<u32>(strong_a), mask)),
           static_cast<i32>(ptx::shuffle_xor(static_cast<u32>(strong_b), mask)),
           static_cast<i32>(ptx::shuffle_xor(static_cast<u32>(flags), mask))});
  }
  /// Whether products of halves keep the precision for sums of `depth` products.
  INGOT_DEVICE bool suits(i64 depth) const {
    return flags == 0 || (flags == HalvedRow::kWeak &&
                          static_cast<i64>(strong_a) + strong_b >= depth + (depth + 15) / 16);
  }
};

} // namespace ingot
