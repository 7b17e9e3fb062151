// SPDX-License-Identifier: Apache-2.0
// K is split: several blocks share a tile of a matmul, and each sums a part of K. The last block to
// arrive adds the parts in their order and continues with the tile. No block waits for another.
#pragma once

#include "ptx/atomic.cuh"
#include "tile/map.cuh"
#include "tile/matrix.cuh"
#include "tile/vector.cuh"

namespace ingot {

/// The memory in which the parts of a kernel's tiles meet.
struct SplitK {
  i64 parts;     ///< number of parts of each tile
  f32* sums;     ///< workspace: the sums of each tile and part
  u32* arrivals; ///< state: a counter for each tile, 0 between launches
};

/// Part `part` of a contraction over `k`. Each part has whole tiles of k; their numbers differ by
/// at most one. No part is empty if there are no more parts than tiles.
template <int kTileK> INGOT_DEVICE KRange part_of(i64 k, i64 parts, i64 part) {
  const i64 tiles = (k + kTileK - 1) / kTileK;
  const i64 end = tiles * (part + 1) / parts * kTileK;
  return {tiles * part / parts * kTileK, end < k ? end : k};
}

/// A sum of f32 whose rounding errors are summed separately (Sum2; tile/promotion.cuh has its
/// bound). With few terms, its error is one rounding of the result. Without kCompensated it is a
/// plain sum.
template <bool kCompensated> struct PartSum {
  f32 total = 0.0f, error = 0.0f;

  INGOT_DEVICE void add(f32 term) {
    const f32 sum = total + term;
    if constexpr (kCompensated) {
      const f32 taken = sum - total;
      error += (total - (sum - taken)) + (term - taken);
    }
    total = sum;
  }
  INGOT_DEVICE f32 result() const {
    // An infinite total has no rounding error; Inf - Inf would be NaN.
    if constexpr (kCompensated) return fabsf(total) < math::infinity() ? total + error : total;
    return total;
  }
};

/// One thread's sums of a tile, in groups of four. v is Fragment::v with any number of slots.
template <class L> struct TileSums {
  static constexpr int kFours = L::kRows * L::kCols / 4;
  static_assert(L::kRows * L::kCols % 4 == 0, "sums are moved 16 bytes at a time");
  static constexpr i64 kSize = i64{4} * kFours * L::kThreads;
  using Four = Vector<f32, 4>;

  static INGOT_DEVICE f32& element(f32 (&v)[L::kRows][L::kCols], int index) {
    return v[index / L::kCols][index % L::kCols];
  }

  static INGOT_DEVICE void store(f32* to, i32 thread, f32 (&v)[L::kRows][L::kCols]) {
#pragma unroll
    for (int q = 0; q < kFours; ++q) {
      Four four;
#pragma unroll
      for (int e = 0; e < 4; ++e) four.v[e] = element(v, 4 * q + e);
      store_vector(to + (q * L::kThreads + thread) * 4, four);
    }
  }

  /// v = the sum of `parts` tiles, `stride` apart, in their order. Several loads are in flight at a
  /// time, because one block alone reads all of them.
  template <bool kCompensated>
  static INGOT_DEVICE void add(const f32* from, i64 parts, i64 stride, i32 thread,
                               f32 (&v)[L::kRows][L::kCols]) {
    constexpr int kAtOnce = kFours % 8 == 0 && !kCompensated ? 8 : kFours % 4 == 0 ? 4 : 1;
#pragma unroll
    for (int first = 0; first < kFours; first += kAtOnce) {
      PartSum<kCompensated> sums[4 * kAtOnce];
#pragma unroll 2
      for (i64 part = 0; part < parts; ++part) {
        Four four[kAtOnce];
#pragma unroll
        for (int q = 0; q < kAtOnce; ++q)
          four[q] = load_vector<4>(from + part * stride + ((first + q) * L::kThreads + thread) * 4);
#pragma unroll
        for (int i = 0; i < 4 * kAtOnce; ++i) sums[i].add(four[i / 4].v[i % 4]);
      }
#pragma unroll
      for (int i = 0; i < 4 * kAtOnce; ++i) element(v, 4 * first + i) = sums[i].result();
    }
  }
};

/// A part of a tile is stored. Returns true in the block that arrives last, which then sees all
/// parts.
INGOT_DEVICE bool arrives_last(const SplitK& split, i64 tile, const TileContext& context) {
  context.barrier();
  const u32 last = static_cast<u32>(split.parts - 1);
  const bool is_last =
      context.thread == 0 && ptx::count_arrival(split.arrivals + tile, last) == last;
  return context.barrier_any(is_last);
}

/// Adds part `part` of tile `tile`, whose products are in the first kMatmuls slots. Returns true in
/// the block that arrives last; its fragment then holds the complete sums.
template <bool kCompensated, int kMatmuls, class L, int kSlots>
INGOT_DEVICE bool add_parts(const SplitK& split, i64 tile, i64 part, const TileContext& context,
                            Fragment<L, kSlots>& fragment) {
  using Sums = TileSums<L>;
  constexpr i64 kStride = kMatmuls * Sums::kSize;
  f32* const own_tile = split.sums + tile * split.parts * kStride;
#pragma unroll
  for (int m = 0; m < kMatmuls; ++m)
    Sums::store(own_tile + part * kStride + m * Sums::kSize, context.thread, fragment.v[m]);
  if (!arrives_last(split, tile, context)) return false;
  // Opaque, so that the compiler does not load all parts at once.
  const i32 parts = ptx::opaque(static_cast<i32>(split.parts));
#pragma unroll
  for (int m = 0; m < kMatmuls; ++m)
    Sums::template add<kCompensated>(own_tile + m * Sums::kSize, parts, kStride, context.thread,
                                     fragment.v[m]);
  return true;
}

/// The parts of each tile of a kernel K (kernels/held.cuh). Parts are the units of its blocks;
/// those of a tile are adjacent.
template <class K> INGOT_DEVICE i64 parts_of_tiles(const typename K::Params& params) {
  if constexpr (K::kMatmuls > 0) {
    if constexpr (K::kSplitsK) return K::split(params).parts;
  }
  return 1;
}

/// Adds the sums of a unit to those of its tile. Returns false if this block does not continue with
/// the tile.
template <class K, class Fragments>
INGOT_DEVICE bool add_unit(const typename K::Params& params, i64 unit, const TileContext& context,
                           Fragments& fragment) {
  if constexpr (K::kSplitsK) {
    const SplitK split = K::split(params);
    return split.parts == 1 ||
           add_parts<K::Source::kCompensated, K::kMatmuls>(split, unit / split.parts,
                                                           unit % split.parts, context, fragment);
  }
  return true;
}

} // namespace ingot
