// SPDX-License-Identifier: Apache-2.0
// The held skeleton: a source yields a tile in registers, and each stage runs once in place.
#pragma once

#include "kernels/scheduler.cuh"
#include "tile/stages.cuh"

namespace ingot {

/// No mainloop: the stages load what they need.
template <class L> struct NoSource {
  using Layout = L;
  static constexpr int kSharedBytes = 0;
};

// A kernel K, written by the emitter:
//   Params           the arguments
//   Source           a mainloop (tile/matrix.cuh), MatmulPair or NoSource
//   kMatmuls         of the source
//   kSlots, Stages   tile-wide values held at once; List of stages (tile/stages.cuh)
//   grid(params)     TileGrid
//   contraction(params, i)  K of matmul i

/// Dynamic shared memory of a kernel: the stages' scratch overlays the drained pipeline.
template <class K> struct SharedBytes {
  static constexpr int kScratch =
      ScratchBytes<typename K::Source::Layout, typename K::Stages>::kBytes;
  static constexpr int kBytes =
      K::Source::kSharedBytes > kScratch ? K::Source::kSharedBytes : kScratch;
};

template <class K> INGOT_DEVICE void held(const typename K::Params& params) {
  using Source = typename K::Source;
  using L = typename Source::Layout;
  using Results = typename ResultsOf<L, List<>, typename K::Stages>::Type;
  const TileGrid grid = K::grid(params);
  bool again = false;
  for (i64 index = ptx::block_index(); index < grid.tiles(); index += ptx::block_count()) {
    const TileContext context = grid.place(index, ptx::thread_index(), ptx::shared_memory());
    if (again) context.barrier(); // the last tile's scratch is read until here
    again = true;
    Fragment<L, K::kSlots> fragment;
    Results results;
    results.thread = context.thread;
    if constexpr (K::kMatmuls == 1)
      Source::run(params, context, grid.rows, grid.cols, K::contraction(params, 0), fragment.v[0]);
    if constexpr (K::kMatmuls == 2)
      Source::run(params, context, grid.rows, grid.cols, K::contraction(params, 0),
                  K::contraction(params, 1), fragment.v[0], fragment.v[1]);
    const HeldTile<L, K::kSlots, typename K::Params, Results> tile{params, context, fragment,
                                                                   results};
    tile.run_all(typename K::Stages());
  }
}

} // namespace ingot
