// SPDX-License-Identifier: Apache-2.0
// A test whether a tile's sums are finite.
#pragma once

#include "tile/context.cuh"
#include "tile/layout.cuh"

namespace ingot {

/// 0 if all sums of a thread are finite, else NaN.
template <int kRows, int kCols> INGOT_DEVICE f32 times_zero(const f32 (&acc)[kRows][kCols]) {
  f32 zero = 0.0f;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) zero += acc[i][j] * 0.0f;
  }
  return zero;
}

/// Whether `zero` is 0 in all of kThreads threads. Returns the same in all, behind a barrier. The
/// scratch is free before and behind.
template <int kThreads> INGOT_DEVICE bool is_zero_in_all(const TileContext& context, f32 zero) {
  u32 bad = zero == 0.0f ? 0 : 1;
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) bad |= ptx::shuffle_xor(bad, mask);
  auto* const warps = reinterpret_cast<u32*>(context.scratch);
  if (index_of(context.thread) % 32 == 0) warps[index_of(context.thread) / 32] = bad;
  context.barrier();
  for (int warp = 0; warp < kThreads / 32; ++warp) bad |= warps[warp];
  context.barrier();
  return bad == 0;
}

/// Whether all sums of a tile in the layout are finite; see is_zero_in_all.
template <class Layout>
INGOT_DEVICE bool are_finite(const TileContext& context,
                             const f32 (&acc)[Layout::kRows][Layout::kCols]) {
  return is_zero_in_all<Layout::kThreads>(context, times_zero(acc));
}

} // namespace ingot
