// SPDX-License-Identifier: Apache-2.0
// Lists the residuals of the weak elements of a row (tile/row_split.cuh).
#pragma once

#include "ptx/atomic.cuh"
#include "tile/packed.cuh"

namespace ingot {

/// The list of one row of the packed operand To. Only rows of the matrix have one. The threads of
/// the row are whole warps of one block. Barriers that all of them pass stand between clear(), the
/// calls of add(), and finish().
template <class To> struct ResidualList {
  const To& to;
  i64 batch, row;

  /// By one thread.
  INGOT_DEVICE void clear() const { *to.residual_count(batch, row) = 0; }

  /// By any thread: adds the weak ones of adjacent elements, of which k is the first. Those that
  /// halves hold exactly have no residual. Returns whether the list has had room so far.
  template <class Split, int kCount>
  INGOT_DEVICE bool add(const Split& split, const Vector<f32, kCount>& elements, i64 k) const {
    static_assert(kCount <= 32, "a bit for each element");
    u32 weak = 0;
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
      const bool is_weak = split.is_weak(ptx::as_bits(math::abs(elements.v[n])) - 1);
      weak |= is_weak && split.residual(elements.v[n]) != 0.0f ? 1u << n : 0;
    }
#pragma unroll 1
    for (; weak != 0; weak &= weak - 1) {
      const u32 first = weak & (0u - weak);
      f32 element = 0.0f;
      int place = 0;
#pragma unroll
      for (int n = 0; n < kCount; ++n) {
        element = first == 1u << n ? elements.v[n] : element;
        place = first == 1u << n ? n : place;
      }
      const u32 taken = ptx::take_number(to.residual_count(batch, row), kNever);
      if (taken >= sizes::kListedResiduals) return false;
      to.residuals(batch, row)[taken] = {static_cast<u32>(k + place), split.residual(element)};
    }
    return true;
  }

  /// By the lanes of the row's first warp: puts the list in ascending k, because threads come in
  /// any order. Returns whether it holds all residuals.
  INGOT_DEVICE bool finish(u32 lane) const {
    u32* const counter = to.residual_count(batch, row);
    const u32 count = ptx::from_first_lane(lane == 0 ? ptx::take_number(counter, kNever) : 0);
    const bool is_complete = count <= sizes::kListedResiduals && to.depth < kMostDepth;
    const u32 listed = is_complete ? count : 0;
    Residual* const list = to.residuals(batch, row);
    Residual own = {};
    if (lane < listed) own = list[lane];
    u32 before = 0;
#pragma unroll 1
    for (u32 n = 0; n < listed; ++n) before += list[n].k < own.k ? 1 : 0;
    ptx::warp_barrier();
    if (lane < listed) list[before] = own;
    if (lane == 0) *counter = listed;
    return is_complete;
  }

private:
  static constexpr u32 kNever = 0xffffffffu; ///< a count that is not reached
  static constexpr i64 kMostDepth = i64{1} << 32;
  static_assert(sizes::kListedResiduals <= 32, "a lane has a residual");
};

} // namespace ingot
