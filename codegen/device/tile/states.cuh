// SPDX-License-Identifier: Apache-2.0
// Reductions wider than a tile, or longer than one block should process. Each block stores its
// states in fixed slots of the workspace, and a later kernel merges them in the order of the slots.
#pragma once

#include "tile/reduce.cuh"

namespace ingot {

// The states S of reduction S::R, written by the emitter:
//   at(params, batch, row, col) -> State*   the slot of the tile that holds this point
// A merge M of a reduction:
//   Reducer, kSpan (row), kWidth
//   states(params)                            the number of states of one result
//   at(params, batch, row) -> const State*   the first of them
//   count(params)
// A merge at points has at(params, batch, row, col) instead.

/// All members of a merge but `count`, `states` and `at`.
template <class ReducerType> struct Merged {
  using Reducer = ReducerType;
  using State = typename Reducer::State;
  static constexpr Span kSpan = Span::row;
  static constexpr int kWidth = 0;
};

/// Stores the states of a held reduction. One thread writes the state of each result.
template <class S, class L, class Params, class Results>
INGOT_DEVICE void store_states(const Params& params, const TileContext& context, Results& results) {
  using R = typename S::R;
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  const auto store = [&](int slot, const typename R::Reducer::State& state) {
    const i64 row = context.row0 + (R::kSpan == Span::row ? slot : 0);
    const i64 col = context.col0 + (R::kSpan == Span::column ? slot : 0);
    if (row < context.row_end && col < context.col_end)
      *S::at(params, context.batch, row, col) = state;
  };
  const ReduceResult<R, L>& result = results.template of<R>();
  if constexpr (Plan::kResults == sizes::Results::states_in_scratch) {
    for (int slot = context.thread; slot < Plan::kPerTile; slot += L::kThreads)
      store(slot, result.states[slot]);
  } else {
    if ((context.thread & Plan::kLanes) != 0 || Plan::warp(context.thread) != 0) return;
#pragma unroll
    for (int k = 0; k < Plan::kPerThread; ++k)
      store(Plan::slot(context.thread, k), result.state[k]);
  }
}

/// Merges the stored states of the tile's rows. The threads of a row take turns with the slots, so
/// the order depends only on the number of slots and the layout.
template <class M, class L, class Params, class Results>
INGOT_DEVICE void merge_states(const Params& params, const TileContext& context, Results& results,
                               u8* region) {
  using Reducer = typename M::Reducer;
  using Plan = SpanPlan<L, Span::row, 0>;
  static_assert(Plan::kCluster == 1, "each block would count all states");
  ReduceResult<M, L>& result = results.template of<M>();
  // The threads that share a row: lanes of the low bits, then warps.
  constexpr int kLanes = L::kRowLanes + 1;
  constexpr int kSharing = kLanes * L::kRowWarps;
  const int self = L::row_warp(context.thread) * kLanes + (context.thread & L::kRowLanes);
  const i64 count = M::states(params);
#pragma unroll
  for (int k = 0; k < Plan::kPerThread; ++k) {
    result.state[k] = Reducer::init();
    const i64 row = context.row0 + L::row(context.thread, k);
    if (row >= context.row_end) continue;
    const typename Reducer::State* states = M::at(params, context.batch, row);
    for (i64 p = self; p < count; p += kSharing)
      result.state[k] = Reducer::merge(result.state[k], states[p]);
  }
  merge_apart<M, L>(context, result.state, region);
  finish_states<M, L>(params, result);
}

/// One result, from the states of this point alone. Outside of the domain there are no states.
template <class M, int kResult, class Params>
INGOT_DEVICE typename M::Reducer::Result merged(const Params& params, bool inside, i64 batch,
                                                i64 row, i64 col) {
  using Reducer = typename M::Reducer;
  typename Reducer::State state = Reducer::init();
  const typename Reducer::State* states = M::at(params, batch, row, col);
  const i64 count = inside ? M::states(params) : 0;
  for (i64 p = 0; p < count; ++p) state = Reducer::merge(state, states[p]);
  typename Reducer::Result results[Reducer::kResults];
  Reducer::finish(state, results, M::count(params));
  return results[kResult];
}

} // namespace ingot
