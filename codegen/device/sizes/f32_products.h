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
/// The residuals that a row of packed halves lists at most, and the bytes of one (Residual,
/// tile/row_split.cuh).
inline constexpr int kListedResiduals = 8, kResidualBytes = 8;
/// A row's list and its count.
constexpr int residual_list_bytes() { return kListedResiduals * kResidualBytes + 4; }
/// Packed operands (tile/packed.cuh) come in blocks of so many rows and k.
inline constexpr int kPackedRows = 64, kPackedDepth = 64;
/// Elements of a row that a thread holds while it packs the row.
inline constexpr int kPackedHeld = 32;

/// The warps of a block beside the copying one, which pack A or split B; and the rows of A that a
/// warp packs at a time (kernels/packing_beside.cuh).
inline constexpr int kBesideWarps = 3, kBesideUnit = 2;
/// The counters of a launch before those of its row tiles: the next unit, and blocks that are done.
inline constexpr int kBesideCounters = 2;
/// Registers of a thread that packs rows into so many planes. With 88, one that splits into halves
/// spills.
constexpr int beside_registers(int planes) { return planes == 1 ? 72 : 104; }

} // namespace sizes
} // namespace ingot
