// SPDX-License-Identifier: Apache-2.0
// A mainloop whose operand A is a tile that the kernel computes itself, step by step along K: a
// product with stages of its own, whose accumulators become the fragments of A. Reductions of the
// stages along K run: their states go from step to step, and where a centre moves, earlier sums
// are scaled (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao,
// "FlashAttention-2", 2023).
#pragma once

#include "tile/layout.cuh"
#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"
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
// Config gives kTileM, kTileN, kTileK (the step along K, which is the inner tile's columns),
// kDepth, kWarpM, kStagedLoads and kCompute. The operands B are copied one step ahead.

/// As Map<F, kSlot>. Tiles whose points all fulfil the conditions of Admits take Within instead.
template <class F, class Within, int kSlot> struct MaskedMap {};
/// Reduces the rows of slot kSlot along the steps, and leaves each element's summand about the
/// running centre there. The reducer has two sweeps and `rescale`; its functor is Held<kSlot>.
template <class R, int kSlot> struct RunningReduce {};
/// The results of a running reduction of the operand, for the stages behind the product.
template <class R> struct Carried {};

template <class L, class... Rs, class R, class... Rest>
struct ResultsOf<L, List<Rs...>, List<Carried<R>, Rest...>>
    : ResultsOf<L, List<Rs..., R>, List<Rest...>> {};
template <class Tile, class R> INGOT_DEVICE void run_stage(const Tile&, Carried<R>*, u8*) {}

