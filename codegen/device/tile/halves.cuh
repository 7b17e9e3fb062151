// SPDX-License-Identifier: Apache-2.0
// f32 operands as two f16 halves per element (tile/row_split.cuh) in rows, and the use of the
// records of rows: for the scales, and to tell whether a tile suits.
#pragma once

#include "tile/row_split.cuh"

namespace ingot {

/// Removes the scales of rows and columns from the sums of a tile of layout L. `rows` and `columns`
/// are the factors of the tile (HalvedRow). The row is first: see tile/row_split.cuh.
template <class L>
INGOT_DEVICE void unscale(i32 thread, const f32* rows, const f32* columns,
                          f32 (&acc)[L::kRows][L::kCols]) {
  f32 of_row[L::kRows];
#pragma unroll
  for (int i = 0; i < L::kRows; ++i) of_row[i] = rows[L::row(thread, i)];
#pragma unroll
  for (int j = 0; j < L::kCols; ++j) {
    const f32 of_column = columns[L::col(thread, j)];
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) acc[i][j] = acc[i][j] * of_row[i] * of_column;
  }
}

/// For add_cut_off (tile/cut_off.cuh). On an H200 sums of products of halves are too small
/// by 8.9e-8 for normally distributed data, by wgmma in parts of 64 and by mma.sync in parts of 32.
/// This adds 9e-8 in the mean. (Positive data: 1.8e-7 and 1.1e-7.)
struct CutOffHalves {
  static constexpr u32 kLast = 3;
  static constexpr f32 kGrowth = 0x1.2p-23f;
};

/// The halves of an operand in memory: rows along k with a pitch of their own and zeros behind the
/// last element. The high halves of all rows come first, then the low ones, then the records of the
/// rows. One matrix may serve a batch.
struct Halves {
  using Element = f16;
  using Split = RowSplit<2>;
  static constexpr int kPlanes = 2;
  static constexpr bool kListsResiduals = false;
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
  INGOT_DEVICE void put(i64 batch, i64 row, i64 k, const Vector<f16, 8> (&planes)[kPlanes]) const {
    store_vector(high(batch, row, k), planes[0]);
    store_vector(low(batch, row, k), planes[1]);
  }
  INGOT_DEVICE void put_record(i64 batch, i64 row, const HalvedRow& record) const {
    if (row < rows) this->row(batch, row) = record;
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
  /// Whether weak elements change sums of `depth` products by 2^-23 of their sizes at most, once
  /// the products of listed residuals are added.
  INGOT_DEVICE bool suits(i64 depth) const {
    const bool are_strong = static_cast<i64>(strong_a) + strong_b >= depth + (depth + 15) / 16;
    return flags == 0 || flags == HalvedRow::kWeak ||
           (flags == (HalvedRow::kWeak | HalvedRow::kUnlisted) && are_strong);
  }
};

} // namespace ingot
