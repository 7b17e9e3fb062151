// SPDX-License-Identifier: Apache-2.0
// One reducer per reduction of ir/ops.def: init, step, merge, finish. States may be merged in any
// fixed tree. merge(lower, upper) takes its operands in the order of their elements.
#pragma once

#include "math/elementwise.cuh"

namespace ingot {

// A reducer R has
//   Value              the type of the elements: f32, i32, i64, bool
//   State              a trivially copyable struct of 32-bit words
//   kResults, Result   number and type of the results
//   kTwoSweep          held tiles read the values twice. The first sweep, by a reducer First, finds
//                      a centre: begin(first) is the state of no values about it. The second one
//                      sums summand(centre, x), and with_sum(centre, sum) is the state of all. The
//                      sum may be NaN where that of the state is not.
//                      first(state) and sum_about(state, centre) do the same for states that were
//                      accumulated separately. UncountedFirst is First without a count of the
//                      values, for callers that know it: begin(first, count).
//   kMovesCentre       two sweeps: the chunks of a row share a centre, which moves along the row
//   sum(state)         with kMovesCentre: the sum of a state
//   init(), step(state, value, index), merge(lower, upper), finish(state, out[kResults], count)
// index is the position along the reduced extent; count is that extent.

/// The extremes of a type, for reductions of no elements.
template <class T> struct Limits;
template <> struct Limits<f32> {
  static INGOT_DEVICE f32 lowest() { return -math::infinity(); }
  static INGOT_DEVICE f32 highest() { return math::infinity(); }
};
template <> struct Limits<i32> {
  static INGOT_DEVICE i32 lowest() { return -2147483647 - 1; }
  static INGOT_DEVICE i32 highest() { return 2147483647; }
};
template <> struct Limits<i64> {
  static INGOT_DEVICE i64 lowest() { return -9223372036854775807ll - 1; }
  static INGOT_DEVICE i64 highest() { return 9223372036854775807ll; }
};

/// All members of a reducer R whose state is one value, but R::identity() and R::merged(a, b).
template <class R, class T> struct ValueReducer {
  using Value = T;
  using Result = T;
  struct State {
    T value;
  };
  static constexpr int kResults = 1;
  static constexpr bool kTwoSweep = false;
  static INGOT_DEVICE State init() { return {R::identity()}; }
  static INGOT_DEVICE void step(State& state, T x, i64) { state.value = R::merged(state.value, x); }
  static INGOT_DEVICE State merge(const State& a, const State& b) {
    return {R::merged(a.value, b.value)};
  }
  static INGOT_DEVICE void finish(const State& state, T* out, i64) { out[0] = state.value; }
};

template <class T> struct SumReducer : ValueReducer<SumReducer<T>, T> {
  static INGOT_DEVICE T identity() { return T(0); }
  static INGOT_DEVICE T merged(T a, T b) { return math::add(a, b); }
};
/// The reducer of the second sweep.
using SummandReducer = SumReducer<f32>;

template <class T> struct MeanReducer : SumReducer<T> {
  using State = typename SumReducer<T>::State;
  static INGOT_DEVICE void finish(const State& state, T* out, i64 count) {
    out[0] = math::div_bounded(state.value, static_cast<T>(count));
  }
};

template <class T> struct ProdReducer : ValueReducer<ProdReducer<T>, T> {
  static INGOT_DEVICE T identity() { return T(1); }
  static INGOT_DEVICE T merged(T a, T b) { return math::mul(a, b); }
};

template <class T> struct MaxReducer : ValueReducer<MaxReducer<T>, T> {
  static INGOT_DEVICE T identity() { return Limits<T>::lowest(); }
  static INGOT_DEVICE T merged(T a, T b) { return math::maximum(a, b); }
};

template <class T> struct MinReducer : ValueReducer<MinReducer<T>, T> {
  static INGOT_DEVICE T identity() { return Limits<T>::highest(); }
  static INGOT_DEVICE T merged(T a, T b) { return math::minimum(a, b); }
};

/// argmax (kSign 1) and argmin (kSign -1): the lowest index among equals; NaN wins. Nothing
/// branches, so that the loads of a thread's elements do not wait for each other.
template <class T, int kSign> struct ArgReducer {
  using Value = T;
  using Result = i64;
  struct State {
    T value;
    i64 index; ///< kNone: no element, or none that beats the worst value
  };
  static constexpr int kResults = 1;
  static constexpr bool kTwoSweep = false;
  static constexpr i64 kNone = -1;
  static INGOT_DEVICE State init() {
    return {kSign > 0 ? Limits<T>::lowest() : Limits<T>::highest(), kNone};
  }
  /// A comparison with NaN is false, so a number does not beat NaN, and NaN beats every number.
  static INGOT_DEVICE bool beats(T x, T y) {
    const bool stays = kSign > 0 ? x <= y : x >= y;
    return !stays & (y == y);
  }
  static INGOT_DEVICE void step(State& state, T x, i64 index) { state = merge(state, {x, index}); }
  /// A step if `index` is above those of the elements before: half the instructions.
  static INGOT_DEVICE void step_rising(State& state, T x, i64 index) {
    const bool better = beats(x, state.value);
    state.value = better ? x : state.value;
    state.index = better ? index : state.index;
  }
  static INGOT_DEVICE State merge(const State& a, const State& b) {
    // kNone is the greatest unsigned number, so that an index wins among equals.
    const bool lower = static_cast<u64>(b.index) < static_cast<u64>(a.index);
    const bool second = beats(b.value, a.value) | (!beats(a.value, b.value) & lower);
    return {second ? b.value : a.value, second ? b.index : a.index};
  }
  /// If elements in rising order all have the worst value, the first one wins.
  static INGOT_DEVICE void finish(const State& state, i64* out, i64 count) {
    out[0] = state.index == kNone && count > 0 ? 0 : state.index;
  }
};

/// (m, s): m = max(x), s = sum of exp(x - m). Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018. -Inf minus -Inf is NaN: step() never computes it, and with_sum()
/// drops it. kIsShort: in short form, for values of a 16-bit type.
template <bool kIsShort> struct SumexpReducer {
  using Value = f32;
  using Result = f32;
  struct State {
    f32 max, sum;
  };
  static constexpr int kResults = 2;
  static constexpr bool kTwoSweep = true;
  static constexpr bool kMovesCentre = true;
  static INGOT_DEVICE State init() { return {Limits<f32>::lowest(), 0.0f}; }
  /// exp(x - max); NaN for x = max = -Inf. A later stage that computes the same shares its code.
  static INGOT_DEVICE f32 shifted(f32 x, f32 max) {
    return kIsShort ? math::short_form::exp(x - max) : math::exp(x - max);
  }
  /// The factor of a sum that moves to another maximum. It must be unbiased, because a bias would
  /// enter the whole sum again with each move.
  static INGOT_DEVICE f32 moved(f32 from, f32 to) {
    return math::unbiased_exp(from == to ? 0.0f : from - to);
  }
  static INGOT_DEVICE void step(State& state, f32 x, i64) {
    if (x <= state.max)
      state.sum += state.max == Limits<f32>::lowest() ? 0.0f : shifted(x, state.max);
    else
      state = {math::maximum(state.max, x), state.sum * moved(state.max, x) + 1.0f};
  }
  static INGOT_DEVICE State merge(const State& a, const State& b) {
    const f32 max = math::maximum(a.max, b.max);
    return {max, a.sum * moved(a.max, max) + b.sum * moved(b.max, max)};
  }

  using First = MaxReducer<f32>;
  static INGOT_DEVICE First::State first(const State& state) { return {state.max}; }
  static INGOT_DEVICE f32 sum_about(const State& state, const State& centre) {
    return state.sum * moved(state.max, centre.max);
  }
  static INGOT_DEVICE State begin(const First::State& first) { return {first.value, 0.0f}; }
  using UncountedFirst = First;
  static INGOT_DEVICE State begin(const First::State& first, f32) { return begin(first); }
  static INGOT_DEVICE f32 summand(const State& centre, f32 x) { return shifted(x, centre.max); }
  /// If all values are -Inf, their sum about the centre is NaN, but 0 about any other.
  static INGOT_DEVICE State with_sum(const State& centre, f32 sum) {
    return {centre.max, centre.max == Limits<f32>::lowest() ? 0.0f : sum};
  }
  static INGOT_DEVICE f32 sum(const State& state) { return state.sum; }

  static INGOT_DEVICE void finish(const State& state, f32* out, i64) {
    out[0] = state.max;
    // max - max is NaN if the maximum is infinite or NaN, else 0.
    out[1] = state.sum + (state.max - state.max);
  }
};

using MaxSumexpReducer = SumexpReducer<false>;
using ShortMaxSumexpReducer = SumexpReducer<true>;

/// (mean, biased variance). States are merged as (n, mean, M2): Chan, Golub and LeVeque,
/// "Algorithms for computing the sample variance", 1983. It never uses raw sums of squares.
struct MomentsReducer {
  using Value = f32;
  using Result = f32;
  struct State {
    f32 count, mean, m2;
  };
  static constexpr int kResults = 2;
  static constexpr bool kTwoSweep = true;
  static constexpr bool kMovesCentre = false;
  static INGOT_DEVICE State init() { return {0.0f, 0.0f, 0.0f}; }
  static INGOT_DEVICE void step(State& state, f32 x, i64) {
    // Not delta * (x - new mean). If x is a product, the compiler may contract one of the two
    // differences to a multiply-add and not the other. The result for the first element would then
    // not be zero.
    const f32 before = state.count;
    state.count += 1.0f;
    const f32 delta = x - state.mean, step = math::div_bounded(delta, state.count);
    state.mean += step;
    state.m2 += delta * before * step; // for the first element 0 * step, never Inf * 0
  }
  static INGOT_DEVICE State merge(const State& a, const State& b) {
    const f32 count = a.count + b.count;
    if (count == 0.0f) return a;
    const f32 delta = b.mean - a.mean, share = math::div_bounded(b.count, count);
    return {count, a.mean + delta * share, a.m2 + b.m2 + delta * (a.count * share) * delta};
  }

