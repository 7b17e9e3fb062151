// SPDX-License-Identifier: Apache-2.0
// The code of the stages of reductions, for HeldTile::run (tile/stages.cuh).
#pragma once

#include "tile/stages.cuh"
#include "tile/states.cuh"

namespace ingot {

template <class L, class R> struct StageScratch<L, Reduce<R>> {
  static constexpr int kBytes = sizes::region(ReduceTraits<R, L>::kScratchBytes);
};
template <class L, class M> struct StageScratch<L, Merge<M>> {
  static constexpr int kBytes = sizes::region(ReduceTraits<M, L>::kScratchBytes);
};

template <class L, class R> struct StaysInRows<L, Reduce<R>> {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  static constexpr bool kValue =
      (R::kSpan == Span::row || R::kSpan == Span::segment) && Plan::kWarps == 1;
};

template <class Tile, class R>
INGOT_DEVICE void run_stage(const Tile& tile, Reduce<R>*, u8* region) {
  reduce_held<R, typename Tile::Layout>(tile.params, tile.context, tile.fragment, tile.results,
                                        region);
}
template <class Tile, class S> INGOT_DEVICE void run_stage(const Tile& tile, StoreStates<S>*, u8*) {
  store_states<S, typename Tile::Layout>(tile.params, tile.context, tile.results);
}
template <class Tile, class M>
INGOT_DEVICE void run_stage(const Tile& tile, Merge<M>*, u8* region) {
  merge_states<M, typename Tile::Layout>(tile.params, tile.context, tile.results, region);
}

} // namespace ingot
