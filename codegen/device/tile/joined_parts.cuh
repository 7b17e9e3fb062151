// SPDX-License-Identifier: Apache-2.0
// K of a product with a computed operand is split (tile/split_k.cuh). Parts with a running
// reduction have sums about centres of their own; they are moved to the centre of all parts.
#pragma once

#include "tile/computed_steps.cuh"
#include "tile/split_k.cuh"

namespace ingot {

/// The running reductions whose results a list of stages has.
template <class Rs, class Stages> struct CarriedOf;
template <class Rs> struct CarriedOf<Rs, List<>> {
  using Type = Rs;
};
template <class Rs, class S, class... Rest>
struct CarriedOf<Rs, List<S, Rest...>> : CarriedOf<Rs, List<Rest...>> {};
template <class... Rs, class R, class... Rest>
struct CarriedOf<List<Rs...>, List<Carried<R>, Rest...>>
    : CarriedOf<List<Rs..., R>, List<Rest...>> {};

/// The sums of the parts of a tile's rows. Rows past the last one have none. A part has the sums,
/// then kStates f32 for each row of a thread.
template <class L, int kStates> struct PartSums {
  using Sums = TileSums<L>;
  static_assert(L::kCols % 4 == 0, "four sums are of one row");
  static constexpr int kFours = L::kCols / 4; ///< of a row
  static constexpr i64 kStride = Sums::kSize + i64{kStates} * L::kRows * L::kThreads;

  static INGOT_DEVICE f32* four(f32* part, i32 thread, int row, int number) {
    return part + ((row * kFours + number) * L::kThreads + thread) * 4;
  }
  static INGOT_DEVICE void store(f32* part, i32 thread, int row, f32 (&sums)[L::kCols]) {
#pragma unroll
    for (int number = 0; number < kFours; ++number)
      store_vector(four(part, thread, row, number),
                   Vector<f32, 4>{{sums[4 * number], sums[4 * number + 1], sums[4 * number + 2],
                                   sums[4 * number + 3]}});
  }
  static INGOT_DEVICE void add(f32* part, i32 thread, int row, f32 factor, f32 (&sums)[L::kCols]) {
#pragma unroll
    for (int number = 0; number < kFours; ++number) {
      const auto loaded = load_vector<4>(four(part, thread, row, number));
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[4 * number + e] += loaded.v[e] * factor;
    }
  }
  static INGOT_DEVICE f32* states(f32* part, i32 thread, int row) {
    return part + Sums::kSize + (row * L::kThreads + thread) * kStates;
  }
};

/// Parts with a running reduction R.
template <class L, class R> struct PartsOfRows : PartSums<L, 2> {
  using Base = PartSums<L, 2>;
  using Base::kStride;
  using Reducer = typename R::Reducer;
  using State = typename Reducer::State;
  static_assert(sizeof(State) == 8, "a state is a centre and a sum");

  static INGOT_DEVICE State load(f32* part, i32 thread, int row) {
    const Vector<f32, 2> pair = load_vector<2>(Base::states(part, thread, row));
    return {pair.v[0], pair.v[1]};
  }
  template <class Results>
  static INGOT_DEVICE void store(f32* part, i32 thread, int row, f32 (&sums)[L::kCols],
                                 Results& results) {
    const State& own = results.template of<R>().state[row];
    Base::store(part, thread, row, sums);
    store_vector(Base::states(part, thread, row), Vector<f32, 2>{{own.max, own.sum}});
  }
  /// Several loads are in flight at a time: one block reads the parts of a tile.
  template <class Results>
  static INGOT_DEVICE void add(f32* first, i32 parts, i32 thread, int row, f32 (&sums)[L::kCols],
                               Results& results) {
    auto& result = results.template of<R>();
    State total = Reducer::init();
#pragma unroll 8
    for (i32 part = 0; part < parts; ++part)
      total = Reducer::merge(total, load(first + part * kStride, thread, row));
#pragma unroll 4
    for (i32 part = 0; part < parts; ++part) {
      f32* const own = first + part * kStride;
      Base::add(own, thread, row, Reducer::moved(load(own, thread, row).max, total.max), sums);
    }
    result.state[row] = total;
    Reducer::finish(total, result.v[row], 0);
  }
};
/// Parts without a running reduction.
template <class L> struct PlainParts : PartSums<L, 0> {
  using Base = PartSums<L, 0>;
  template <class Results>
  static INGOT_DEVICE void store(f32* part, i32 thread, int row, f32 (&sums)[L::kCols], Results&) {
    Base::store(part, thread, row, sums);
  }
  template <class Results>
  static INGOT_DEVICE void add(f32* first, i32 parts, i32 thread, int row, f32 (&sums)[L::kCols],
                               Results&) {
#pragma unroll 4
    for (i32 part = 0; part < parts; ++part)
      Base::add(first + part * Base::kStride, thread, row, 1.0f, sums);
  }
};
template <class L, class Rs> struct PartsOf;
template <class L> struct PartsOf<L, List<>> : PlainParts<L> {};
template <class L, class R> struct PartsOf<L, List<R>> : PartsOfRows<L, R> {};

/// Adds the sums of a unit of a kernel K to those of its tile, in the order of the parts. Returns
/// false if this block does not continue with the tile. `results` receives the results of the
/// running reductions.
template <class K, int kRows, int kCols, class Results>
INGOT_DEVICE bool join_unit(const typename K::Params& params, i64 unit, const TileContext& context,
                            f32 (&acc)[kRows][kCols], Results& results) {
  if constexpr (K::kSplitsK) {
    using L = typename K::Source::Layout;
    using Parts = PartsOf<L, typename CarriedOf<List<>, typename K::Stages>::Type>;
    const SplitK split = K::split(params);
    if (split.parts == 1) return true;
    const i64 tile = unit / split.parts;
    f32* const first = split.sums + tile * split.parts * Parts::kStride;
    const TileBounds<L> bounds(context);
#pragma unroll
    for (int row = 0; row < L::kRows; ++row)
      if (bounds.row(row))
        Parts::store(first + unit % split.parts * Parts::kStride, context.thread, row, acc[row],
                     results);
    if (!arrives_last(split, tile, context)) return false;
    clear(acc);
#pragma unroll
    for (int row = 0; row < L::kRows; ++row)
      if (bounds.row(row))
        Parts::add(first, static_cast<i32>(split.parts), context.thread, row, acc[row], results);
  }
  return true;
}

} // namespace ingot
