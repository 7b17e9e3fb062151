// SPDX-License-Identifier: Apache-2.0
// f32 operands as two f16 numbers an element, and what is recorded of each row of them, so that a
// tile of a product knows whether three products of halves are as good as one of f32. Ootomo and
// Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
// theoretical peak performance", 2022; here rows are scaled, so that no exponent is out of range.
#pragma once

#include "math/elementwise.cuh"
#include "tile/vector.cuh"

namespace ingot {

// A row (of A, or a column of B) is multiplied by the power of two that brings its largest element
// to [2^14, 2^15). A scaled element t becomes high = f16(t) and low = f16(t - high). That keeps t
// to 2^-23 of it where |t| >= 2^-2, and below ("weak") to 2^-25, f16's least step having 2^-24. Of
// high_a high_b + high_a low_b + low_a high_b only low_a low_b is missing, at most 2^-22 |a b|.
//
// Weak elements cost an output at most 2 K 2^-25 2^15. Where K / 16 of its products have both
// factors strong, |t| >= 2^9, the sum of |a b| is K 2^14 or more, and the cost 2^-23 of it. If n of
// a row's and m of a column's elements are strong, n + m - K products have both strong.

/// Of a row of an operand.
struct HalvedRow {
  i32 shift;  ///< elements are multiplied by 2^shift: -113 to 126
  i32 strong; ///< elements that are strong; all of them in a row of zeros, whose products are exact
  i32 flags;  ///< kWeak, kNotFinite
  static constexpr i32 kWeak = 1;      ///< has nonzero weak elements
  static constexpr i32 kNotFinite = 2; ///< has Inf or NaN
};

constexpr f32 kLeastStrong = 512.0f;
constexpr f32 kLeastNotWeak = 0.25f;
constexpr int kScaledExponent = 14;

/// 2^exponent, -126 to 127.
INGOT_DEVICE f32 power_of_two(i32 exponent) {
  return ptx::as_f32(static_cast<u32>(exponent + 127) << 23);
}

/// The halves of an operand in memory: rows along k of an own pitch, zero behind the last element,
/// the high ones of all rows, the low ones, and the rows' records. One matrix may serve a batch.
struct Halves {
  static constexpr i64 kAligned = 8; ///< elements of 16 bytes
  u8* base;                          ///< 16-byte aligned
  i64 batches, rows, depth;

  INGOT_DEVICE i64 pitch() const { return (depth + kAligned - 1) / kAligned * kAligned; }
  INGOT_DEVICE i64 row_index(i64 batch, i64 row) const {
    return batches == 1 ? row : batch * rows + row;
  }
  INGOT_DEVICE f16* high(i64 batch, i64 row, i64 k) const {
    return reinterpret_cast<f16*>(base) + row_index(batch, row) * pitch() + k;
  }
  INGOT_DEVICE f16* low(i64 batch, i64 row, i64 k) const {
    return high(batch, row, k) + batches * rows * pitch();
  }
  INGOT_DEVICE HalvedRow& row(i64 batch, i64 row) const {
    auto* all = reinterpret_cast<HalvedRow*>(base + 4 * batches * rows * pitch());
    return all[row_index(batch, row)];
  }
};

/// What the rows of a tile have in common; merged over them.
struct HalvedTile {
  i32 strong_a, strong_b; ///< of the row and of the column with the fewest
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
  /// Whether products of halves keep the promise for sums of `depth` products.
  INGOT_DEVICE bool suits(i64 depth) const {
    return flags == 0 || (flags == HalvedRow::kWeak &&
                          static_cast<i64>(strong_a) + strong_b >= depth + (depth + 15) / 16);
  }
};

} // namespace ingot
