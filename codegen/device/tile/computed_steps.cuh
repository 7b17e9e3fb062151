// SPDX-License-Identifier: Apache-2.0
// An operand A that the kernel computes step by step along K, from a product with stages of its
// own. Reductions of the stages along K run: their states go from step to step, and where a centre
// moves, earlier sums are scaled (Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018; Dao, "FlashAttention-2", 2023).
#pragma once

#include "math/running.cuh"
#include "ptx/prefetch.cuh"
#include "tile/layout.cuh"
#include "tile/matrix.cuh"
#include "tile/packed_fragments.cuh"
#include "tile/reduce_stages.cuh"

namespace ingot {

// The tile T of operand A, written by the emitter:
//   A, B           matrix operands (tile/matrix.cuh) of the inner product
//   depth(params)  its K, at most kDepth of the configuration
//   kSlots         values of the inner tile
//   Stages         List of Map, MaskedMap and RunningReduce
//   Value          the functor of the elements of A
//   Admits         List of conditions C on positions: C::holds(params, batch, row, col), whose
//                  sides are sums. Where one does not hold, the element is 0

/// As Map<F, kSlot>. Tiles whose points all fulfil the conditions of Admits take Within instead.
template <class F, class Within, int kSlot> struct MaskedMap {};
/// Reduces the rows of slot kSlot along the steps, whose elements are R::Scale::kValue times the
/// slot's. Leaves each element's summand about the running centre there (math/running.cuh).
template <class R, int kSlot> struct RunningReduce {};
/// The results of a running reduction of the operand, for the stages behind the product.
template <class R> struct Carried {};

template <class L, class... Rs, class R, class... Rest>
struct ResultsOf<L, List<Rs...>, List<Carried<R>, Rest...>>
    : ResultsOf<L, List<Rs..., R>, List<Rest...>> {};
template <class Tile, class R> INGOT_DEVICE void run_stage(const Tile&, Carried<R>*, u8*) {}

/// The sums of a running reduction.
template <class R> using RunningSums = Running<typename R::Reducer, typename R::Scale>;

/// The states of the running reductions of a list of stages. Centres are those of whole rows; sums
/// are those of the thread's elements.
template <class R, class L> struct RunningState {
  typename RunningSums<R>::State v[L::kRows];
};
template <class L, class... Rs> struct RunningStates : RunningState<Rs, L>... {
  INGOT_DEVICE RunningStates() {
    (init_states<RunningSums<Rs>>(static_cast<RunningState<Rs, L>&>(*this).v), ...);
  }
};
template <class L, class Rs, class Stages> struct RunningOf;
template <class L, class... Rs> struct RunningOf<L, List<Rs...>, List<>> {
  using Type = RunningStates<L, Rs...>;
  using Reductions = List<Rs...>;
};
template <class L, class... Rs, class S, class... Rest>
struct RunningOf<L, List<Rs...>, List<S, Rest...>> : RunningOf<L, List<Rs...>, List<Rest...>> {};
template <class L, class... Rs, class R, int kSlot, class... Rest>
struct RunningOf<L, List<Rs...>, List<RunningReduce<R, kSlot>, Rest...>>
    : RunningOf<L, List<Rs..., R>, List<Rest...>> {};

/// Calls use(i, j) for each element of a thread, row by row in each column.
template <class L, class Use> INGOT_DEVICE void for_all(Use use) {
#pragma unroll
  for (int j = 0; j < L::kCols; ++j) {
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) use(i, j);
  }
}

/// Moves the states of R to the centres `moved`, and adds the summands of a step's elements.
template <bool kIsFar, class R, class L>
INGOT_DEVICE void add_summands(const typename RunningSums<R>::State (&moved)[L::kRows],
                               f32 (&elements)[L::kRows][L::kCols], RunningState<R, L>& running,
                               f32 (&factors)[L::kRows]) {
  using Sums = RunningSums<R>;
  f32 sums[L::kRows] = {};
  for_all<L>([&](int i, int j) {
    elements[i][j] = Sums::template summand<kIsFar>(moved[i], elements[i][j]);
    sums[i] += elements[i][j];
  });
#pragma unroll
  for (int k = 0; k < L::kRows; ++k) {
    typename Sums::State& state = running.v[k];
    factors[k] = Sums::template moving<kIsFar>(state, moved[k]);
    const f32 sum = state.sum * factors[k] + sums[k];
    state = moved[k];
    state.sum = sum;
  }
}

