// SPDX-License-Identifier: Apache-2.0
// A source with two tiles: the products of two matmuls over the same rows and columns.
#pragma once

#include "tile/matrix.cuh"

namespace ingot {

/// Two mainloops with the same layout, one after the other in the same shared memory. The first one
/// ends with a barrier after its last read.
template <class First, class Second> struct MatmulPair {
  using Layout = typename First::Layout;
  static_assert(Layout::kRows == Second::Layout::kRows && Layout::kCols == Second::Layout::kCols &&
                    Layout::kThreads == Second::Layout::kThreads,
                "both products are tiles of one layout");
  static constexpr int kSharedBytes =
      First::kSharedBytes > Second::kSharedBytes ? First::kSharedBytes : Second::kSharedBytes;
  static constexpr int kTileK = First::kTileK;
  static constexpr bool kCompensated = First::kCompensated;
  static constexpr bool kFillsRegisters = false; // a new computation spills on sm_90

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 m, i64 n,
                               KRange first_k, KRange second_k,
                               f32 (&first)[Layout::kRows][Layout::kCols],
                               f32 (&second)[Layout::kRows][Layout::kCols]) {
    First::run(params, context, m, n, first_k, first);
    Second::run(params, context, m, n, second_k, second);
  }
};

} // namespace ingot
