// SPDX-License-Identifier: Apache-2.0
// Packs one row of an operand whose rows are contiguous (tile/packed.cuh), by some threads and
// without shared memory for its elements. Called by the kernels that pack an operand, and by
// products that pack their own A.
#pragma once

#include "tile/packed.cuh"
#include "tile/prologue.cuh"
#include "tile/residual_list.cuh"
#include "tile/vector.cuh"

namespace ingot {

/// X: a matrix operand of major k, with Packed. kPerRow: the threads of a row, whole warps. kHeld:
/// chunks that a thread has in registers at a time. A longer row that is scaled is read twice: in
/// the search for its largest and its least element, and for the split. If its weak elements can be
/// listed, the threads that have some read their part again.
template <class X, int kPerRow, int kHeld> struct RowPacking {
  using To = typename X::Packed;
  using Split = typename To::Split;
  static_assert(X::kMajor == Major::k, "rows are contiguous");
  static constexpr int kChunk = To::kChunk;
  using Chunk = Vector<f32, kChunk>;

  /// The elements of a row from k on. Those outside the matrix are zero.
  template <class Params>
  static INGOT_DEVICE Chunk load(const Params& params, const To& to, i64 batch, i64 row, i64 k) {
    using Cells = PrologueCells<typename X::Prologue::Operands, Major::k, X::kVec>;
    Chunk chunk = {};
#pragma unroll
    for (int first = 0; first < kChunk; first += X::kVec) {
      if (row >= to.rows || k + first >= to.depth) continue;
      const auto raw = load_vector<X::kVec>(X::at(params, batch, row, k + first));
      Cells cells;
      cells.fetch(params, batch, row, k + first);
#pragma unroll
      for (int j = 0; j < X::kVec; ++j)
        chunk.v[first + j] = X::Prologue::eval(
            ProloguePoint<X, Params>{params, cells, InRegister<typename X::Element>::load(raw.v[j]),
                                     j, batch, row, k + first + j});
    }
    return chunk;
  }

  /// By the threads of a row, of which this is number `lane`. combined(value, region, combine): the
  /// combination of the values of all of them, in region 0, 1 or 2 of memory that they share.
  template <class Params, class Combined>
  static INGOT_DEVICE void run(const Params& params, const To& to, i64 batch, i64 row, i64 lane,
                               Combined combined) {
    const i64 chunks = to.stored_chunks();
    Chunk held[kHeld];
    const auto load_from = [&](i64 first) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        held[i] = load(params, to, batch, row, (first + i * kPerRow + lane) * kChunk);
    };
    RowExtremes extremes;
    u32 own_least = extremes.least; // of the thread's elements
    const ResidualList<To> list = {to, batch, row};
    if constexpr (To::kListsResiduals)
      if (lane == 0 && row < to.rows) list.clear();
    if constexpr (Split::kScales) {
#pragma unroll 1
      for (i64 first = 0; first < chunks; first += kHeld * kPerRow) {
        load_from(first);
#pragma unroll
        for (int i = 0; i < kHeld; ++i) extremes.add(held[i]);
      }
      own_least = extremes.least;
      extremes.add_threads(combined);
    }
    Split split(extremes, own_least);
#pragma unroll 1
    for (i64 first = 0; first < chunks; first += kHeld * kPerRow) {
      if (!Split::kScales || chunks > kHeld * kPerRow) load_from(first);
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        const i64 chunk = first + i * kPerRow + lane;
        Vector<typename To::Element, kChunk> planes[To::kPlanes];
        split.run(held[i], planes);
        if (chunk < chunks) to.put(batch, row, chunk * kChunk, planes);
      }
    }
    bool lists = false;
    if constexpr (To::kListsResiduals) {
      lists = ptx::from_first_lane(split.can_list() ? 1 : 0) != 0;
      if (lists) {
        ptx::warp_barrier(); // combined() of one warp has none
        if (split.has_own_weak()) {
          // Few threads come here. They read again, so that the others need no registers for it.
          bool has_room = true;
#pragma unroll 1
          for (i64 chunk = lane; chunk < chunks && has_room; chunk += kPerRow)
            has_room =
                list.add(split, load(params, to, batch, row, chunk * kChunk), chunk * kChunk);
        }
      }
    }
    if constexpr (Split::kScales) {
      split.strong = combined(split.strong, 2, [](u32 a, u32 b) { return a + b; });
      bool is_listed = false;
      if constexpr (To::kListsResiduals) {
        if (lists) {
          ptx::warp_barrier();
          if (lane < 32) is_listed = list.finish(static_cast<u32>(lane));
        }
      }
      if (lane == 0) to.put_record(batch, row, split.record(to.depth, is_listed));
    }
  }
};

} // namespace ingot
