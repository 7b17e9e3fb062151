// SPDX-License-Identifier: Apache-2.0
// Numbers of f32 products that schedules of the host and the device library share. Plain C++17.
#pragma once

namespace ingot {
namespace sizes {

/// Products of a sum between promotions (the bound in tile/promotion.cuh).
inline constexpr int kPromoteEvery = 32;

/// A kernel that packs an operand: a block's threads, its rows, and elements of a row at a time.
inline constexpr int kPackingThreads = 256, kPackingRows = kPackingThreads / 32,
                     kPackingDepth = 512;

/// Halves in memory (tile/halves.cuh): both halves of an element, the elements of 16 bytes that
/// rows are multiples of, and the record of a row.
inline constexpr int kHalvesBytes = 4, kHalvesAligned = 8, kHalvedRowBytes = 12;
/// Packed operands (tile/packed.cuh) come in blocks of so many rows and k.
inline constexpr int kPackedRows = 64, kPackedDepth = 64;
/// Elements of a row that a thread of the packing_rows skeleton holds.
inline constexpr int kPackedHeld = 32;

} // namespace sizes
} // namespace ingot
