// SPDX-License-Identifier: Apache-2.0
// Products in a row whose tiles stay in registers: each tile goes through its stages and becomes
// operand A of the next product. A block has all columns of its rows in every tile.
#pragma once

#include "sizes/shared_memory.h"
#include "tile/matrix.cuh"
#include "tile/packed_fragments.cuh"
#include "tile/stages.cuh"

namespace ingot {

// A tile T, written by the emitter:
//   A              the tile before it, or a matrix operand (tile/matrix.cuh)
//   B              a matrix operand
//   depth(params)  the K of its product
//   kColumns       its columns, which are the K of the next product
//   kSlots, Stages as those of a kernel
//   Values         the functors of its elements, and of more values that later stages read
//   Earlier        the slots of its stages with values of earlier tiles: EarlierValue<...>

/// True for tiles, false for matrices.
template <class X, class = void> constexpr bool kIsTile = false;
template <class X>
constexpr bool kIsTile<X, decltype(void(static_cast<typename X::Stages*>(nullptr)))> = true;

/// Slot kSlot of a tile's stages has a value of an earlier tile: of its operand A if kBack is 0, of
/// the operand A of that one if it is 1. kNumber: its number in Values. That tile has as many
/// columns.
template <int kSlot, int kBack, int kNumber> struct EarlierValue {};

/// The columns of the registers of a tile T.
template <class Config, class T>
constexpr int kResidentCols = sizes::resident_columns(T::kColumns, Config::kNarrowest);

/// A tile of the kernels of a configuration, multiplied as Element.
template <class Config, class T, class Element> struct ResidentTile {
  static constexpr int kCols = kResidentCols<Config, T>;
  using Layout = MmaLayout<Config::kTileM / Config::kWarpM, 1, Config::kWarpM, kCols>;
  using Tile = Fragment<Layout, T::kSlots>;
  using Packed = PackedTile<Element, Layout>;
  using Results = typename ResultsOf<Layout, List<>, typename T::Stages>::Type;
  static_assert(kStageBytes<Layout, typename T::Stages> == 0, "a warp has whole rows");

  /// Runs the stages and packs the values.
  template <class Params, int kValues>
  static INGOT_DEVICE void finish(const Params& params, const TileContext& context, Tile& fragment,
                                  Packed (&values)[kValues]) {
    TileContext own = context;
    own.col0 = 0;
    own.col_end = T::kColumns;
    own.thread = ptx::opaque(context.thread); // places are not kept across the products
    Results results(own.thread);
    run_stages<true>(params, own, fragment, results, typename T::Stages());
    pack(params, own, fragment, results, values, typename T::Values());
    if constexpr (sizeof(Element) == 2) {
#pragma unroll
      for (const Packed& value : values) ptx::complete(value); // the sums take twice the registers
    }
  }

private:
  template <class Params, class F, class... Fs>
  static INGOT_DEVICE void pack(const Params& params, const TileContext& own, Tile& fragment,
                                const Results& results, Packed* values, List<F, Fs...>) {
    pack_tile<Element, F>(params, own, fragment, results, *values);
    if constexpr (sizeof...(Fs) > 0)
      pack(params, own, fragment, results, values + 1, List<Fs...>());
  }
};

/// The packed values of a tile, and of the tiles before it. Those that no later product or stage
/// reads take no registers.
template <class Config, class T, class Element, bool kHasTile = kIsTile<T>> struct PackedTiles {};
template <class Config, class T, class Element> struct PackedTiles<Config, T, Element, true> {
  typename ResidentTile<Config, T, Element>::Packed values[kCountOf<typename T::Values>];
  PackedTiles<Config, typename T::A, Element> before;

  template <int kBack, int kNumber> INGOT_DEVICE const auto& value() const {
    if constexpr (kBack == 0)
      return values[kNumber];
    else
      return before.template value<kBack - 1, kNumber>();
  }
};

/// Fills slots of stages with the values of the tiles that end with `tiles`.
template <class Element, class Tiles, class L, int kSlots>
INGOT_DEVICE void take_earlier(const Tiles&, Fragment<L, kSlots>&, List<>) {}
template <class Element, class Tiles, class L, int kSlots, int kSlot, int kBack, int kNumber,
          class... Rest>
INGOT_DEVICE void take_earlier(const Tiles& tiles, Fragment<L, kSlots>& fragment,
                               List<EarlierValue<kSlot, kBack, kNumber>, Rest...>) {
  unpack_tile<Element, L>(tiles.template value<kBack, kNumber>(), fragment.v[kSlot]);
  take_earlier<Element>(tiles, fragment, List<Rest...>());
}

/// The first tile of a row of tiles that ends with T.
template <class T, bool kHasTile = kIsTile<typename T::A>> struct FirstTile {
  using Type = T;
};
template <class T> struct FirstTile<T, true> : FirstTile<typename T::A> {};

/// The products of a row of tiles that ends with T, and of the product behind it, whose B is LastB.
/// kCols: the columns of its sums. columns(context): those that it has.
template <class Config, class T, class LastB> struct ResidentProducts {
  template <class X> struct Of : X {
    static constexpr int kCols = kResidentCols<Config, X>;
    static_assert(kCols <= Config::kWidest, "slots hold every B");
    static INGOT_DEVICE i64 columns(const TileContext&) { return X::kColumns; }
  };
  using First = Of<typename FirstTile<T>::Type>;
  struct Last {
    using A = T;
    using B = LastB;
    static constexpr int kCols = Config::kTileN;
    static_assert(kCols <= Config::kWidest, "slots hold every B");
    template <class Params> static INGOT_DEVICE i64 depth(const Params&) { return T::kColumns; }
    static INGOT_DEVICE i64 columns(const TileContext& context) { return context.col_end; }
  };
};

} // namespace ingot
