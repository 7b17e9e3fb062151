// SPDX-License-Identifier: Apache-2.0
// Reductions over a tile in any layout: in the thread, then over the threads that share a result
// (tile/merge.cuh). The layout and the sizes alone determine every tree, so two runs give the same
// bits.
#pragma once

#include "tile/map.cuh"
#include "tile/merge.cuh"

namespace ingot {

// A reduction R, written by the emitter:
//   Reducer, Functor       the reduced value is Functor::eval(point)
//   kSpan, kWidth          Span and, for segments, their width in columns
//   count(params)          elements per result in the whole domain
//   index(params, batch, row, col)  position of an element along the reduced extent
// Its states and results are kept per thread, one for each result in which the thread takes part.

/// All members of a reduction but `count` and `index`.
template <class ReducerType, class F, Span kWhere, int kColumns = 0> struct Reduction {
  using Reducer = ReducerType;
  using Functor = F;
  static constexpr Span kSpan = kWhere;
  static constexpr int kWidth = kColumns;
};

template <class R, class L> struct ReduceTraits {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  static constexpr sizes::Reducer kSizes = {sizeof(typename Reducer::State),
                                            sizeof(typename Reducer::Value), Reducer::kResults,
                                            Reducer::kTwoSweep};
  static constexpr int kResultBytes = sizes::result_bytes(Plan::kPerTile, kSizes);
  static constexpr int kPitch = sizes::scratch_pitch(L::kSizes);
  /// The scratch of one tile's reduction: the states of all warps, or the results and the tile.
  static constexpr int kScratchBytes = sizes::reduce_bytes(L::kSizes, R::kSpan, R::kWidth, kSizes);
};

/// The results of a reduction, for later stages.
template <class R, class L> struct ReduceResult {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Result = typename R::Reducer::Result;
  Result v[Plan::kPerThread][R::Reducer::kResults];
  typename R::Reducer::State state[Plan::kPerThread];
  const Result* scratch = nullptr; ///< kThroughScratch: results of the tile, by slot
};

/// The results of all reductions of a kernel, by type.
template <class L, class... Rs> struct ReduceResults : ReduceResult<Rs, L>... {
  i32 thread;
  explicit INGOT_DEVICE ReduceResults(i32 of_thread) : thread(of_thread) {}
  template <class R> INGOT_DEVICE ReduceResult<R, L>& of() { return *this; }
  template <class R> INGOT_DEVICE typename R::Reducer::Result get(int index, int i, int j) const {
    using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
    const ReduceResult<R, L>& result = *this;
    if constexpr (Plan::kThroughScratch) {
      const int segment = smaller(L::col(thread, j) / R::kWidth, Plan::kSegments - 1);
      const int slot = L::row(thread, i) * Plan::kSegments + segment;
      return result.scratch[slot * R::Reducer::kResults + index];
    } else {
      return result.v[Plan::index(i, j)][index];
    }
  }
};

template <class Reducer, int kCount>
INGOT_DEVICE void init_states(typename Reducer::State (&state)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) state[k] = Reducer::init();
}

// The accumulation of a sweep: empty(state) starts a partial result beside `state`; step; merge.

/// Uses the step and merge of the reducer itself.
template <class Reducer> struct OneSweep {
  using State = typename Reducer::State;
  static INGOT_DEVICE State empty(const State&) { return Reducer::init(); }
  template <class T> static INGOT_DEVICE void step(State& state, T value, i64 index) {
    Reducer::step(state, value, index);
  }
  static INGOT_DEVICE State merge(const State& a, const State& b) { return Reducer::merge(a, b); }
};

/// The second sweep of a reducer, about the centre that the first sweep found.
template <class Reducer> struct AboutCentre {
  using State = typename Reducer::State;
  static INGOT_DEVICE State empty(const State& state) { return Reducer::empty_about(state); }
  template <class T> static INGOT_DEVICE void step(State& state, T value, i64) {
    Reducer::step_about(state, value);
  }
  static INGOT_DEVICE State merge(const State& a, const State& b) {
    return Reducer::merge_about(a, b);
  }
};

/// Merges states that threads accumulated separately. States of two sweeps first move to the common
/// centre, once each. Every merge then rounds one sum, while merges of states with different
/// centres round three times.
template <class R, class L, int kCount>
INGOT_DEVICE void merge_apart(const TileContext& context,
                              typename R::Reducer::State (&state)[kCount], u8* region) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  if constexpr (!Reducer::kTwoSweep) {
    merge_threads<Reducer, Plan>(context, state, region);
  } else {
    using First = typename Reducer::First;
    typename First::State first[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) first[k] = Reducer::first(state[k]);
    merge_threads<First, Plan>(context, first, region);
#pragma unroll
    for (int k = 0; k < kCount; ++k) state[k] = Reducer::about(state[k], Reducer::begin(first[k]));
    merge_threads<AboutCentre<Reducer>, Plan>(context, state,
                                              region + ReduceTraits<R, L>::kScratchBytes / 2);
  }
}

