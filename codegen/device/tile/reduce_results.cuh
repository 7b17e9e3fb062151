// SPDX-License-Identifier: Apache-2.0
// The results of reductions over a tile, and the share of a thread in them.
#pragma once

#include "math/reducers.cuh"
#include "tile/map.cuh"
#include "tile/results.cuh"
#include "tile/spans.cuh"

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
  /// Whether the indices of a row's elements rise with the columns, and the reducer has
  /// step_rising.
  static constexpr bool kRises = false;
};

template <class R, class L> struct ReduceTraits {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  using Reducer = typename R::Reducer;
  static constexpr sizes::Reducer kSizes = {sizeof(typename Reducer::State),
                                            sizeof(typename Reducer::Value), Reducer::kResults};
  static constexpr int kResultBytes = sizes::result_bytes(Plan::kPerTile, kSizes);
  static constexpr int kPitch = sizes::scratch_pitch(L::kSizes);
  /// The scratch of one tile's reduction.
  static constexpr int kScratchBytes = sizes::reduce_bytes(L::kSizes, R::kSpan, R::kWidth, kSizes);
};

/// The results of a reduction, for later stages: in registers, or in scratch (below).
template <class R, class L, sizes::Results kWhere> struct ResultPlace {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  typename R::Reducer::Result v[Plan::kPerThread][R::Reducer::kResults];
  typename R::Reducer::State state[Plan::kPerThread];

  INGOT_DEVICE typename R::Reducer::Result get(int, int index, int i, int j) const {
    return v[Plan::index(i, j)][index];
  }
};
template <class R, class L> struct ResultPlace<R, L, sizes::Results::in_scratch> {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  typename R::Reducer::Result* results; ///< of the tile, by slot

  INGOT_DEVICE typename R::Reducer::Result get(int thread, int index, int i, int j) const {
    return results[Plan::slot_of(thread, i, j) * R::Reducer::kResults + index];
  }
};
template <class R, class L> struct ResultPlace<R, L, sizes::Results::states_in_scratch> {
  typename R::Reducer::State* states; ///< of the tile, by slot: each for the thread that merged it
};

template <class R, class L>
struct ReduceResult : ResultPlace<R, L, SpanPlan<L, R::kSpan, R::kWidth>::kResults> {};

template <class Reducer, int kCount>
INGOT_DEVICE void init_states(typename Reducer::State (&state)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) state[k] = Reducer::init();
}

/// Whether an element counts for its result. A segment lies inside the domain or outside, and the
/// one outside has results of its own.
template <class R, class L>
INGOT_DEVICE bool is_reduced(const TileBounds<L>& bounds, int i, int j) {
  constexpr bool kOverRows = R::kSpan == Span::column || R::kSpan == Span::matrix;
  constexpr bool kOverColumns = R::kSpan == Span::row || R::kSpan == Span::matrix;
  return (!kOverRows || bounds.row(i)) && (!kOverColumns || bounds.col(j));
}

/// The number of elements of the tile that count for one result.
template <class R, class L> INGOT_DEVICE f32 elements_of_result(const TileBounds<L>& bounds) {
  const i32 rows = bounds.rows > 0 ? bounds.rows : 0, cols = bounds.cols > 0 ? bounds.cols : 0;
  return static_cast<f32>(R::kSpan == Span::row      ? cols
                          : R::kSpan == Span::column ? rows
                          : R::kSpan == Span::matrix ? rows * cols
                                                     : R::kWidth);
}

/// Adds values themselves to a result.
struct TheValue {
  template <class T> INGOT_DEVICE T operator()(int, T value) const { return value; }
};

/// Adds the thread's elements to states of the reducer Sweep, by value_of(k, value) for result k.
/// With kByPack, each run of adjacent columns is summed first. Chains of sums, and their errors,
/// are shorter by that factor.
template <class R, class L, class Sweep, bool kByPack, int kSlots, class Params, class Results,
          class States, class ValueOf = TheValue>
INGOT_DEVICE void step_elements(const Params& params, const TileContext& context,
                                const Fragment<L, kSlots>& fragment, const Results& results,
                                States& states, ValueOf value_of = {}) {
  using Plan = SpanPlan<L, R::kSpan, R::kWidth>;
  constexpr int kPack = L::kVec > 1 ? L::kVec : L::kCols % 4 == 0 ? 4 : 1;
  constexpr bool kOneResult = L::kVec > 1 || R::kSpan == Span::row || R::kSpan == Span::matrix;
  const TileBounds<L> bounds(context);
  // With kVec > 1, the elements of a pack are visited one after the other; else rows alternate.
  typename Sweep::State packs[L::kVec > 1 ? 1 : L::kRows];
  for_each_element<typename R::Functor>(
      params, context, fragment, results,
      [&](int i, int j, i64 row, i64 col, typename R::Reducer::Value value) {
        const int k = Plan::index(i, j);
        const auto step = [&](typename Sweep::State& state) {
          if (!is_reduced<R>(bounds, i, j)) return;
          const i64 index = R::index(params, context.batch, row, col);
          if constexpr (R::kRises)
            Sweep::step_rising(state, value_of(k, value), index);
          else
            Sweep::step(state, value_of(k, value), index);
        };
        if constexpr (kByPack && kPack > 1 && kOneResult && R::kSpan != Span::column) {
          typename Sweep::State& pack = packs[L::kVec > 1 ? 0 : i];
          if (j % kPack == 0) pack = Sweep::init();
          step(pack);
          if (j % kPack == kPack - 1) states[k] = Sweep::merge(states[k], pack);
        } else {
          step(states[k]);
        }
      });
}

} // namespace ingot
