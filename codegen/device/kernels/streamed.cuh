// SPDX-License-Identifier: Apache-2.0
// The streamed skeleton, for rows that are too long to hold or of unknown length. It reads them
// chunk by chunk, once for each reduction and once for the stores. Maps before a reduction run
// again each time.
#pragma once

#include "kernels/held.cuh"
#include "tile/reduce_stages.cuh"

namespace ingot {

/// Chunks whose operands are read from memory in each walk.
struct Reread {
  INGOT_DEVICE void begin(TileContext&, i32) {}
};

/// A tile of rows, processed in chunks of the layout's width. Chunks: the place of their operands.
template <class L, int kSlots, class Params, class Results, class Chunks> struct StreamedTile {
  const Params& params;
  const TileContext& rows; ///< from col0 to col_end, the ends of the row or of the block's part
  Results& results;
  Chunks& chunks;

  // The action of a walk on each stage while a chunk is in registers. Reductions and stores are
  // skipped in walks for another purpose.
  struct MapsOnly {
    template <class Stage, class Tile> static INGOT_DEVICE void run(const Tile&, Stage*) {}
    template <class F, int kSlot, class Tile>
    static INGOT_DEVICE void run(const Tile& tile, Map<F, kSlot>* stage) {
      tile.run(stage, nullptr);
    }
  };
  struct MapsAndStores : MapsOnly {
    using MapsOnly::run;
    template <class F, class O, class Tile>
    static INGOT_DEVICE void run(const Tile& tile, Store<F, O>* stage) {
      tile.run(stage, nullptr);
    }
  };

  /// Runs `Stages` on every chunk with Action, then calls `use(chunk context, fragment)`. A row
  /// without columns has one chunk, so that an element stored once per row is stored.
  template <class Action, class... Ss, class Use>
  INGOT_DEVICE void walk(List<Ss...>, Use use) const {
    i32 number = 0;
    for (i64 col0 = rows.col0; col0 == rows.col0 || col0 < rows.col_end; col0 += L::kTileCols) {
      TileContext context = rows;
      context.col0 = col0;
      chunks.begin(context, number++);
      Fragment<L, kSlots> fragment;
      const HeldTile<L, kSlots, Params, Results> tile{params, context, fragment, results};
      (Action::run(tile, static_cast<Ss*>(nullptr)), ...);
      use(context, fragment);
    }
  }

  template <class Before, class Stage> INGOT_DEVICE void reduce(Before, Stage*, u8*) const {}
  template <class Before, class R>
  INGOT_DEVICE void reduce(Before before, Reduce<R>*, u8* region) const {
    static_assert(R::kSpan == Span::row, "a chunk holds parts of segments and of columns");
    ReduceResult<R, L>& result = results.template of<R>();
    init_states<typename R::Reducer>(result.state);
    ChunkSums<R, L> sums;
    walk<MapsOnly>(before, [&](const TileContext& context, Fragment<L, kSlots>& fragment) {
      sums.add(params, context, fragment, results, result.state);
    });
    merge_apart<R, L>(rows, result.state, region);
    finish_states<R, L>(params, result);
  }
  template <class Before, class M> INGOT_DEVICE void reduce(Before, Merge<M>*, u8* region) const {
    merge_states<M, L>(params, rows, results, region);
  }

  /// Runs every reduction in order, each after the stages before it.
  template <class... Before> INGOT_DEVICE void reductions(List<Before...>, List<>, u8*) const {}
  template <class... Before, class S, class... Rest>
  INGOT_DEVICE void reductions(List<Before...> before, List<S, Rest...>, u8* region) const {
    reduce(before, static_cast<S*>(nullptr), region);
    reductions(List<Before..., S>(), List<Rest...>(), region + StageScratch<L, S>::kBytes);
  }
};

template <class K> INGOT_DEVICE void streamed(const typename K::Params& params) {
  using L = typename K::Source::Layout;
  using Stages = typename K::Stages;
  using Results = typename ResultsOf<L, List<>, Stages>::Type;
  const TileGrid grid = K::grid(params);
  bool again = false;
  for (i64 index = ptx::block_index(); index < grid.tiles(); index += ptx::block_count()) {
    const TileContext context = grid.place(index, ptx::thread_index(), ptx::shared_memory());
    if (again) context.barrier();
    again = true;
    Results results(context.thread);
    Reread chunks;
    using Tile = StreamedTile<L, K::kSlots, typename K::Params, Results, Reread>;
    const Tile tile{params, context, results, chunks};
    tile.reductions(List<>(), Stages(), context.scratch);
    tile.template walk<typename Tile::MapsAndStores>(
        Stages(), [](const TileContext&, Fragment<L, K::kSlots>&) {});
  }
}

} // namespace ingot
