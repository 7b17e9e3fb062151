// SPDX-License-Identifier: Apache-2.0
// Reductions whose results or states stay in scratch: those of columns that several warps share,
// and those of segments that do not align with threads.
#pragma once

#include "tile/merge.cuh"
#include "tile/reduce_results.cuh"

namespace ingot {

/// The columns of a thread whose states it has at once: as many as its warp merges without a lane
/// idle, in whole vectors, and a divisor of all.
template <class L> INGOT_DEVICE constexpr int column_group() {
  int lanes = 1, group = L::kVec;
  for (int bits = L::kColLanes; bits != 0; bits &= bits - 1) lanes *= 2;
  while (group < lanes && L::kCols % (2 * group) == 0) group *= 2;
  return group;
}

/// Reduces value_of(slot, value) of the thread's elements by the reducer Sweep, and merges each
/// column over the lanes. Stores the states of the warp in states[], by slot.
template <class R, class L, class Sweep, int kSlots, class Params, class Results, class ValueOf>
INGOT_DEVICE void reduce_in_warp(const Params& params, const TileContext& context,
                                 const Fragment<L, kSlots>& fragment, const Results& results,
                                 typename Sweep::State* states, ValueOf value_of) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  constexpr int kGroup = column_group<L>();
  const TileBounds<L> bounds(context);
  // Opaque, so that scratch is not read for all groups at once.
  i32 thread = ptx::opaque(context.thread);
  typename Sweep::State group[kGroup];
  init_states<Sweep>(group);
  for_each_element<typename R::Functor>(
      params, context, fragment, results,
      [&](int i, int j, i64 row, i64 col, typename R::Reducer::Value value) {
        if (bounds.row(i))
          Sweep::step(group[j % kGroup], value_of(Plan::slot(thread, j), value),
                      R::index(params, context.batch, row, col));
      },
      [&](int j) {
        if (j % kGroup != 0) return;
        share_lanes<Sweep, Plan::kLanes>(context.thread, group,
                                         [&](int k, const typename Sweep::State& state) {
                                           states[Plan::slot(thread, j - kGroup + k)] = state;
                                         });
        init_states<Sweep>(group);
        thread = ptx::opaque(thread);
      });
}

/// Calls use(slot, state) for each column of the tile, with the states of all warps merged. Each
/// column has one thread, the same one every time.
template <class Reducer, class L, class Plan, class Use>
INGOT_DEVICE void merge_columns(const TileContext& context, const typename Reducer::State* states,
                                Use use) {
  context.barrier();
  for (int slot = context.thread; slot < Plan::kPerTile; slot += L::kThreads)
    use(slot, merge_warps<Reducer, 0, Plan::kWarps>(states + slot, Plan::kPerTile));
}

/// The states of columns that several warps share, from `merged` on. Behind them are those of the
/// warps.
template <class R, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void states_of_columns(const Params& params, const TileContext& context,
                                    const Fragment<L, kSlots>& fragment, const Results& results,
                                    typename R::Reducer::State* merged) {
  using Reducer = typename R::Reducer;
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using State = typename Reducer::State;
  const int of_warp = Plan::warp(context.thread) * Plan::kPerTile;
  if constexpr (!Reducer::kTwoSweep) {
    State* const states = merged + Plan::kPerTile;
    reduce_in_warp<R, L, Reducer>(params, context, fragment, results, states + of_warp, TheValue());
    merge_columns<Reducer, L, Plan>(context, states,
                                    [&](int slot, const State& state) { merged[slot] = state; });
  } else {
    using First = typename Reducer::UncountedFirst;
    using Sum = typename SummandReducer::State;
    static_assert(sizeof(typename First::State) + sizeof(Sum) <= sizeof(State),
                  "two sweeps share the memory of the states");
    auto* const first = reinterpret_cast<typename First::State*>(merged + Plan::kPerTile);
    auto* const sums = reinterpret_cast<Sum*>(first + Plan::kWarps * Plan::kPerTile);
    reduce_in_warp<R, L, First>(params, context, fragment, results, first + of_warp, TheValue());
    const f32 rows = static_cast<f32>(TileBounds<L>(context).rows);
    merge_columns<First, L, Plan>(context, first,
                                  [&](int slot, const typename First::State& state) {
                                    merged[slot] = Reducer::begin(state, rows);
                                  });
    context.barrier();
    reduce_in_warp<R, L, SummandReducer>(
        params, context, fragment, results, sums + of_warp,
        [&](int slot, f32 value) { return Reducer::summand(merged[slot], value); });
    merge_columns<SummandReducer, L, Plan>(context, sums, [&](int slot, const Sum& sum) {
      merged[slot] = Reducer::with_sum(merged[slot], sum.value);
    });
  }
}

/// Segments that do not align with threads: the tile goes to scratch, and one thread reduces each
/// segment.
template <class R, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void through_scratch(const Params& params, const TileContext& context,
                                  const Fragment<L, kSlots>& fragment, const Results& results,
                                  ReduceResult<R, L>& result, u8* region) {
  using Reducer = typename R::Reducer;
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Value = typename Reducer::Value;
  constexpr int kPitch = ReduceTraits<R, L>::kPitch;
  result.results = reinterpret_cast<typename Reducer::Result*>(region);
  auto* values = reinterpret_cast<Value*>(region + ReduceTraits<R, L>::kResultBytes);
  for_each_element<typename R::Functor>(
      params, context, fragment, results, [&](int i, int j, i64, i64, Value value) {
        values[L::row(context.thread, i) * kPitch + L::col(context.thread, j)] = value;
      });
  context.barrier();
  for (int slot = context.thread; slot < Plan::kPerTile; slot += L::kThreads) {
    const Value* segment =
        values + slot / Plan::kSegments * kPitch + slot % Plan::kSegments * R::kWidth;
    typename Reducer::State state = Reducer::init();
    const i64 row = context.row0 + slot / Plan::kSegments;
    const i64 col = context.col0 + slot % Plan::kSegments * R::kWidth;
    for (int c = 0; c < R::kWidth; ++c)
      Reducer::step(state, segment[c], R::index(params, context.batch, row, col + c));
    Reducer::finish(state, result.results + slot * Reducer::kResults, R::kWidth);
  }
  context.barrier();
}

} // namespace ingot