  struct First {
    struct State {
      f32 sum, count;
    };
    static INGOT_DEVICE State init() { return {0.0f, 0.0f}; }
    static INGOT_DEVICE void step(State& state, f32 x, i64) {
      state.sum += x;
      state.count += 1.0f;
    }
    static INGOT_DEVICE State merge(const State& a, const State& b) {
      return {a.sum + b.sum, a.count + b.count};
    }
  };
  static INGOT_DEVICE First::State first(const State& state) {
    return {state.mean * state.count, state.count};
  }
  static INGOT_DEVICE f32 sum_about(const State& state, const State& centre) {
    const f32 delta = state.mean - centre.mean;
    return state.m2 + delta * state.count * delta;
  }
  static INGOT_DEVICE State begin(const First::State& first) {
    const f32 mean = math::div_bounded(first.sum, first.count);
    return {first.count, first.count > 0.0f ? mean : 0.0f, 0.0f};
  }
  using UncountedFirst = SumReducer<f32>;
  static INGOT_DEVICE State begin(const UncountedFirst::State& first, f32 count) {
    return begin(First::State{first.value, count});
  }
  static INGOT_DEVICE f32 summand(const State& centre, f32 x) {
    const f32 deviation = x - centre.mean;
    return deviation * deviation;
  }
  static INGOT_DEVICE State with_sum(const State& centre, f32 sum) {
    return {centre.count, centre.mean, sum};
  }

  static INGOT_DEVICE void finish(const State& state, f32* out, i64 count) {
    out[0] = count == 0 ? state.mean / state.count : state.mean;
    out[1] = math::div_bounded(state.m2, static_cast<f32>(count));
  }
};

} // namespace ingot
