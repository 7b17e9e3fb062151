// SPDX-License-Identifier: Apache-2.0
// Reductions over a tile in any layout: in the thread, then over the threads that share a result
// (tile/merge.cuh). The layout and the sizes alone determine every tree, so two runs give the same
// bits.
#pragma once

#include "tile/reduce_in_scratch.cuh"

namespace ingot {

/// Merges the sums of a second sweep over the threads of a block, behind the states of the first
/// one.
template <class R, class Plan, int kCount>
INGOT_DEVICE void merge_sums(const TileContext& context,
                             typename SummandReducer::State (&sums)[kCount], u8* region) {
  using First = typename R::Reducer::First;
  static_assert(sizeof(typename First::State) + sizeof(f32) <= sizeof(typename R::Reducer::State),
                "two sweeps share the memory of the states");
  constexpr int kFirstBytes = Plan::kWarps * Plan::kPerTile * sizeof(typename First::State);
  merge_threads<SummandReducer, Plan>(context, sums, region + kFirstBytes);
}

/// Merges states that threads accumulated separately.
template <class R, class L, int kCount>
INGOT_DEVICE void merge_apart(const TileContext& context,
                              typename R::Reducer::State (&state)[kCount], u8* region) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  if constexpr (Plan::kCluster > 1)
    merge_cluster<Reducer, Plan>(context, state, region);
  else if constexpr (!Reducer::kTwoSweep)
    merge_threads<Reducer, Plan>(context, state, region);
  else
    merge_about_centre<Reducer>(
        state,
        [&](auto& first) { merge_threads<typename Reducer::First, Plan>(context, first, region); },
        [&](auto& sums) { merge_sums<R, Plan>(context, sums, region); });
}

/// Accumulates the thread's elements with the reducer itself.
template <class R, class L, int kSlots, class Params, class Results, class States>
INGOT_DEVICE void accumulate(const Params& params, const TileContext& context,
                             const Fragment<L, kSlots>& fragment, const Results& results,
                             States& state) {
  step_elements<R, L, typename R::Reducer, !R::Reducer::kTwoSweep>(params, context, fragment,
                                                                   results, state);
}

/// The sums of the second sweep over the thread's elements, about the centres.
template <class R, class L, int kSlots, class Params, class Results, int kCount>
INGOT_DEVICE void sum_about(const Params& params, const TileContext& context,
                            const Fragment<L, kSlots>& fragment, const Results& results,
                            const typename R::Reducer::State (&centre)[kCount],
                            typename SummandReducer::State (&sums)[kCount]) {
  init_states<SummandReducer>(sums);
  step_elements<R, L, SummandReducer, true>(
      params, context, fragment, results, sums,
      [&](int k, f32 value) { return R::Reducer::summand(centre[k], value); });
}

/// The centres about which the chunks of a row are reduced. Each chunk has its own, or, if the
/// reducer has kMovesCentre, that of all chunks so far.
template <class Reducer, int kCount, bool kSweeps> struct Centres {};
template <class Reducer, int kCount> struct Centres<Reducer, kCount, true> {
  using First = typename Reducer::UncountedFirst;
  typename First::State reached[kCount];

  INGOT_DEVICE Centres() { init_states<First>(reached); }
  /// `count`: of the values of the chunk.
  INGOT_DEVICE typename Reducer::State begin(int k, const typename First::State& chunk, f32 count) {
    reached[k] = Reducer::kMovesCentre ? First::merge(reached[k], chunk) : chunk;
    return Reducer::begin(reached[k], count);
  }
};

