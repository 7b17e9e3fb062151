// SPDX-License-Identifier: Apache-2.0
// Halves (tile/halves.cuh) in memory as wgmma reads them from shared memory, so that a bulk copy
// moves them as they are.
#pragma once

#include "tile/halves.cuh"

namespace ingot {

/// The halves of an operand in blocks of 64 rows and 64 k. Rows and k are padded with zeros to
/// whole blocks. Blocks come in the order of batch, rows, k, half. A block has lines of 128 bytes,
/// whose chunks of 16 bytes are swizzled: chunk c of line r is at chunk c ^ r % 8 (PTX ISA,
/// "Swizzling Modes", 128 bytes). The records of the rows lie behind the blocks. One matrix may
/// serve a batch.
struct PackedHalves {
  u8* base; ///< 128-byte aligned
  i64 batches, rows, depth;

  static constexpr int kRows = sizes::kPackedRows, kDepth = sizes::kPackedDepth;
  static constexpr int kLineBytes = kDepth * 2, kBlockBytes = kRows * kLineBytes;
  static constexpr int kChunk = 8; ///< elements of 16 bytes
  static_assert(kLineBytes == 128, "a line is one span of the swizzle");

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
  INGOT_DEVICE const u8* block(i64 batch, i64 row_block, i64 depth_block, int half) const {
    const i64 blocks = row_blocks();
    const i64 of_batch = batches == 1 ? 0 : batch * blocks;
    const i64 first = of_batch + (row_block < blocks ? row_block : blocks - 1);
    return base + ((first * depth_blocks() + depth_block) * 2 + half) * kBlockBytes;
  }

  /// Stores eight elements of a row, from a k that is a multiple of 8.
  INGOT_DEVICE void put(i64 batch, i64 row, i64 k, const Vector<f16, kChunk>& high,
                        const Vector<f16, kChunk>& low) const {
    const i64 line = row % kRows, chunk = k % kDepth / kChunk ^ row % 8;
    u8* const to =
        const_cast<u8*>(block(batch, row / kRows, k / kDepth, 0)) + line * kLineBytes + chunk * 16;
    store_vector(reinterpret_cast<f16*>(to), high);
    store_vector(reinterpret_cast<f16*>(to + kBlockBytes), low);
  }

  INGOT_DEVICE HalvedRow& row(i64 batch, i64 row) const {
    auto* all = reinterpret_cast<HalvedRow*>(base + batches * row_blocks() * depth_blocks() * 2 *
                                                        kBlockBytes);
    return all[batches == 1 ? row : batch * rows + row];
  }
};

} // namespace ingot
