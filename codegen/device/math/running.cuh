// SPDX-License-Identifier: Apache-2.0
// Reductions that run along the steps of a computed tile (tile/computed_steps.cuh).
#pragma once

#include "math/reducers.cuh"
#include "ptx/exponential.cuh"
#include "ptx/fma.cuh"

namespace ingot {

// A running reduction S of a reducer, whose elements are scale * y, with a positive scale:
//   First                a reducer of y. Its value moves the centre of the sum
//   ignored()            a y that counts neither for First nor for the sum
//   State                that of the reducer, of y instead of elements. init() is that of none
//   begin(first)         the state of no elements about a centre
//   is_far(state)        the centre needs the functions with kIsFar, which are slower. They are
//                        right for every centre
//   summand(state, y)    of y, about the state's centre
//   moving(from, to)     the factor by which everything that is linear in the summands moves from
//                        one centre to another
//   finished(state)      the reducer's state of all elements

/// Scale::kValue: the scale.
template <class Reducer, class Scale> struct Running;

/// exp(x - m), whose summands become elements of 16 bits: powers of two are single instructions.
/// The centre in units of the exponent is rounded once: an error that is a factor of all summands,
/// and cancels beside their sum. Far from 0, where the factor would be large, differences are
/// computed first: a mask may have -1e9 or the lowest number in place of -Inf.
template <bool kIsShort, class Scale> struct Running<SumexpReducer<kIsShort>, Scale> {
  using Reducer = SumexpReducer<kIsShort>;
  using First = MaxReducer<f32>;
  using State = typename Reducer::State;

  static INGOT_DEVICE f32 ignored() { return Limits<f32>::lowest(); }
  static INGOT_DEVICE State init() { return Reducer::init(); }
  static INGOT_DEVICE First::State first(const State& state) { return {state.max}; }
  static INGOT_DEVICE State begin(const First::State& first) { return {first.value, 0.0f}; }
  static INGOT_DEVICE bool is_far(const State& state) {
    const f32 centre = exponent(state.max);
    return !(centre >= -kNear && centre <= kNear);
  }
  template <bool kIsFar> static INGOT_DEVICE f32 summand(const State& state, f32 y) {
    if constexpr (!kIsFar) return ptx::exp2_approx(ptx::fma(y, kExponent, -exponent(state.max)));
    const f32 offset = state.max == Limits<f32>::lowest() ? 0.0f : state.max;
    return ptx::exp2_approx((y - offset) * kExponent);
  }
  template <bool kIsFar> static INGOT_DEVICE f32 moving(const State& from, const State& to) {
    if constexpr (!kIsFar)
      return math::unbiased_exp((exponent(from.max) - exponent(to.max)) * 0.693147182f);
    return math::unbiased_exp(from.max == to.max ? 0.0f : (from.max - to.max) * Scale::kValue);
  }
  static INGOT_DEVICE State finished(const State& state) {
    return {state.max * Scale::kValue, state.sum};
  }

private:
  static constexpr f32 kExponent = Scale::kValue * 1.44269504f; ///< of 2, for y = 1
  static constexpr f32 kNear = 1024.0f; ///< centres up to here are off by 2^-14 at most
  static INGOT_DEVICE f32 exponent(f32 y) { return ptx::rounded_product(y, kExponent); }
};

} // namespace ingot