/// Adds the thread's elements to its states. With kByPack, each run of adjacent columns is summed
/// first. Chains of sums, and their errors, are shorter by that factor.
template <class R, class L, class Sweep, bool kByPack, int kSlots, class Params, class Results,
          class States>
INGOT_DEVICE void step_elements(const Params& params, const TileContext& context,
                                const Fragment<L, kSlots>& fragment, const Results& results,
                                States& states) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  constexpr int kPack = L::kVec > 1 ? L::kVec : L::kCols % 4 == 0 ? 4 : 1;
  constexpr bool kOneResult = L::kVec > 1 || R::kSpan == Span::row || R::kSpan == Span::matrix;
  // A segment lies inside the domain or outside, and the one outside has results of its own.
  constexpr bool kOverRows = R::kSpan == Span::column || R::kSpan == Span::matrix;
  constexpr bool kOverColumns = R::kSpan == Span::row || R::kSpan == Span::matrix;
  const TileBounds<L> bounds(context);
  // With kVec > 1, the elements of a pack are visited one after the other; else rows alternate.
  typename Sweep::State packs[L::kVec > 1 ? 1 : L::kRows];
  for_each_element<typename R::Functor>(
      params, context, fragment, results,
      [&](int i, int j, i64 row, i64 col, typename R::Reducer::Value value) {
        typename Sweep::State& state = states[Plan::index(i, j)];
        const bool inside = (!kOverRows || bounds.row(i)) && (!kOverColumns || bounds.col(j));
        if constexpr (kByPack && kPack > 1 && kOneResult && R::kSpan != Span::column) {
          typename Sweep::State& pack = packs[L::kVec > 1 ? 0 : i];
          if (j % kPack == 0) pack = Sweep::empty(state);
          if (inside) Sweep::step(pack, value, R::index(params, context.batch, row, col));
          if (j % kPack == kPack - 1) state = Sweep::merge(state, pack);
        } else {
          if (inside) Sweep::step(state, value, R::index(params, context.batch, row, col));
        }
      });
}

/// Accumulates the thread's elements with the reducer itself.
template <class R, class L, int kSlots, class Params, class Results, class States>
INGOT_DEVICE void accumulate(const Params& params, const TileContext& context,
                             const Fragment<L, kSlots>& fragment, const Results& results,
                             States& state) {
  step_elements<R, L, OneSweep<typename R::Reducer>, !R::Reducer::kTwoSweep>(
      params, context, fragment, results, state);
}

/// The centres about which the chunks of a row are reduced. Each chunk has its own, or, if the
/// reducer has kMovesCentre, that of all chunks so far.
template <class Reducer, int kCount, bool kSweeps> struct Centres {};
template <class Reducer, int kCount> struct Centres<Reducer, kCount, true> {
  using First = typename Reducer::First;
  typename First::State reached[kCount];

  INGOT_DEVICE Centres() { init_states<First>(reached); }
  INGOT_DEVICE typename Reducer::State begin(int k, const typename First::State& chunk) {
    reached[k] = Reducer::kMovesCentre ? First::merge(reached[k], chunk) : chunk;
    return Reducer::begin(reached[k]);
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
      using First = typename Reducer::First;
      typename First::State first[Plan::kPerThread];
      init_states<First>(first);
      step_elements<R, L, OneSweep<First>, true>(params, context, fragment, results, first);
#pragma unroll
      for (int k = 0; k < Plan::kPerThread; ++k) chunk[k] = centres.begin(k, first[k]);
      step_elements<R, L, AboutCentre<Reducer>, true>(params, context, fragment, results, chunk);
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
  using First = typename Reducer::First;
  typename First::State first[Plan::kPerThread];
  init_states<First>(first);
  step_elements<R, L, OneSweep<First>, true>(params, context, fragment, results, first);
  merge_threads<First, Plan>(context, first, region);
#pragma unroll
  for (int k = 0; k < Plan::kPerThread; ++k) result.state[k] = Reducer::begin(first[k]);
  step_elements<R, L, AboutCentre<Reducer>, true>(params, context, fragment, results, result.state);
  merge_threads<AboutCentre<Reducer>, Plan>(context, result.state,
                                            region + ReduceTraits<R, L>::kScratchBytes / 2);
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
  auto* out = reinterpret_cast<typename Reducer::Result*>(region);
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
    Reducer::finish(state, out + slot * Reducer::kResults, R::kWidth);
  }
  context.barrier();
  result.scratch = out;
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
  if constexpr (Plan::kThroughScratch) {
    through_scratch<R, L>(params, context, fragment, results, result, region);
    return;
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
