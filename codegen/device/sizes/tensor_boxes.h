// SPDX-License-Identifier: Apache-2.0
// The boxes of tensor copies, which the host writes into tensor maps and the device library counts
// bytes by. Plain C++17.
#pragma once

namespace ingot {
namespace sizes {

/// Elements of `size` bytes of a line of a box: 128 bytes, one span of the swizzle. A slot of
/// operands holds as many k.
constexpr int box_elements(int size) { return 128 / size; }

/// The lines of a box, for an operand of `size` bytes an element, of which a block copies `lines`
/// rows (of A, or columns of B) of a tile. If its k is contiguous, a line has a slot's k of a row.
/// A box has all rows, or the 16 rows of a warp if a warpgroup has several `blocks` of 64 rows.
/// Else a line has rows of one k, and a box a slot's k.
constexpr int box_lines(bool is_k_contiguous, int lines, int blocks, int size) {
  return !is_k_contiguous ? box_elements(size) : blocks > 1 ? 16 : lines;
}

} // namespace sizes
} // namespace ingot
