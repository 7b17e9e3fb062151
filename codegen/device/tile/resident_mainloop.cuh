// SPDX-License-Identifier: Apache-2.0
// The mainloop by mma.sync of a product whose operand A is a resident tile
// (tile/resident_tiles.cuh).
#pragma once

#include "tile/mma_feed.cuh"
#include "tile/mma_fragments.cuh"
#include "tile/resident_tiles.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kTileK (the k of a slot), kWidest (the columns of the widest tile),
// kNarrowest, kWarpM, kStagedLoads and kCompute.

/// A source for the nested skeleton. Operands are copied one slot ahead. Taken: the slots of the
/// kernel's stages with values of tiles.
template <class Config, class T, class LastB, class... Taken> struct ResidentMainloop {
  using Admits = List<>;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK, kWarpM = Config::kWarpM;
  static constexpr Compute kCompute = Config::kCompute;
  static constexpr bool kFillsRegisters = true;
  using Layout = MmaLayout<kTileM / kWarpM, 1, kWarpM, kTileN>;
  using Element = typename ComputeType<kCompute>::Type;
  static constexpr int kSharedBytes =
      sizes::resident_bytes(kTileM, Config::kWidest, kTileK, sizeof(Element));

  /// Sets slot 0 to the product, and fills the slots with values of tiles.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange,
                               Fragment<Layout, kSlots>& fragment, Results&) {
    Ring ring = {ptx::shared_memory()};
    ring.fill([&](u8* slot) { feed_first(params, context, 0, slot); });
    Tiles<T> a;
    compute<T>(params, context, ring, a,
               [&](u8* slot) { feed<LastProduct>(params, context, 0, slot); });
    multiply<LastProduct>(params, context, ring, a.values[0], fragment.v[0], [](u8*) {});
    take_earlier<Element>(a, fragment, List<Taken...>());
    context.barrier(); // the stages overlay the slots
  }

private:
  template <class X> using Packed = typename ResidentTile<Config, X>::Packed;
  template <class X> using Tiles = PackedTiles<Config, X>;
  using Products = ResidentProducts<Config, T, LastB>;
  using LastProduct = typename Products::Last;
  using First = typename Products::First;
  template <class P> using StageOf = MmaStage<kCompute, P::B::kMajor, P::kCols, kTileK>;
  using StageA = MmaStage<kCompute, First::A::kMajor, kTileM, kTileK>;
  static constexpr int kSlotBytes = kSharedBytes / 2;
  static constexpr int kSteps = kTileK * static_cast<int>(sizeof(Element)) / 32; ///< of a slot

  template <class X, class Stage>
  using Feed = MmaFeed<X::kPath, ByChunk<X>, Stage, Layout::kThreads, 1, 0, Config::kStagedLoads>;

  /// Two slots: one is read while the other one is filled.
  struct Ring {
    u8* memory;
    int at = 0; ///< bytes to the slot that is filled

    template <class Fill> INGOT_DEVICE void fill(const Fill& fill_slot) const {
      fill_slot(memory + at);
      ptx::cp_async_commit();
    }
    /// Waits for the slot that was filled, and begins to fill the other one. Returns the address
    /// of the first.
    template <class Fill> INGOT_DEVICE u32 next(const TileContext& context, const Fill& fill_slot) {
      ptx::cp_async_wait<0>();
      context.barrier(); // the slot is complete, and nobody reads the other one
      const u32 full = ptx::shared_address(memory + at);
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
  static INGOT_DEVICE void compute(const Params& params, const TileContext& context, Ring& ring,
                                   Tiles<X>& tiles, const FeedNext& feed_next) {
    using Own = ResidentTile<Config, X>;
    using Product = typename Products::template Of<X>;
    typename Own::Tile fragment;
    if constexpr (kIsTile<typename X::A>) {
      compute<typename X::A>(params, context, ring, tiles.before,
                             [&](u8* slot) { feed<Product>(params, context, 0, slot); });
      multiply<Product>(params, context, ring, tiles.before.values[0], fragment.v[0], feed_next);
      take_earlier<Element>(tiles.before, fragment, typename X::Earlier());
    } else {
      multiply_first(params, context, ring, fragment.v[0], feed_next);
    }
    Own::template finish<Element>(params, context, fragment, tiles.values);
  }

  /// Sets `acc` to the product of the first A.
  template <class Params, class FeedNext, int kRows, int kCols>
  static INGOT_DEVICE void multiply_first(const Params& params, const TileContext& context,
                                          Ring& ring, f32 (&acc)[kRows][kCols],
                                          const FeedNext& feed_next) {
    using FragmentsA = MmaFragments<Operand::a, StageA, kWarpM>;
    using FragmentsB = MmaFragments<Operand::b, StageOf<First>, First::kCols>;
    const i64 depth = First::depth(params);
    const u32 first_a =
        FragmentsA::first_offset(Layout::col_warp(context.thread) * kWarpM, context.thread);
    const u32 first_b = StageA::kBytes + FragmentsB::first_offset(0, context.thread);
    clear(acc);
    i64 k0 = 0;
#pragma unroll 1
    do {
      k0 += kTileK;
      const u32 slot = ring.next(context, [&](u8* to) {
        if (k0 < depth)
          feed_first(params, context, k0, to);
        else
          feed_next(to);
      });
      // Unrolled in part: else the compiler loads so early that registers spill.
#pragma unroll 2
      for (int step = 0; step < kSteps; ++step) {
        FragmentsA a;
        a.load(slot + first_a, step);
        multiply_by_columns<kCompute, FragmentsB>(a.block, slot + first_b, step, acc);
      }
    } while (k0 < depth);
  }

  /// Sets `acc` to the product of a tile.
  template <class P, class Params, class FeedNext, int kRows, int kCols>
  static INGOT_DEVICE void multiply(const Params& params, const TileContext& context, Ring& ring,
                                    const Packed<typename P::A>& packed, f32 (&acc)[kRows][kCols],
                                    const FeedNext& feed_next) {
    using FragmentsB = MmaFragments<Operand::b, StageOf<P>, P::kCols>;
    using LayoutOfA = typename ResidentTile<Config, typename P::A>::Layout;
    const u32 first_b = StageA::kBytes + FragmentsB::first_offset(0, context.thread);
    constexpr int kSlots = (P::A::kColumns + kTileK - 1) / kTileK;
    clear(acc);
#pragma unroll
    for (int number = 0; number < kSlots; ++number) {
      const u32 slot = ring.next(context, [&](u8* to) {
        if (number + 1 < kSlots)
          feed<P>(params, context, (number + 1) * kTileK, to);
        else
          feed_next(to);
      });
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        constexpr int kFragments = LayoutOfA::kCols / 4;
        if (number * kSteps + step >= kFragments) continue;
        u32 a[kRows / 2][4];
#pragma unroll
        for (int i = 0; i < kRows / 2; ++i) {
#pragma unroll
          for (int r = 0; r < 4; ++r) a[i][r] = packed[i][number * kSteps + step][r];
        }
        multiply_by_columns<kCompute, FragmentsB>(a, slot + first_b, step, acc);
      }
    }
  }
};

} // namespace ingot
