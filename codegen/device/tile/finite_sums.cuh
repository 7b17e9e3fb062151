// SPDX-License-Identifier: Apache-2.0
// A test whether a tile's sums are finite.
#pragma once

#include "tile/context.cuh"
#include "tile/layout.cuh"

namespace ingot {

/// Whether all sums of a tile in the layout are finite. Returns the same in all threads, behind a
/// barrier. The scratch is free before and behind.
template <class Layout>
INGOT_DEVICE bool are_finite(const TileContext& context,
                             const f32 (&acc)[Layout::kRows][Layout::kCols]) {
  f32 zero = 0.0f; // or NaN: an infinite sum times zero
#pragma unroll
  for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < Layout::kCols; ++j) zero += acc[i][j] * 0.0f;
  }
  u32 bad = zero == 0.0f ? 0 : 1;
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) bad |= ptx::shuffle_xor(bad, mask);
  auto* const warps = reinterpret_cast<u32*>(context.scratch);
  if (index_of(context.thread) % 32 == 0) warps[index_of(context.thread) / 32] = bad;
  context.barrier();
  for (int warp = 0; warp < Layout::kThreads / 32; ++warp) bad |= warps[warp];
  context.barrier();
  return bad == 0;
}

} // namespace ingot
