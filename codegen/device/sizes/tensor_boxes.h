// SPDX-License-Identifier: Apache-2.0
// The boxes of tensor copies, which the host writes into tensor maps and the device library counts
// bytes by. Plain C++17.
#pragma once

namespace ingot {
namespace sizes {

/// 16-bit elements of a line of a box: 128 bytes, one span of the swizzle.
inline constexpr int kBoxElements = 64;

/// The lines of a box, for an operand with `lines` rows (of A, or columns of B) of a tile. If its k
/// is contiguous, a line has 64 k of a row. A box has all rows, or the 16 rows of a warp if a
/// warpgroup has several `blocks` of 64 rows. Else a line has 64 rows of one k, and a box 64 k.
constexpr int box_lines(bool is_k_contiguous, int lines, int blocks) {
  return !is_k_contiguous ? 64 : blocks > 1 ? 16 : lines;
}

} // namespace sizes
} // namespace ingot
