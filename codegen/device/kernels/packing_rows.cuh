// SPDX-License-Identifier: Apache-2.0
// The packing_rows skeleton: packs an operand (tile/packed.cuh) whose rows are contiguous, without
// shared memory for its elements. The threads of a row that is scaled hold it in registers from the
// search for its largest element to the split. A longer row is read twice.
#pragma once

#include "sizes/shared_memory.h"
#include "tile/packed.cuh"
#include "tile/prologue.cuh"
#include "tile/vector.cuh"

namespace ingot {

// The parts of a kernel K of this skeleton, written by the emitter:
//   kPerRow         the threads of a row: a power of two from 32 on
//   using Operand   a matrix operand of major k (tile/matrix.cuh), with packed(params): the place
//                   of the packed operand, and the extents (tile/packed.cuh)
template <class K> struct PackingRows {
  using X = typename K::Operand;
  using To = typename X::Packed;
  using Split = typename To::Split;
  static_assert(X::kMajor == Major::k, "rows are contiguous");
  static constexpr int kThreads = sizes::kPackingThreads, kPerRow = K::kPerRow;
  static constexpr int kRows = kThreads / kPerRow, kWarpsOfRow = kPerRow / 32;
  static constexpr int kSharedBytes = sizes::packing_rows_bytes(kThreads);
  static constexpr int kChunk = To::kChunk;
  static constexpr int kHeld = sizes::kPackedHeld / kChunk; ///< chunks that a thread holds
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

  /// The combination of the values of a row's threads, in all of them. `region` is one of three
  /// that the block's rows share.
  template <class Combine>
  static INGOT_DEVICE u32 combined(u32 value, int region, Combine combine) {
#pragma unroll
    for (int mask = 1; mask < 32; mask *= 2) value = combine(value, ptx::shuffle_xor(value, mask));
    if constexpr (kWarpsOfRow > 1) {
      const i32 warp = ptx::thread_index() / 32;
      u32* const all = reinterpret_cast<u32*>(ptx::shared_memory()) + region * (kThreads / 32);
      if (ptx::thread_index() % 32 == 0) all[warp] = value;
      ptx::block_barrier();
      const u32* const own = all + warp / kWarpsOfRow * kWarpsOfRow;
      value = own[0];
#pragma unroll
      for (int i = 1; i < kWarpsOfRow; ++i) value = combine(value, own[i]);
    }
    return value;
  }

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, i64 batch, i64 row0, const To& to) {
    const i64 row = row0 + ptx::thread_index() / kPerRow, lane = ptx::thread_index() % kPerRow;
    const i64 chunks = to.stored_chunks();
    Chunk held[kHeld];
    auto load_from = [&](i64 first) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i)
        held[i] = load(params, to, batch, row, (first + i * kPerRow + lane) * kChunk);
    };
    u32 largest = 0;
    if constexpr (Split::kScales) {
      for (i64 first = 0; first < chunks; first += kHeld * kPerRow) {
        load_from(first);
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
#pragma unroll
          for (int j = 0; j < kChunk; ++j) {
            const u32 bits = ptx::as_bits(math::abs(held[i].v[j]));
            largest = bits > largest ? bits : largest;
          }
        }
      }
      largest = combined(largest, 0, [](u32 a, u32 b) { return a > b ? a : b; });
    }
    Split split(largest);
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
    if constexpr (Split::kScales) {
      split.strong = combined(split.strong, 1, [](u32 a, u32 b) { return a + b; });
      split.weak = combined(split.weak, 2, [](u32 a, u32 b) { return a | b; });
      if (row < to.rows && lane == 0) to.put_record(batch, row, split.record(largest, to.depth));
    }
  }
};

template <class K> INGOT_DEVICE void packing_rows(const typename K::Params& params) {
  using Skeleton = PackingRows<K>;
  const auto to = K::Operand::packed(params);
  static_assert(Skeleton::To::kRows % Skeleton::kRows == 0, "no block passes the last row");
  const i64 units = to.stored_rows() / Skeleton::kRows;
  for (i64 unit = ptx::block_index(); unit < to.batches * units; unit += ptx::block_count())
    Skeleton::run(params, unit / units, unit % units * Skeleton::kRows, to);
}

} // namespace ingot