/// The states of the running reductions of a list of stages. Centres are those of whole rows; sums
/// are those of the thread's elements.
template <class R, class L> struct RunningState {
  typename R::Reducer::State v[L::kRows];
};
template <class L, class... Rs> struct RunningStates : RunningState<Rs, L>... {
  INGOT_DEVICE RunningStates() {
    (init_states<typename Rs::Reducer>(static_cast<RunningState<Rs, L>&>(*this).v), ...);
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

/// Adds a step's tile to the states of R, whose elements are in slot kSlot. Calls scale(row
/// register, factor) for the sums about the centre before.
template <class R, int kSlot, class L, int kSlots, class Scale>
INGOT_DEVICE void run_along(const TileContext& context, Fragment<L, kSlots>& fragment,
                            RunningState<R, L>& running, const Scale& scale) {
  using Plan = SpanPlan<L, Span::row, 0>;
  using Reducer = typename R::Reducer;
  using First = typename Reducer::First;
  static_assert(R::kSpan == Span::row && Plan::kWarps == 1, "a warp has whole rows of a step");
  f32(&elements)[L::kRows][L::kCols] = fragment.v[kSlot];
  const TileBounds<L> bounds(context);
  if (bounds.cols < L::kTileCols) { // no element there counts, and its summand is 0
    for_all<L>([&](int i, int j) {
      if (!bounds.col(j)) elements[i][j] = Reducer::init().max;
    });
  }
  typename First::State first[L::kRows];
  init_states<First>(first);
  for_all<L>([&](int i, int j) { First::step(first[i], elements[i][j], 0); });
  merge_lanes<First, Plan::kLanes>(context.thread, first);
#pragma unroll
  for (int k = 0; k < L::kRows; ++k) {
    typename Reducer::State& state = running.v[k];
    const auto centre = Reducer::begin(First::merge(Reducer::first(state), first[k]));
    const f32 factor = Reducer::rescale(state, centre);
    scale(k, factor);
    state = Reducer::with_sum(centre, Reducer::sum(state) * factor);
  }
  f32 sums[L::kRows] = {};
  for_all<L>([&](int i, int j) {
    elements[i][j] = Reducer::summand(running.v[i], elements[i][j]);
    sums[i] += elements[i][j];
  });
#pragma unroll
  for (int k = 0; k < L::kRows; ++k)
    running.v[k] = Reducer::with_sum(running.v[k], Reducer::sum(running.v[k]) + sums[k]);
}

/// A source for the nested skeleton.
template <class Config, class T, class B> struct NestedMainloop {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK, kDepth = Config::kDepth;
  static constexpr int kWarpM = Config::kWarpM;
  static constexpr Compute kCompute = Config::kCompute;
  static constexpr bool kFillsRegisters = true;

  using Layout = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileN>;
  using Inner = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileK>;
  using Element = typename ComputeType<kCompute>::Type;
  using StageOfA = MmaStage<kCompute, T::A::kMajor, kTileM, kDepth>;
  using StageOfB = MmaStage<kCompute, T::B::kMajor, kTileK, kDepth>;
  using StageB = MmaStage<kCompute, B::kMajor, kTileN, kTileK>;
  static_assert(sizeof(Element) == 2, "accumulators in pairs of columns are fragments of A");
  static constexpr int kSlotBytes = StageOfB::kBytes + StageB::kBytes;
  static constexpr int kSharedBytes =
      sizes::nested_bytes(kTileM, kTileN, kTileK, kDepth, StageOfA::kSize);
  static_assert(StageOfA::kBytes + 2 * kSlotBytes == kSharedBytes, "the tile's rows, two slots");

  /// Sets `acc` to the product. `results` receives the results of the running reductions.
  template <class Params, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64 k,
                               f32 (&acc)[Layout::kRows][Layout::kCols], Results& results) {
    u8* const rows = ptx::shared_memory();
    u8* const ring = rows + StageOfA::kBytes;
    const KRange depth = {0, T::depth(params)};
    FeedOfA feed_of_a;
    feed_of_a.begin(params, {context.batch, context.row0, context.row_end, depth}, context.thread);
    feed_of_a.feed_tile(params, 0, rows);
    // Not known to be whole even if it is: without the branches of ragged tiles, the compiler loads
    // so early that registers spill.
    const auto end_of = [&](i64 first) { return min_of(first + kTileK, k); };
    // Each step computes its addresses again: the sums leave no registers for them.
    const auto feed = [&](i32 step, int slot) {
      const i64 first = static_cast<i64>(step) * kTileK;
      if (first < k) {
        const i64 end = end_of(first);
        const i32 thread = ptx::opaque(context.thread);
        FeedOfB feed_of_b;
        feed_of_b.begin(params, {context.batch, first, end, depth}, thread);
        feed_of_b.feed_tile(params, 0, ring + slot);
        FeedB feed_b;
        feed_b.begin(params, {context.batch, context.col0, context.col_end, {first, end}}, thread);
        feed_b.feed_tile(params, first, ring + slot + StageOfB::kBytes);
      }
      ptx::cp_async_commit();
    };
    // The first step from `step` on that has elements. Others are left out.
    const i32 steps = static_cast<i32>(ceil_div(k, kTileK));
    const auto used = [&](i32 step) {
      while (step < steps) {
        const i64 first = static_cast<i64>(step) * kTileK;
        if (has_elements(params, Corners(context, first, end_of(first)), typename T::Admits()))
          break;
        ++step;
      }
      return step;
    };

    const Reader reader(rows, ring, context.thread);
    clear(acc);
    Running running;
    i32 step = used(0);
    int slot = 0;
    feed(step, slot);
#pragma unroll 1
    while (step < steps) {
      ptx::cp_async_wait<0>();
      context.barrier(); // the slot is complete, and nobody reads the other one
      const i32 next = used(step + 1);
      feed(next, kSlotBytes - slot);
      Fragment<Inner, T::kSlots> tile;
      reader.multiply_inner(slot, tile.v[0]);
      TileContext own = context;
      own.col0 = static_cast<i64>(step) * kTileK;
      own.col_end = end_of(own.col0);
      u32 a[Inner::kRows][Inner::kCols / 2];
      compute_tile(params, own, tile, running, acc, a);
      reader.multiply(slot, a, acc);
      step = next;
      slot = kSlotBytes - slot;
    }
    ptx::cp_async_wait<0>();
    context.barrier();
    finish(context, running, results, Reductions());
  }

private:
  /// An operand whose chunks are addressed one by one, from the place of the step's first one.
  template <class X> struct ByChunk : X {
    static constexpr bool kAffine = false;
  };
  template <class X, class Stage>
  using Feed = MmaFeed<X::kPath, ByChunk<X>, Stage, Layout::kThreads, 1, 0, Config::kStagedLoads>;
  using FeedOfA = Feed<typename T::A, StageOfA>;
  using FeedOfB = Feed<typename T::B, StageOfB>;
  using FeedB = Feed<B, StageB>;
  using Running = typename RunningOf<Inner, List<>, typename T::Stages>::Type;
  using Reductions = typename RunningOf<Inner, List<>, typename T::Stages>::Reductions;
  using NoResults = ReduceResults<Inner>;

  /// The products of a warp.
  struct Reader {
    using FragmentsOfA = MmaFragments<Operand::a, StageOfA, kWarpM>;
    using FragmentsOfB = MmaFragments<Operand::b, StageOfB, kTileK>;
    using FragmentsB = MmaFragments<Operand::b, StageB, kTileN>;
    static constexpr int kK = 32 / StageOfA::kSize; ///< of a product
    u32 first_of_a, first_of_b, first_b;

    INGOT_DEVICE Reader(u8* rows, u8* ring, i32 thread)
        : first_of_a(ptx::shared_address(rows) +
                     FragmentsOfA::first_offset(Layout::col_warp(thread) * kWarpM, thread)),
          first_of_b(ptx::shared_address(ring) + FragmentsOfB::first_offset(0, thread)),
          first_b(ptx::shared_address(ring) + StageOfB::kBytes +
                  FragmentsB::first_offset(0, thread)) {}

    INGOT_DEVICE void multiply_inner(int slot, f32 (&acc)[Inner::kRows][Inner::kCols]) const {
      clear(acc);
      // Unrolled in part: else the compiler loads so early that registers spill.
#pragma unroll 4
      for (int step = 0; step < kDepth / kK; ++step) {
        FragmentsOfA a;
        a.load(first_of_a, step);
        multiply_step<FragmentsOfB>(a, first_of_b + slot, step, acc);
      }
    }

    /// Loads a few columns of B at a time: the sums leave few registers.
    template <class Fragments, int kRows, int kCols>
    INGOT_DEVICE void multiply_step(const FragmentsOfA& a, u32 first, int step,
                                    f32 (&acc)[kRows][kCols]) const {
      Fragments b;
#pragma unroll
      for (int j = 0; j < kCols / 4; ++j) {
        b.load_block(first, step, j);
#pragma unroll
        for (int i = 0; i < kRows / 2; ++i) {
          multiply_block<kCompute>(a.block[i], b.block[j][0], b.block[j][1], i, 2 * j, acc);
          multiply_block<kCompute>(a.block[i], b.block[j][2], b.block[j][3], i, 2 * j + 1, acc);
        }
      }
    }

    /// `packed`: the tile's elements, two adjacent columns in each.
    INGOT_DEVICE void multiply(int slot, const u32 (&packed)[Inner::kRows][Inner::kCols / 2],
                               f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
      for (int step = 0; step < kTileK / kK; ++step) {
        FragmentsOfA a; // of the layout of accumulators (tile/mma_fragments.cuh, PTX ISA)
#pragma unroll
        for (int i = 0; i < Inner::kRows / 2; ++i) {
          a.block[i][0] = packed[2 * i][2 * step];
          a.block[i][1] = packed[2 * i + 1][2 * step];
          a.block[i][2] = packed[2 * i][2 * step + 1];
          a.block[i][3] = packed[2 * i + 1][2 * step + 1];
        }
        multiply_step<FragmentsB>(a, first_b + slot, step, acc);
      }
    }
  };

  /// Runs the stages of a step's tile, and packs its elements. Sums of earlier steps are scaled.
  template <class Params>
  static INGOT_DEVICE void compute_tile(const Params& params, const TileContext& context,
                                        Fragment<Inner, T::kSlots>& tile, Running& running,
                                        f32 (&acc)[Layout::kRows][Layout::kCols],
                                        u32 (&packed)[Inner::kRows][Inner::kCols / 2]) {
    const NoResults none(context.thread);
    const auto scale = [&](int row, f32 factor) {
      if (factor == 1.0f) return;
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) acc[row][j] *= factor;
    };
    run_stages(params, context, tile, none, running, scale, typename T::Stages());
    f32 even = 0.0f;
    for_each_element<typename T::Value>(params, context, tile, none,
                                        [&](int i, int j, i64, i64, f32 value) {
                                          if (j % 2 == 0)
                                            even = value;
                                          else
                                            packed[i][j / 2] = ptx::pack_x2<Element>(even, value);
                                        });
    const TileBounds<Inner> bounds(context);
    if (bounds.cols == kTileK) return;
    // Elements past K are 0. The first of a pair has the lower bits.
#pragma unroll
    for (int pair = 0; pair < Inner::kCols / 2; ++pair) {
      const i32 columns = bounds.columns(2 * pair);
#pragma unroll
      for (int i = 0; i < Inner::kRows; ++i)
        packed[i][pair] &= columns <= 0 ? 0u : columns == 1 ? 0xffffu : 0xffffffffu;
    }
  }

  template <class Params, class Scale, class... Ss>
  static INGOT_DEVICE void run_stages(const Params& params, const TileContext& context,
                                      Fragment<Inner, T::kSlots>& tile, const NoResults& none,
                                      Running& running, const Scale& scale, List<Ss...>) {
    (run(params, context, tile, none, running, scale, static_cast<Ss*>(nullptr)), ...);
  }
  template <class Params, class Scale, class F, int kSlot>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context,
                               Fragment<Inner, T::kSlots>& tile, const NoResults& none, Running&,
                               const Scale&, Map<F, kSlot>*) {
    run_map<F, kSlot>(params, context, tile, none);
  }
  template <class Params, class Scale, class F, class Within, int kSlot>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context,
                               Fragment<Inner, T::kSlots>& tile, const NoResults& none, Running&,
                               const Scale&, MaskedMap<F, Within, kSlot>*) {
    const Corners corners(context, context.col0, context.col_end);
    if (is_within(params, corners, typename T::Admits()))
      run_map<Within, kSlot>(params, context, tile, none);
    else
      run_map<F, kSlot>(params, context, tile, none);
  }
  template <class Params, class Scale, class R, int kSlot>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context,
                               Fragment<Inner, T::kSlots>& tile, const NoResults& none,
                               Running& running, const Scale& scale, RunningReduce<R, kSlot>*) {
    run_along<R, kSlot, Inner>(context, tile, static_cast<RunningState<R, Inner>&>(running), scale);
  }

  /// The corners of a step's tile. A condition on sums of positions that holds at no corner holds
  /// nowhere in the tile, and one that holds at all of them everywhere.
  struct Corners {
    i64 batch, row0, row1, col0, col1;

    INGOT_DEVICE Corners(const TileContext& context, i64 col_begin, i64 col_end)
        : batch(context.batch), row0(context.row0), row1(context.row_end - 1), col0(col_begin),
          col1(col_end - 1) {}
    template <class C, class Params> INGOT_DEVICE bool any(const Params& params) const {
      return C::holds(params, batch, row0, col0) | C::holds(params, batch, row0, col1) |
             C::holds(params, batch, row1, col0) | C::holds(params, batch, row1, col1);
    }
    template <class C, class Params> INGOT_DEVICE bool all(const Params& params) const {
      return C::holds(params, batch, row0, col0) & C::holds(params, batch, row0, col1) &
             C::holds(params, batch, row1, col0) & C::holds(params, batch, row1, col1);
    }
  };
  /// False: no element of the tile is other than 0.
  template <class Params, class... Cs>
  static INGOT_DEVICE bool has_elements(const Params& params, const Corners& corners, List<Cs...>) {
    return (corners.template any<Cs>(params) & ... & true);
  }
  template <class Params, class... Cs>
  static INGOT_DEVICE bool is_within(const Params& params, const Corners& corners, List<Cs...>) {
    return (corners.template all<Cs>(params) & ... & true);
  }

  template <class Results, class... Rs>
  static INGOT_DEVICE void finish(const TileContext& context, Running& running, Results& results,
                                  List<Rs...>) {
    (finish_one<Rs>(context, static_cast<RunningState<Rs, Inner>&>(running).v, results), ...);
  }
  template <class R, class Results>
  static INGOT_DEVICE void finish_one(const TileContext& context,
                                      typename R::Reducer::State (&state)[Inner::kRows],
                                      Results& results) {
    using Reducer = typename R::Reducer;
    typename SummandReducer::State sums[Inner::kRows];
#pragma unroll
    for (int k = 0; k < Inner::kRows; ++k) sums[k] = {Reducer::sum(state[k])};
    merge_lanes<SummandReducer, SpanPlan<Inner, Span::row, 0>::kLanes>(context.thread, sums);
    ReduceResult<R, Layout>& result = results.template of<R>();
#pragma unroll
    for (int k = 0; k < Inner::kRows; ++k) {
      result.state[k] = Reducer::with_sum(state[k], sums[k].value);
      Reducer::finish(result.state[k], result.v[k], 0);
    }
  }
};

} // namespace ingot
