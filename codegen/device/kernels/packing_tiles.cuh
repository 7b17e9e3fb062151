// SPDX-License-Identifier: Apache-2.0
// The packing_tiles skeleton: packs a matmul's operand, however it lies in memory. Each warp has
// one row. The rows of a block go through shared memory, so that global accesses are wide along the
// index in which the operand is contiguous. Rows that are scaled are read twice: first to find the
// largest and the least element.
#pragma once

#include "sizes/shared_memory.h"
#include "tile/context.cuh"
#include "tile/halves.cuh"
#include "tile/packed.cuh"
#include "tile/residual_list.cuh"
#include "tile/staging.cuh"

namespace ingot {

/// The parts of a kernel K of this skeleton, written by the emitter:
///   using Operand   a matrix operand, staged (tile/matrix.cuh), with packed(params): the place of
///                   the packed operand, and the extents (tile/packed.cuh, or Halves)
template <class K> struct PackingTiles {
  using X = typename K::Operand;
  static constexpr int kThreads = sizes::kPackingThreads;
  static constexpr int kRows = sizes::kPackingRows, kTileK = sizes::kPackingDepth;
  static_assert(kRows == kThreads / 32, "one row per warp");
  static constexpr int kPitch = kTileK + sizes::kPackingPadding; ///< rows begin in other banks
  static constexpr int kSharedBytes = sizes::packing_tiles_bytes(kRows, kTileK);
  static constexpr int kVectors = kRows * kTileK / X::kVec / kThreads;
  static constexpr int kEight = sizes::kHalvesAligned;
  using Eight = Vector<f32, kEight>;

  /// The place where a tile is staged.
  struct Rows {
    f32* data;
    template <int kVec>
    INGOT_DEVICE void put(int mn, int k, const Vector<f32, kVec>& values) const {
      if constexpr (X::kMajor == Major::k) {
        store_vector(data + mn * kPitch + k, values);
      } else {
#pragma unroll
        for (int j = 0; j < kVec; ++j) data[(mn + j) * kPitch + k] = values.v[j];
      }
    }
  };

  /// Calls use(k, eight elements) for the lane's share of the warp's row. Elements past its end are
  /// zero.
  template <class Params, class To, class Use>
  static INGOT_DEVICE void walk(const Params& params, i64 batch, i64 row0, const To& to, Use use) {
    const i32 thread = ptx::thread_index();
    const Rows rows = {reinterpret_cast<f32*>(ptx::shared_memory())};
    auto tile_at = [&](i64 k0) {
      return operand_tile<kRows, kTileK>(batch, row0, k0, to.rows, to.depth);
    };
    constexpr int kBatch = kVectors <= 8 ? kVectors : 8; // vectors per thread at a time
    StagedTile<X, kThreads, kRows, kTileK, kBatch> next;
    for (i64 k0 = 0; k0 < to.depth; k0 += kTileK) {
#pragma unroll 1
      for (int first = 0; first < kVectors; first += kBatch) {
        next.load(params, tile_at(k0), thread, first);
        next.store(params, tile_at(k0), thread, first, rows);
      }
      ptx::block_barrier();
#pragma unroll
      for (int i = 0; i < kTileK / (32 * kEight); ++i) {
        const int k = (i * 32 + thread % 32) * kEight;
        const f32* const from = rows.data + thread / 32 * kPitch + k;
        Eight eight;
#pragma unroll
        for (int j = 0; j < kEight; ++j) eight.v[j] = from[j];
        use(k0 + k, eight);
      }
      ptx::block_barrier();
    }
  }

  template <class Params, class To>
  static INGOT_DEVICE void run(const Params& params, i64 batch, i64 row0, const To& to) {
    using Split = typename To::Split;
    const auto combined = [](u32 value, int, auto combine) {
      return combined_in_warp(value, combine);
    };
    const i64 row = row0 + ptx::thread_index() / 32;
    const u32 lane = static_cast<u32>(ptx::thread_index()) % 32;
    RowExtremes extremes;
    Split split(extremes, extremes.least);
    const ResidualList<To> list = {to, batch, row};
    bool has_room = true;
    if constexpr (To::kListsResiduals)
      if (lane == 0 && row < to.rows) list.clear();
    // Both readings of scaled rows have one code. Only the last one splits.
#pragma unroll 1
    for (bool is_last = !Split::kScales;; is_last = true) {
      walk(params, batch, row0, to, [&](i64 k, const Eight& eight) {
        if (is_last) {
          Vector<typename To::Element, kEight> planes[To::kPlanes];
          split.run(eight, planes);
          if (to.stores(row, k)) to.put(batch, row, k, planes);
          if constexpr (To::kListsResiduals) {
            if (has_room && split.can_list() && split.has_own_weak())
              has_room = list.add(split, eight, k);
          }
        } else {
          extremes.add(eight);
        }
      });
      if (is_last) break;
      const u32 own_least = extremes.least;
      extremes.add_threads(combined);
      split = Split(extremes, own_least);
    }
    if constexpr (Split::kScales) {
      split.strong = combined(split.strong, 2, [](u32 a, u32 b) { return a + b; });
      bool is_listed = false;
      if constexpr (To::kListsResiduals) {
        ptx::warp_barrier();
        if (split.can_list()) is_listed = list.finish(lane);
      }
      if (lane == 0) to.put_record(batch, row, split.record(to.depth, is_listed));
    }
  }
};

template <class K> INGOT_DEVICE void packing_tiles(const typename K::Params& params) {
  using Skeleton = PackingTiles<K>;
  const auto to = K::Operand::packed(params);
  const i64 tiles = (to.stored_rows() + Skeleton::kRows - 1) / Skeleton::kRows;
  for (i64 unit = ptx::block_index(); unit < to.batches * tiles; unit += ptx::block_count())
    Skeleton::run(params, unit / tiles, unit % tiles * Skeleton::kRows, to);
}

} // namespace ingot
