// SPDX-License-Identifier: Apache-2.0
// The held skeleton: a source yields a tile in registers, and each stage runs once on it.
#pragma once

#include "kernels/scheduler.cuh"
#include "kernels/shared_bytes.cuh"
#include "tile/bands.cuh"
#include "tile/split_k.cuh"

namespace ingot {

/// The source without a mainloop: the stages load their operands.
template <class L> struct NoSource {
  using Layout = L;
  static constexpr int kSharedBytes = 0;
  static constexpr bool kFillsRegisters = false;
};

// A kernel K, written by the emitter:
//   Params           the arguments
//   Source           a mainloop (tile/matrix.cuh), MatmulPair or NoSource
//   kMatmuls         number of matmuls of the source
//   kSlots, Stages   maximum number of values a tile holds; List of stages (tile/stages.cuh)
//   grid(params)     TileGrid
//   contraction(params, i)  K of matmul i
//   kSplitsK         with a matmul: whether K is split among blocks that share a tile
//   split(params)    with kSplitsK: the SplitK

/// The products of one part of a tile, in the first slots of the fragment.
template <class K, class Fragments>
INGOT_DEVICE void multiply_part(const typename K::Params& params, const TileGrid& grid,
                                const TileContext& context, i64 parts, i64 part,
                                Fragments& fragment) {
  using Source = typename K::Source;
  auto range = [&](int matmul) {
    return part_of<Source::kTileK>(K::contraction(params, matmul), parts, part);
  };
  if constexpr (K::kMatmuls == 1)
    Source::run(params, context, grid.rows, grid.cols, range(0), fragment.v[0]);
  else
    Source::run(params, context, grid.rows, grid.cols, range(0), range(1), fragment.v[0],
                fragment.v[1]);
}

/// Whether a source computes only some tiles: those of which takes(params, context, rows, cols) is
/// true.
template <class S, class = void> struct SkipsTiles {
  static constexpr bool kValue = false;
};
template <class S> struct SkipsTiles<S, decltype(void(S::kSkipsTiles))> {
  static constexpr bool kValue = S::kSkipsTiles;
};

/// Computes the products of a tile, or of its part of K. Returns false if this block does not
/// continue with the tile.
template <class K, class Fragments>
INGOT_DEVICE bool run_source(const typename K::Params& params, const TileGrid& grid,
                             const TileContext& context, i64 unit, Fragments& fragment) {
  if constexpr (SkipsTiles<typename K::Source>::kValue)
    if (!K::Source::takes(params, context, grid.rows, grid.cols)) return false;
  if constexpr (K::kMatmuls > 0) {
    if constexpr (K::kSplitsK) {
      const i64 parts = parts_of_tiles<K>(params);
      multiply_part<K>(params, grid, context, parts, unit % parts, fragment);
      return add_unit<K>(params, unit, context, fragment);
    } else {
      multiply_part<K>(params, grid, context, 1, 0, fragment);
    }
  }
  return true;
}

/// The band of the tiles of a mainloop. One that bounds the errors of f32 sums takes so long that
/// it hides more bands. A kernel that skips tiles computes few.
template <class Source, bool kSkipsTiles = SkipsTiles<Source>::kValue>
struct HeldBand : PartBand<typename Source::Layout, Source::kCompensated ? 4 : 2> {};
template <class Source> struct HeldBand<Source, true> : ShortBand<typename Source::Layout> {};

/// Whether the stages behind a mainloop go through the tile band by band.
template <class K> INGOT_DEVICE constexpr bool runs_in_bands() {
  if constexpr (K::kMatmuls > 0)
    return RunsInBands<HeldBand<typename K::Source>, typename K::Stages>::kValue;
  return false;
}

template <class K> INGOT_DEVICE void held(const typename K::Params& params) {
  using L = typename K::Source::Layout;
  using Stages = typename K::Stages;
  constexpr bool kInBands = runs_in_bands<K>();
  const TileGrid grid = K::grid(params);
  const i64 parts = parts_of_tiles<K>(params);
  // Opaque, so that the compiler does not keep the unit of a round in registers across a mainloop.
  auto unit_of = [](i32 round) {
    return ptx::opaque(ptx::block_index()) + static_cast<i64>(round) * ptx::block_count();
  };
  if constexpr (SkipsTiles<typename K::Source>::kValue)
    if (!K::Source::takes_any(params)) return;
  bool again = false;
  for (i32 round = 0; unit_of(round) < grid.tiles() * parts; ++round) {
    const i64 unit = unit_of(round);
    const TileContext context = grid.place(unit / parts, ptx::thread_index(), ptx::shared_memory());
    if (again) context.barrier(); // until here, threads read the scratch of the last tile
    Fragment<L, K::kSlots> fragment;
    again = run_source<K>(params, grid, context, unit, fragment);
    if (!again) continue;
    TileContext after = context;
    if constexpr (K::Source::kFillsRegisters)
      after = grid.place(unit_of(round) / parts, context.thread, context.scratch);
    if constexpr (kInBands) {
      run_bands<HeldBand<typename K::Source>>(params, after, fragment, Stages());
    } else {
      typename ResultsOf<L, List<>, Stages>::Type results(context.thread);
      run_stages<(K::kMatmuls > 0)>(params, after, fragment, results, Stages());
    }
  }
}

} // namespace ingot
