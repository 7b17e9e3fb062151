// SPDX-License-Identifier: Apache-2.0
// The sum of two products by wgmma (sm_90a): the slots of the second one follow those of the first.
#pragma once

#include "tile/matmul_sum.cuh"
#include "tile/wgmma_mainloop.cuh"

namespace ingot {

template <class Config, class A, class B, class SecondA, class SecondB, class Second>
struct MatmulSum<WgmmaMainloop<Config, A, B>, WgmmaMainloop<Config, SecondA, SecondB>, Second>
    : WgmmaSource<Config, A, B> {
  using First = WgmmaMainloop<Config, A, B>;
  using Other = WgmmaMainloop<Config, SecondA, SecondB>;
  using typename WgmmaSource<Config, A, B>::Place;
  using typename WgmmaSource<Config, A, B>::Ring;
  using typename WgmmaSource<Config, A, B>::Sums;
  static constexpr bool kCompensated = false;
  using Contraction = SummedContraction<Second, Config::kTileK>;
  static_assert(First::kSlotBytes == Other::kSlotBytes, "one ring serves both products");
  static_assert(First::kFactorBytes == 0 && Other::kFactorBytes == 0, "no product has scales");

  static INGOT_DEVICE i32 slots_of(KRange k) {
    return First::slots_of(Contraction::first(k)) + Other::slots_of(Contraction::second(k));
  }

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    First::copy(params, tile, Contraction::first(k), ring, place);
    Other::copy(params, tile, Contraction::second(k), ring, place);
  }

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    First::multiply(thread, Contraction::first(k), ring, place, acc, [] {});
    scale_sums<Second>(acc);
    Other::add(thread, Contraction::second(k), ring, place, acc, seen);
  }
};

} // namespace ingot
