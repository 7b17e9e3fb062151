// SPDX-License-Identifier: Apache-2.0
// The split skeleton: several blocks share a row. Each reads its part chunk by chunk, once for all
// stages. Before that it merges states that an earlier kernel stored. Afterwards it stores the
// states of its part.
#pragma once

#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"

namespace ingot {

template <class L, class Stage> struct SumsOf {};
template <class L, class R> struct SumsOf<L, Reduce<R>> : ChunkSums<R, L> {};

/// One part of the rows of a tile. No stage of this kernel uses the result of its reductions.
template <class L, int kSlots, class Params, class Results> struct SplitTile {
  const Params& params;
  const TileContext& part; ///< col0 and col_end are the bounds of the part
  Results& results;

  template <class Stage> INGOT_DEVICE void before(Stage*, u8*) const {}
  template <class M> INGOT_DEVICE void before(Merge<M>*, u8* region) const {
    merge_states<M, L>(params, part, results, region);
  }
  template <class R> INGOT_DEVICE void before(Reduce<R>*, u8*) const {
    static_assert(R::kSpan == Span::row, "a chunk holds parts of segments and of columns");
    init_states<typename R::Reducer>(results.template of<R>().state);
  }

  using Chunk = HeldTile<L, kSlots, Params, Results>;
  template <class Stage, class Sums> INGOT_DEVICE void on(const Chunk&, Stage*, Sums&) const {}
  template <class F, int kSlot, class Sums>
  INGOT_DEVICE void on(const Chunk& chunk, Map<F, kSlot>* map, Sums&) const {
    chunk.run(map, nullptr);
  }
  template <class F, class O, class Sums>
  INGOT_DEVICE void on(const Chunk& chunk, Store<F, O>* store, Sums&) const {
    chunk.run(store, nullptr);
  }
  template <class R, class Sums>
  INGOT_DEVICE void on(const Chunk& chunk, Reduce<R>*, Sums& sums) const {
    ChunkSums<R, L>& own = sums;
    own.add(params, chunk.context, chunk.fragment, results, results.template of<R>().state);
  }

  template <class Stage> INGOT_DEVICE void after(Stage*, u8*) const {}
  template <class R> INGOT_DEVICE void after(Reduce<R>*, u8* region) const {
    merge_apart<R, L>(part, results.template of<R>().state, region);
  }
  template <class S> INGOT_DEVICE void after(StoreStates<S>*, u8*) const {
    store_states<S, L>(params, part, results);
  }

  template <class... Ss> INGOT_DEVICE void run(List<Ss...>) const {
    u8* region = part.scratch;
    ((before(static_cast<Ss*>(nullptr), region), region += StageScratch<L, Ss>::kBytes), ...);
    struct : SumsOf<L, Ss>... {
    } sums;
    // A row without columns has one chunk, so that an element stored once per row is stored.
    for (i64 col0 = part.col0; col0 == part.col0 || col0 < part.col_end; col0 += L::kTileCols) {
      TileContext context = part;
      context.col0 = col0;
      Fragment<L, kSlots> fragment;
      const Chunk chunk{params, context, fragment, results};
      (on(chunk, static_cast<Ss*>(nullptr), sums), ...);
    }
    region = part.scratch;
    ((after(static_cast<Ss*>(nullptr), region), region += StageScratch<L, Ss>::kBytes), ...);
  }
};

template <class K> INGOT_DEVICE void split(const typename K::Params& params) {
  using L = typename K::Source::Layout;
  using Results = typename ResultsOf<L, List<>, typename K::Stages>::Type;
  const TileGrid grid = K::grid(params);
  bool again = false;
  for (i64 index = ptx::block_index(); index < grid.tiles(); index += ptx::block_count()) {
    const TileContext part = grid.place(index, ptx::thread_index(), ptx::shared_memory());
    if (again) part.barrier(); // until here, threads read the scratch of the last part
    again = true;
    Results results(part.thread);
    const SplitTile<L, K::kSlots, typename K::Params, Results> tile{params, part, results};
    tile.run(typename K::Stages());
  }
}

} // namespace ingot
