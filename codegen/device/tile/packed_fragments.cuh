// SPDX-License-Identifier: Apache-2.0
// Tiles that become operand A of another product. The accumulators of a thread lie in its own
// fragments of A, two adjacent columns in each register (PTX ISA).
#pragma once

#include "ptx/convert.cuh"
#include "tile/map.cuh"

namespace ingot {

/// Fragments of A (tile/mma_fragments.cuh), of each 16 rows and each 16 k, of a tile in the layout
/// L.
template <class L> using PackedFragments = u32[L::kRows / 2][L::kCols / 4][4];

/// Packs the elements F::eval(point) of a tile. Those past its columns are 0.
template <class Element, class F, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void pack_fragments(const Params& params, const TileContext& tile,
                                 Fragment<L, kSlots>& fragment, const Results& results,
                                 PackedFragments<L>& packed) {
  static_assert(sizeof(Element) == 2, "accumulators in pairs of columns are fragments of A");
  const auto at = [&](int row, int pair) -> u32& {
    return packed[row / 2][pair / 2][row % 2 + pair % 2 * 2];
  };
  f32 even = 0.0f;
  for_each_element<F>(params, tile, fragment, results, [&](int i, int j, i64, i64, f32 value) {
    if (j % 2 == 0)
      even = value;
    else
      at(i, j / 2) = ptx::pack_x2<Element>(even, value);
  });
  const TileBounds<L> bounds(tile);
  if (bounds.cols == L::kTileCols) return;
  // The first of a pair has the lower bits.
#pragma unroll
  for (int pair = 0; pair < L::kCols / 2; ++pair) {
    const u32 lower = bounds.col(2 * pair) ? 0xffffu : 0u;
    const u32 upper = bounds.col(2 * pair + 1) ? 0xffff0000u : 0u;
#pragma unroll
    for (int i = 0; i < L::kRows; ++i) at(i, pair) &= lower | upper;
  }
}

/// How a tile of elements lies in registers as operand A: in fragments, or f32 as accumulators.
template <class Element, class L> struct PackedTileOf {
  using Type = PackedFragments<L>;
};
template <class L> struct PackedTileOf<f32, L> {
  using Type = f32[L::kRows][L::kCols];
};
template <class Element, class L> using PackedTile = typename PackedTileOf<Element, L>::Type;

/// Packs the elements F::eval(point) of a tile. Those past its columns are 0.
template <class Element, class F, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void pack_tile(const Params& params, const TileContext& tile,
                            Fragment<L, kSlots>& fragment, const Results& results,
                            PackedTile<Element, L>& packed) {
  if constexpr (sizeof(Element) == 2) {
    pack_fragments<Element, F>(params, tile, fragment, results, packed);
  } else {
    const TileBounds<L> bounds(tile);
    for_each_element<F>(params, tile, fragment, results, [&](int i, int j, i64, i64, f32 value) {
      packed[i][j] = bounds.col(j) ? value : 0.0f;
    });
  }
}

/// The elements of a tile that was packed.
template <class Element, class L>
INGOT_DEVICE void unpack_tile(const PackedTile<Element, L>& packed,
                              f32 (&elements)[L::kRows][L::kCols]) {
#pragma unroll
  for (int i = 0; i < L::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < L::kCols; ++j) {
      if constexpr (sizeof(Element) == 2) {
        const u32 pair = packed[i / 2][j / 4][i % 2 + j / 2 % 2 * 2];
        elements[i][j] = to_f32(Element{static_cast<u16>(j % 2 == 0 ? pair : pair >> 16)});
      } else {
        elements[i][j] = packed[i][j];
      }
    }
  }
}

} // namespace ingot