/// Adds a step's tile to the states of R, whose elements are in slot kSlot. `factors` receives
/// those by which sums about the centre before move to the new one, for each row of the thread.
template <class R, int kSlot, class L, int kSlots>
INGOT_DEVICE void run_along(const TileContext& context, Fragment<L, kSlots>& fragment,
                            RunningState<R, L>& running, f32 (&factors)[L::kRows]) {
  using Plan = SpanPlan<L, Span::row, 0>;
  using Sums = RunningSums<R>;
  using First = typename Sums::First;
  static_assert(R::kSpan == Span::row && Plan::kWarps == 1, "a warp has whole rows of a step");
  f32(&elements)[L::kRows][L::kCols] = fragment.v[kSlot];
  const TileBounds<L> bounds(context);
  if (bounds.cols < L::kTileCols) {
    for_all<L>([&](int i, int j) {
      if (!bounds.col(j)) elements[i][j] = Sums::ignored();
    });
  }
  typename First::State first[L::kRows];
  init_states<First>(first);
  for_all<L>([&](int i, int j) { First::step(first[i], elements[i][j], 0); });
  merge_lanes<First, Plan::kLanes>(context.thread, first);
  typename Sums::State moved[L::kRows];
  bool is_far = false;
#pragma unroll
  for (int k = 0; k < L::kRows; ++k) {
    moved[k] = Sums::begin(First::merge(Sums::first(running.v[k]), first[k]));
    is_far |= Sums::is_far(moved[k]);
  }
  if (is_far)
    add_summands<true, R, L>(moved, elements, running, factors);
  else
    add_summands<false, R, L>(moved, elements, running, factors);
}

/// The corners of a step's tile. A condition on sums of positions that holds at no corner holds
/// nowhere in the tile, and one that holds at all of them everywhere.
struct TileCorners {
  i64 batch, row0, row1, col0, col1;

  explicit INGOT_DEVICE TileCorners(const TileContext& tile)
      : batch(tile.batch), row0(tile.row0), row1(tile.row_end - 1), col0(tile.col0),
        col1(tile.col_end - 1) {}
  template <class C, class Params> INGOT_DEVICE bool any(const Params& params) const {
    return C::holds(params, batch, row0, col0) | C::holds(params, batch, row0, col1) |
           C::holds(params, batch, row1, col0) | C::holds(params, batch, row1, col1);
  }
  template <class C, class Params> INGOT_DEVICE bool all(const Params& params) const {
    return C::holds(params, batch, row0, col0) & C::holds(params, batch, row0, col1) &
           C::holds(params, batch, row1, col0) & C::holds(params, batch, row1, col1);
  }
  /// False: no element of the tile is other than 0.
  template <class Params, class... Cs>
  INGOT_DEVICE bool has_elements(const Params& params, List<Cs...>) const {
    return (any<Cs>(params) & ... & true);
  }
  template <class Params, class... Cs>
  INGOT_DEVICE bool is_within(const Params& params, List<Cs...>) const {
    return (all<Cs>(params) & ... & true);
  }
};

/// The steps of a tile of A, in the layout L, whose columns are those of a step.
template <class L> struct StepsAlongK {
  KRange k; ///< of the product, or of a part of it

  INGOT_DEVICE i32 count() const {
    return static_cast<i32>(ceil_div(k.end - k.begin, L::kTileCols));
  }
  /// The tile of a step. Not known to be whole even if it is: without the branches of ragged tiles,
  /// the compiler loads so early that registers spill.
  INGOT_DEVICE TileContext tile(const TileContext& context, i32 step) const {
    TileContext own = context;
    own.col0 = k.begin + static_cast<i64>(step) * L::kTileCols;
    own.col_end = min_of(own.col0 + L::kTileCols, k.end);
    return own;
  }
  /// The first step from `step` on that has elements. Others are left out.
  template <class T, class Params>
  INGOT_DEVICE i32 used(const Params& params, const TileContext& context, i32 step) const {
    while (step < count() &&
           !TileCorners(tile(context, step)).has_elements(params, typename T::Admits()))
      ++step;
    return step;
  }
};

/// Requests the lines of operand O that a warp reads in a tile of L, ahead of the reads.
template <class L, class O, class Params>
INGOT_DEVICE void prefetch(const Params& params, const TileContext& tile, O*) {
  using Element = typename O::Element;
  if constexpr (O::kAlong == Along::both) {
    constexpr int kOfLine = ptx::kCacheLine / static_cast<int>(sizeof(Element));
    constexpr int kLines = (L::kTileCols + kOfLine - 1) / kOfLine; ///< of a row
    constexpr int kWarpRows = L::kTileRows / L::kColWarps;
    // Opaque, so that the compiler keeps no place in registers across the products.
    const i32 thread = ptx::opaque(tile.thread);
    const i64 row0 = tile.row0 + L::col_warp(thread) * kWarpRows;
#pragma unroll
    for (int first = 0; first < kWarpRows * kLines; first += 32) {
      const int number = first + static_cast<int>(index_of(thread) % 32);
      const i64 row = row0 + number / kLines, col = tile.col0 + number % kLines * kOfLine;
      if (number < kWarpRows * kLines && row < tile.row_end && col < tile.col_end)
        ptx::prefetch(O::at(params, tile.batch, row, col));
    }
  }
}
template <class L, class Params, class... Os>
INGOT_DEVICE void prefetch_all(const Params& params, const TileContext& tile, List<Os...>) {
  (prefetch<L>(params, tile, static_cast<Os*>(nullptr)), ...);
}

