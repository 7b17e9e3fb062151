// SPDX-License-Identifier: Apache-2.0
// The products by mma.sync of a row of resident tiles (tile/resident_tiles.cuh): a block copies the
// operands of all products through two slots.
#pragma once

#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"
#include "tile/resident_tiles.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kTileK (the k of a slot), kWidest (the columns of the widest tile),
// kNarrowest, kWarpM, kStagedLoads and kCompute.

// A reader R of the steps S multiplies from a slot. It has
//   kBeforeRing          bytes of memory before the slots
//   take<P, kHasRows>(slot, context)
//                        makes a full slot ready, which all threads call; returns its shared
//                        address. P: the product; kHasRows: the slot has rows of the first A
//   Products<P>(reader, thread)
//                        the places of a product's operands, and
//     add_rows(from, acc)              adds the products of the rows of A in a slot
//     add_tile(from, tile, number, acc)
//                                      adds those of a packed tile, with its slot `number`
//   check(acc)           of the sums of a product

/// Slots, copies and tiles by readers of the template Reader. The product is that of the tile T and
/// LastB.
template <class Config, class T, class LastB, template <class> class Reader> struct ResidentSteps {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK, kWarpM = Config::kWarpM;
  static constexpr Compute kCompute = Config::kCompute;
  using Layout = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileN>;
  using Element = typename ComputeType<kCompute>::Type;
  template <class X> using Own = ResidentTile<Config, X, Element>;
  template <class X> using Tiles = PackedTiles<Config, X, Element>;
  using Products = ResidentProducts<Config, T, LastB>;
  using Last = typename Products::Last;
  using First = typename Products::First;
  template <class P> using StageOf = MmaStage<kCompute, P::B::kMajor, P::kCols, kTileK>;
  using StageA = MmaStage<kCompute, First::A::kMajor, kTileM, kTileK>;
  static constexpr int kSlotBytes = (kTileM + Config::kWidest) * kTileK * StageA::kSize;
  using R = Reader<ResidentSteps>;

  R reader;

  /// Sets slot 0 to the product, and fills the slots with values of tiles.
  template <class... Taken, class Params, int kSlots>
  INGOT_DEVICE void run(const Params& params, const TileContext& context,
                        Fragment<Layout, kSlots>& fragment) {
    Ring ring = {context.scratch + R::kBeforeRing};
    ring.fill([&](u8* slot) { feed_first(params, context, 0, slot); });
    Tiles<T> a;
    compute<T>(params, context, ring, a, [&](u8* slot) { feed<Last>(params, context, 0, slot); });
    multiply<Last>(params, context, ring, a, fragment.v[0], [](u8*) {});
    take_earlier<Element>(a, fragment, List<Taken...>());
    context.barrier(); // the stages overlay the slots
  }

private:
  template <class X, class Stage>
  using Feed = MmaFeed<X::kPath, ByCopy<X>, Stage, Layout::kThreads, 1, 0, Config::kStagedLoads>;

  /// Two slots: one is read while the other one is filled.
  struct Ring {
    u8* memory;
    int at = 0; ///< bytes to the slot that is filled

    template <class Fill> INGOT_DEVICE void fill(const Fill& fill_slot) const {
      fill_slot(memory + at);
      ptx::cp_async_commit();
    }
    /// Waits for the slot that was filled, and begins to fill the other one. Returns the first.
    template <class Fill> INGOT_DEVICE u8* next(const TileContext& context, const Fill& fill_slot) {
      ptx::cp_async_wait<0>();
      context.barrier(); // the slot is complete, and nobody reads the other one
      u8* const full = memory + at;
      at = kSlotBytes - at;
      fill(fill_slot);
      return full;
    }
  };

  /// Copies the k of a slot from k0 on, of a product's B. It lies behind the place of the first A.
  template <class P, class Params>
  static INGOT_DEVICE void feed(const Params& params, const TileContext& context, i64 k0,
                                u8* slot) {
    Feed<typename P::B, StageOf<P>> copies;
    copies.begin(params, {context.batch, 0, P::columns(context), {k0, P::depth(params)}},
                 ptx::opaque(context.thread));
    copies.feed_tile(params, k0, slot + StageA::kBytes);
  }
  template <class Params>
  static INGOT_DEVICE void feed_first(const Params& params, const TileContext& context, i64 k0,
                                      u8* slot) {
    Feed<typename First::A, StageA> copies;
    copies.begin(params, {context.batch, context.row0, context.row_end, {k0, First::depth(params)}},
                 ptx::opaque(context.thread));
    copies.feed_tile(params, k0, slot);
    feed<First>(params, context, k0, slot);
  }

  /// Computes a tile and those before it. `feed_next` copies the slot behind those of its product.
  template <class X, class Params, class FeedNext>
  INGOT_DEVICE void compute(const Params& params, const TileContext& context, Ring& ring,
                            Tiles<X>& tiles, const FeedNext& feed_next) {
    using Product = typename Products::template Of<X>;
    typename Own<X>::Tile fragment;
    if constexpr (kIsTile<typename X::A>) {
      compute<typename X::A>(params, context, ring, tiles.before,
                             [&](u8* slot) { feed<Product>(params, context, 0, slot); });
      multiply<Product>(params, context, ring, tiles.before, fragment.v[0], feed_next);
      take_earlier<Element>(tiles.before, fragment, typename X::Earlier());
    } else {
      multiply_first(params, context, ring, fragment.v[0], feed_next);
    }
    Own<X>::finish(params, context, fragment, tiles.values);
  }

  /// Sets `acc` to the product of the first A.
  template <class Params, class FeedNext, int kRows, int kCols>
  INGOT_DEVICE void multiply_first(const Params& params, const TileContext& context, Ring& ring,
                                   f32 (&acc)[kRows][kCols], const FeedNext& feed_next) {
    const i64 depth = First::depth(params);
    const typename R::template Products<First> products(reader, context.thread);
    clear(acc);
    i64 k0 = 0;
#pragma unroll 1
    do {
      k0 += kTileK;
      u8* const slot = ring.next(context, [&](u8* to) {
        if (k0 < depth)
          feed_first(params, context, k0, to);
        else
          feed_next(to);
      });
      products.add_rows(reader.template take<First, true>(slot, context), acc);
    } while (k0 < depth);
    reader.check(acc);
  }

  /// Sets `acc` to the product of the last of `tiles`.
  template <class P, class Params, class FeedNext, int kRows, int kCols>
  INGOT_DEVICE void multiply(const Params& params, const TileContext& context, Ring& ring,
                             const Tiles<typename P::A>& tiles, f32 (&acc)[kRows][kCols],
                             const FeedNext& feed_next) {
    const typename R::template Products<P> products(reader, context.thread);
    constexpr int kSlots = (P::A::kColumns + kTileK - 1) / kTileK;
    clear(acc);
#pragma unroll
    for (int number = 0; number < kSlots; ++number) {
      u8* const slot = ring.next(context, [&](u8* to) {
        if (number + 1 < kSlots)
          feed<P>(params, context, (number + 1) * kTileK, to);
        else
          feed_next(to);
      });
      products.add_tile(reader.template take<P, false>(slot, context), tiles.values[0], number,
                        acc);
    }
    reader.check(acc);
  }
};

} // namespace ingot