/// Accumulates elements, then chunks, then runs of chunks. Chains of sums, and their errors, are
/// then shorter than a row.
template <class R, class L> struct ChunkSums {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  static constexpr int kRun = 16;
  /// A merge of two-sweep reducers costs as much as two steps. The two sweeps of a chunk cost
  /// almost nothing, because they neither branch nor divide.
  static constexpr bool kSweeps = Reducer::kTwoSweep && L::kRows * L::kCols >= 4 * Plan::kPerThread;
  typename Reducer::State run[Plan::kPerThread];
  int chunks = 0;
  Centres<Reducer, Plan::kPerThread, kSweeps> centres;

  /// The columns of the row, or of its part, end at context.col_end.
  template <int kSlots, class Params, class Results, class States>
  INGOT_DEVICE void add(const Params& params, const TileContext& context,
                        const Fragment<L, kSlots>& fragment, const Results& results,
                        States& state) {
    if constexpr (Reducer::kTwoSweep && !kSweeps) {
      accumulate<R, L>(params, context, fragment, results, state);
    } else {
      typename Reducer::State chunk[Plan::kPerThread];
      reduce_chunk(params, context, fragment, results, chunk);
      const bool first = chunks == 0;
      chunks = chunks + 1 == kRun ? 0 : chunks + 1;
      const bool last = chunks == 0 || context.col0 + L::kTileCols >= context.col_end;
#pragma unroll
      for (int k = 0; k < Plan::kPerThread; ++k) {
        run[k] = first ? chunk[k] : Reducer::merge(run[k], chunk[k]);
        if (last) state[k] = Reducer::merge(state[k], run[k]);
      }
    }
  }

private:
  template <int kSlots, class Params, class Results, class States>
  INGOT_DEVICE void reduce_chunk(const Params& params, const TileContext& context,
                                 const Fragment<L, kSlots>& fragment, const Results& results,
                                 States& chunk) {
    if constexpr (kSweeps) {
      using First = typename Reducer::UncountedFirst;
      typename First::State first[Plan::kPerThread];
      init_states<First>(first);
      step_elements<R, L, First, true>(params, context, fragment, results, first);
      i32 counts[Plan::kPerThread] = {};
      const TileBounds<L> bounds(context);
#pragma unroll
      for (int i = 0; i < L::kRows; ++i)
#pragma unroll
        for (int j = 0; j < L::kCols; ++j)
          if (is_reduced<R>(bounds, i, j)) ++counts[Plan::index(i, j)];
#pragma unroll
      for (int k = 0; k < Plan::kPerThread; ++k)
        chunk[k] = centres.begin(k, first[k], static_cast<f32>(counts[k]));
      typename SummandReducer::State sums[Plan::kPerThread];
      sum_about<R, L>(params, context, fragment, results, chunk, sums);
#pragma unroll
      for (int k = 0; k < Plan::kPerThread; ++k)
        chunk[k] = Reducer::with_sum(chunk[k], sums[k].value);
    } else {
      init_states<Reducer>(chunk);
      accumulate<R, L>(params, context, fragment, results, chunk);
    }
  }
};

/// Finds the centre of all values first, then accumulates the rest about it: deviations from the
/// mean, or exponentials below the maximum. Nothing cancels and nothing is rescaled.
template <class R, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void two_sweeps(const Params& params, const TileContext& context,
                             const Fragment<L, kSlots>& fragment, const Results& results,
                             ReduceResult<R, L>& result, u8* region) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  using First = typename Reducer::UncountedFirst;
  typename First::State first[Plan::kPerThread];
  init_states<First>(first);
  step_elements<R, L, First, true>(params, context, fragment, results, first);
  merge_threads<First, Plan>(context, first, region);
  const f32 count = elements_of_result<R>(TileBounds<L>(context));
#pragma unroll
  for (int k = 0; k < Plan::kPerThread; ++k) result.state[k] = Reducer::begin(first[k], count);
  typename SummandReducer::State sums[Plan::kPerThread];
  sum_about<R, L>(params, context, fragment, results, result.state, sums);
  merge_sums<R, Plan>(context, sums, region);
#pragma unroll
  for (int k = 0; k < Plan::kPerThread; ++k)
    result.state[k] = Reducer::with_sum(result.state[k], sums[k].value);
}

template <class R, class L, class Params>
INGOT_DEVICE void finish_states(const Params& params, ReduceResult<R, L>& result) {
#pragma unroll
  for (int k = 0; k < SpanPlan<L, R::kSpan, R::kWidth>::kPerThread; ++k)
    R::Reducer::finish(result.state[k], result.v[k], R::count(params));
}

/// Reduces a held tile. Afterwards `results` has the states and the finished results.
template <class R, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void reduce_held(const Params& params, const TileContext& context,
                              const Fragment<L, kSlots>& fragment, Results& results, u8* region) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  ReduceResult<R, L>& result = results.template of<R>();
  if constexpr (Plan::kResults == sizes::Results::in_scratch) {
    through_scratch<R, L>(params, context, fragment, results, result, region);
  } else if constexpr (Plan::kResults == sizes::Results::states_in_scratch) {
    result.states = reinterpret_cast<typename R::Reducer::State*>(region);
    states_of_columns<R, L>(params, context, fragment, results, result.states);
  } else {
    if constexpr (R::Reducer::kTwoSweep) {
      two_sweeps<R, L>(params, context, fragment, results, result, region);
    } else {
      init_states<typename R::Reducer>(result.state);
      accumulate<R, L>(params, context, fragment, results, result.state);
      merge_threads<typename R::Reducer, Plan>(context, result.state, region);
    }
    finish_states<R, L>(params, result);
  }
}

} // namespace ingot
