// SPDX-License-Identifier: Apache-2.0
// A matmul's operand in memory as wgmma reads it from shared memory, so that a bulk copy moves it
// as it is.
#pragma once

#include "tile/matrix.cuh"
#include "tile/row_split.cuh"

namespace ingot {

/// An operand of rows (of A, or columns of B) in blocks of 64 rows and 64 k. Rows and k are padded
/// with zeros to whole blocks. Each element has kPlanes elements of type T. Blocks come in the
/// order of batch, rows, k, plane. A block has lines of 128 bytes, whose chunks of 16 bytes are
/// swizzled: chunk c of line r is at chunk c ^ r % 8 (PTX ISA, "Swizzling Modes", 128 bytes).
/// Behind the blocks are the records of the rows, if Split has any, and behind these, from a
/// multiple of 16 bytes on, a byte of RowBits for each row with the padding. Behind them are the
/// lists of residuals, if there are halves, and the count of each. One matrix may serve a batch.
template <class T, int kPlaneCount, class RowSplit> struct Packed {
  using Element = T;
  using Split = RowSplit; ///< makes the planes of a row
  u8* base;               ///< 128-byte aligned
  i64 batches, rows, depth;

  static constexpr int kPlanes = kPlaneCount;
  static constexpr Major kMajor = Major::k;
  static constexpr bool kScales = Split::kScales;
  static constexpr bool kListsResiduals = kScales && kPlanes == 2;
  static constexpr int kRows = sizes::kPackedRows, kDepth = sizes::kPackedDepth;
  static constexpr int kLineBytes = kDepth * 2, kBlockBytes = kRows * kLineBytes;
  static constexpr int kChunk = 8; ///< elements of 16 bytes
  static_assert(kLineBytes == 128 && sizeof(T) == 2, "a line is one span of the swizzle");

  INGOT_DEVICE i64 row_blocks() const { return (rows + kRows - 1) / kRows; }
  INGOT_DEVICE i64 depth_blocks() const { return (depth + kDepth - 1) / kDepth; }
  /// k with the padding, in chunks.
  INGOT_DEVICE i64 stored_chunks() const { return depth_blocks() * (kDepth / kChunk); }
  /// Rows with the padding.
  INGOT_DEVICE i64 stored_rows() const { return row_blocks() * kRows; }
  INGOT_DEVICE bool stores(i64 row, i64 k) const {
    return row < stored_rows() && k < depth_blocks() * kDepth;
  }

  /// Row blocks past the end read the last block; their products are not used.
  INGOT_DEVICE const u8* block(i64 batch, i64 row_block, i64 depth_block, int plane) const {
    const i64 blocks = row_blocks();
    const i64 of_batch = batches == 1 ? 0 : batch * blocks;
    const i64 first = of_batch + (row_block < blocks ? row_block : blocks - 1);
    return base + ((first * depth_blocks() + depth_block) * kPlanes + plane) * kBlockBytes;
  }

  /// Stores eight elements of a row, from a k that is a multiple of 8.
  INGOT_DEVICE void put(i64 batch, i64 row, i64 k,
                        const Vector<T, kChunk> (&planes)[kPlanes]) const {
    u8* const to = const_cast<u8*>(chunk(batch, row, k));
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane)
      store_vector(reinterpret_cast<T*>(to + plane * kBlockBytes), planes[plane]);
  }

  /// The place of an element in the first plane. In a block, that of a row 8 further is 8 lines
  /// behind it.
  INGOT_DEVICE const T* high(i64 batch, i64 row, u32 k) const {
    return reinterpret_cast<const T*>(chunk(batch, row, k)) + k % kChunk;
  }
  /// The sum of the halves of an element, of which the high one is at `high`.
  static INGOT_DEVICE f32 sum(const T* high) {
    static_assert(kPlanes == 2, "elements have halves");
    return to_f32(*high) + to_f32(high[kBlockBytes / sizeof(T)]);
  }

  /// The records of all rows of all batches.
  INGOT_DEVICE HalvedRow* records() const {
    static_assert(kScales, "the rows have records");
    return reinterpret_cast<HalvedRow*>(base + batches * row_blocks() * depth_blocks() * kPlanes *
                                                   kBlockBytes);
  }
  INGOT_DEVICE const HalvedRow& row(i64 batch, i64 row) const {
    return records()[row_index(batch, row)];
  }
  /// The RowBits of all rows of all batches, with the padding.
  INGOT_DEVICE u8* row_bits() const {
    const i64 bytes = batches * rows * sizes::kHalvedRowBytes;
    return reinterpret_cast<u8*>(records()) + (bytes + 15) / 16 * 16;
  }
  /// Those of a row and of the rows behind it.
  INGOT_DEVICE u8* row_bits_from(i64 batch, i64 row) const {
    return row_bits() + (batches == 1 ? 0 : batch * stored_rows()) + row;
  }
  /// Writes the record of a row, if it is not padding, and its bits.
  INGOT_DEVICE void put_record(i64 batch, i64 row, const HalvedRow& record) const {
    if (row < rows) records()[row_index(batch, row)] = record;
    if (row < stored_rows())
      *row_bits_from(batch, row) = static_cast<u8>(row < rows ? RowBits::of(record, depth) : 0);
  }

  /// The list of a row, and the number of its residuals.
  INGOT_DEVICE Residual* residuals(i64 batch, i64 row) const {
    static_assert(kListsResiduals, "the rows have lists");
    return lists() + row_index(batch, row) * sizes::kListedResiduals;
  }
  INGOT_DEVICE u32* residual_count(i64 batch, i64 row) const {
    return reinterpret_cast<u32*>(lists() + batches * rows * sizes::kListedResiduals) +
           row_index(batch, row);
  }

private:
  /// The chunk of k in the first plane.
  INGOT_DEVICE const u8* chunk(i64 batch, i64 row, i64 k) const {
    const u32 line = static_cast<u32>(row) % kRows;
    const u32 place = static_cast<u32>(k) % kDepth / kChunk ^ line % 8;
    return block(batch, row / kRows, k / kDepth, 0) + line * kLineBytes + place * 16;
  }
  INGOT_DEVICE Residual* lists() const {
    return reinterpret_cast<Residual*>(row_bits() + batches * stored_rows());
  }
  INGOT_DEVICE i64 row_index(i64 batch, i64 row) const {
    return batches == 1 ? row : batch * rows + row;
  }
};

/// f32 elements as two f16 halves.
using PackedHalves = Packed<f16, 2, RowSplit<2>>;
/// f32 elements, scaled, as f16.
using PackedScaled = Packed<f16, 1, RowSplit<1>>;
/// Elements converted to T.
template <class T> using PackedAs = Packed<T, 1, Conversion<T>>;

} // namespace ingot