/// The stages of a step's tile, and the states that run from step to step.
template <class T, class L, class Element> struct ComputedSteps {
  using Tile = Fragment<L, T::kSlots>;
  using Value = typename T::Value;
  using Packed = PackedFragments<L>;
  typename RunningOf<L, List<>, typename T::Stages>::Type running;
  /// By these, sums of earlier steps move to the centre of the last one.
  f32 factors[L::kRows];

  /// Requests the memory that the stages read.
  template <class Params>
  static INGOT_DEVICE void prefetch_stages(const Params& params, const TileContext& tile) {
    prefetch_each(params, tile, typename T::Stages());
  }

  /// `tile`: the place of the step.
  template <class Params>
  INGOT_DEVICE void run_stages(const Params& params, const TileContext& tile, Tile& fragment) {
#pragma unroll
    for (int k = 0; k < L::kRows; ++k) factors[k] = 1.0f;
    run_all(params, tile, fragment, typename T::Stages());
  }

  /// Scales the sums of earlier steps.
  template <int kCols> INGOT_DEVICE void rescale(f32 (&acc)[L::kRows][kCols]) const {
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) {
      if (factors[i] == 1.0f) continue;
#pragma unroll
      for (int j = 0; j < kCols; ++j) acc[i][j] *= factors[i];
    }
  }

  /// Packs the elements behind the stages. Those past K are 0.
  template <class Params>
  static INGOT_DEVICE void pack(const Params& params, const TileContext& tile, Tile& fragment,
                                Packed& packed) {
    pack_fragments<Element, Value>(params, tile, fragment, NoResults(tile.thread), packed);
  }

  /// `results` receives the results of the running reductions.
  template <class Results> INGOT_DEVICE void finish(i32 thread, Results& results) {
    finish_all(thread, results, typename RunningOf<L, List<>, typename T::Stages>::Reductions());
  }

private:
  using NoResults = ReduceResults<L>;

  template <class Params, class... Ss>
  static INGOT_DEVICE void prefetch_each(const Params& params, const TileContext& tile,
                                         List<Ss...>) {
    (prefetch_of(params, tile, static_cast<Ss*>(nullptr)), ...);
  }
  template <class Params, class F, int kSlot>
  static INGOT_DEVICE void prefetch_of(const Params& params, const TileContext& tile,
                                       Map<F, kSlot>*) {
    prefetch_all<L>(params, tile, typename F::Operands());
  }
  template <class Params, class F, class Within, int kSlot>
  static INGOT_DEVICE void prefetch_of(const Params& params, const TileContext& tile,
                                       MaskedMap<F, Within, kSlot>*) {
    prefetch_all<L>(params, tile, typename F::Operands());
  }
  template <class Params, class R, int kSlot>
  static INGOT_DEVICE void prefetch_of(const Params&, const TileContext&,
                                       RunningReduce<R, kSlot>*) {}

  template <class Params, class... Ss>
  INGOT_DEVICE void run_all(const Params& params, const TileContext& tile, Tile& fragment,
                            List<Ss...>) {
    (run(params, tile, fragment, static_cast<Ss*>(nullptr)), ...);
  }
  template <class Params, class F, int kSlot>
  INGOT_DEVICE void run(const Params& params, const TileContext& tile, Tile& fragment,
                        Map<F, kSlot>*) {
    run_map<F, kSlot>(params, tile, fragment, NoResults(tile.thread));
  }
  template <class Params, class F, class Within, int kSlot>
  INGOT_DEVICE void run(const Params& params, const TileContext& tile, Tile& fragment,
                        MaskedMap<F, Within, kSlot>*) {
    const NoResults none(tile.thread);
    if (TileCorners(tile).is_within(params, typename T::Admits()))
      run_map<Within, kSlot>(params, tile, fragment, none);
    else
      run_map<F, kSlot>(params, tile, fragment, none);
  }
  template <class Params, class R, int kSlot>
  INGOT_DEVICE void run(const Params&, const TileContext& tile, Tile& fragment,
                        RunningReduce<R, kSlot>*) {
    run_along<R, kSlot, L>(tile, fragment, static_cast<RunningState<R, L>&>(running), factors);
  }

  template <class Results, class... Rs>
  INGOT_DEVICE void finish_all(i32 thread, Results& results, List<Rs...>) {
    (finish_one<Rs>(thread, static_cast<RunningState<Rs, L>&>(running).v, results), ...);
  }
  template <class R, class Results>
  static INGOT_DEVICE void finish_one(i32 thread, typename RunningSums<R>::State (&state)[L::kRows],
                                      Results& results) {
    typename SummandReducer::State sums[L::kRows];
#pragma unroll
    for (int k = 0; k < L::kRows; ++k) sums[k] = {state[k].sum};
    merge_lanes<SummandReducer, SpanPlan<L, Span::row, 0>::kLanes>(thread, sums);
    auto& result = results.template of<R>();
#pragma unroll
    for (int k = 0; k < L::kRows; ++k) {
      state[k].sum = sums[k].value;
      result.state[k] = RunningSums<R>::finished(state[k]);
      R::Reducer::finish(result.state[k], result.v[k], 0);
    }
  }
};

} // namespace ingot
