// SPDX-License-Identifier: Apache-2.0
// The nested skeleton: a product whose operand A is a tile that the kernel computes
// (tile/nested_mainloop.cuh), and the stages behind it.
#pragma once

#include "kernels/nested_tiles.cuh"
#include "kernels/shared_bytes.cuh"
#include "tile/joined_parts.cuh"

namespace ingot {

// A kernel K is that of kernels/held.cuh, with a nested mainloop as its only source.

template <class K> INGOT_DEVICE void nested(const typename K::Params& params) {
  using Source = typename K::Source;
  using L = typename Source::Layout;
  using Stages = typename K::Stages;
  const TileGrid grid = K::grid(params);
  const i64 parts = parts_of_tiles<K>(params);
  // Opaque, so that the compiler does not keep the tile's place in registers across the products.
  const auto unit_of = [&](i32 round) {
    return static_cast<i64>(round) * ptx::block_count() + ptx::opaque(ptx::block_index());
  };
  const auto tile_of = [&](i32 round) {
    return nested_tile(grid, unit_of(round) / parts, typename Source::Admits());
  };
  for (i32 round = 0; unit_of(round) < grid.tiles() * parts; ++round) {
    const TileContext context =
        grid.place(tile_of(round), ptx::thread_index(), ptx::shared_memory());
    if (round > 0) context.barrier(); // until here, threads read the scratch of the last tile
    Fragment<L, K::kSlots> fragment;
    typename ResultsOf<L, List<>, Stages>::Type results(context.thread);
    const i64 part = unit_of(round) % parts;
    Source::run(params, context, part_of<Source::kTileK>(K::contraction(params, 0), parts, part),
                fragment, results);
    if (!join_unit<K>(params, unit_of(round), context, fragment.v[0], results)) continue;
    const TileContext after = grid.place(tile_of(round), context.thread, context.scratch);
    run_stages<true>(params, after, fragment, results, Stages());
  }
}

} // namespace ingot
