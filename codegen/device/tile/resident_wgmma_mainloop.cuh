// SPDX-License-Identifier: Apache-2.0
// The mainloop by wgmma (sm_90a) of a product whose operand A is a resident tile
// (tile/resident_tiles.cuh). The accumulators of a tile become operand A in registers.
#pragma once

#include "tile/resident_tiles.cuh"
#include "tile/wgmma_operands.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kWidest (the columns of the widest tile), kNarrowest, kWarpM,
// kSlotsOfA, kRingSlots (for every B) and kKeepsB: the ring has a slot for each k of every B, which
// are copied once and stay there.

/// A source for the skeleton nested_specialised. Its operands are mapped. Taken: the slots of the
/// kernel's stages with values of tiles.
template <class Config, class T, class LastB, class... Taken> struct ResidentWgmmaMainloop {
  using Admits = List<>;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kGroups = kTileM / 64; ///< warpgroups that multiply; each has 64 rows
  static_assert(Config::kWarpM == 16, "a warp has 16 rows and all columns");
  using Layout = MmaLayout<4 * kGroups, 1, 16, kTileN>;
  using Products = ResidentProducts<Config, T, LastB>;
  using First = typename Products::First;
  using Last = typename Products::Last;
  using TensorA = typename SlotTensor<typename First::A>::Type;
  using Element = typename TensorA::Element;
  using CopiesA = SlotCopies<TensorA, kTileM, 1, 1>;
  template <class P>
  using CopiesB = SlotCopies<typename SlotTensor<typename P::B>::Type, P::kCols, 1, 1>;
  static constexpr int kSlotK = kSlotDepth<TensorA>;

  using RingOfA = SlotRing<Config::kSlotsOfA, kTileM * 128, kGroups, 1>;
  using RingB = SlotRing<Config::kRingSlots, Config::kWidest * 128, kGroups, 1>;
  struct Rings {
    RingOfA of_a;
    RingB b;
    INGOT_DEVICE void make() const {
      of_a.make();
      b.make();
    }
  };
  struct Places {
    typename RingOfA::Place of_a;
    typename RingB::Place b;
    bool has_b = false; ///< every B is in its slots, to stay
  };
  static constexpr int kFirstB = sizes::aligned_ring_bytes(Config::kSlotsOfA, kTileM * 128);
  static constexpr int kRingBytes =
      sizes::resident_ring_bytes(kTileM, Config::kWidest, Config::kSlotsOfA, Config::kRingSlots);
  /// `base`: a shared address, a multiple of 1024.
  static INGOT_DEVICE Rings rings(u32 base) { return {{base}, {base + kFirstB}}; }

  /// By one thread: copies the operands of a tile.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange,
                                const Rings& rings, Places& places) {
    copy_for<T>(params, tile, rings, places);
    copy_b<Last>(params, tile, T::kColumns, rings, places);
    places.has_b = Config::kKeepsB;
  }

  /// By the warpgroups that multiply, once.
  static INGOT_DEVICE void begin(i32) {}

  /// By the warpgroups that multiply: sets slot 0 to the product, and fills the slots with values
  /// of tiles.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void multiply(const Params& params, const TileContext& context, KRange,
                                    const Rings& rings, Places& places,
                                    Fragment<Layout, kSlots>& fragment, Results&) {
    if constexpr (Config::kKeepsB) places.b = {};
    Tiles<T> a;
    compute<T>(params, context, rings, places, a);
    multiply_tile<Last>(context, a.values[0], rings.b, places.b, fragment.v[0]);
    take_earlier<Element>(a, fragment, List<Taken...>());
  }

private:
  template <class X> using Packed = typename ResidentTile<Config, X, Element>::Packed;
  template <class X> using Tiles = PackedTiles<Config, X, Element>;

  /// Copies the operands of a tile and of those before it.
  template <class X, class Params>
  static INGOT_DEVICE void copy_for(const Params& params, const TileContext& tile,
                                    const Rings& rings, Places& places) {
    using Product = typename Products::template Of<X>;
    if constexpr (kIsTile<typename X::A>) {
      copy_for<typename X::A>(params, tile, rings, places);
      copy_b<Product>(params, tile, X::A::kColumns, rings, places);
    } else {
      const i64 depth = X::depth(params);
      CopiesA copies(SlotTensor<typename X::A>::of(params, tile.batch), tile.batch, tile.row0, 0);
      CopiesB<Product> copies_b = of_b<Product>(params, tile);
#pragma unroll 1
      for (i64 k0 = 0; k0 < depth; k0 += kSlotK) {
        const u32 full = rings.of_a.begin_filling(places.of_a);
        copies.run(rings.of_a.slot(places.of_a.slot), full);
        places.of_a.advance();
        fill<Product>(copies_b, rings.b, places);
      }
    }
  }
  template <class P, class Params>
  static INGOT_DEVICE CopiesB<P> of_b(const Params& params, const TileContext& tile) {
    return CopiesB<P>(SlotTensor<typename P::B>::of(params, tile.batch), tile.batch, 0, 0);
  }
  template <class P> static INGOT_DEVICE void fill(CopiesB<P>& copies, RingB ring, Places& places) {
    if (places.has_b) return;
    const u32 full = ring.begin_filling_part(places.b, CopiesB<P>::kBytes);
    copies.run(ring.slot(places.b.slot), full);
    places.b.advance();
  }
  template <class P, class Params>
  static INGOT_DEVICE void copy_b(const Params& params, const TileContext& tile, int depth,
                                  const Rings& rings, Places& places) {
    CopiesB<P> copies = of_b<P>(params, tile);
#pragma unroll 1
    for (int k0 = 0; k0 < depth; k0 += kSlotK) fill<P>(copies, rings.b, places);
  }

  static INGOT_DEVICE int group_of(const TileContext& context) {
    return ptx::uniform(context.thread / sizes::kWarpgroup);
  }
  /// One thread of a warpgroup releases its slots.
  static INGOT_DEVICE bool releases(const TileContext& context) {
    return index_of(context.thread) % sizes::kWarpgroup == 0;
  }
  static INGOT_DEVICE void release_b(const TileContext& context, RingB ring,
                                     typename RingB::Place place) {
    if (!Config::kKeepsB && releases(context)) ring.release(place);
  }

  template <class X, class Params>
  static INGOT_DEVICE void compute(const Params& params, const TileContext& context,
                                   const Rings& rings, Places& places, Tiles<X>& tiles) {
    using Own = ResidentTile<Config, X, Element>;
    typename Own::Tile fragment;
    if constexpr (kIsTile<typename X::A>) {
      compute<typename X::A>(params, context, rings, places, tiles.before);
      multiply_tile<typename Products::template Of<X>>(context, tiles.before.values[0], rings.b,
                                                       places.b, fragment.v[0]);
      take_earlier<Element>(tiles.before, fragment, typename X::Earlier());
    } else {
      multiply_first(context, X::depth(params), rings, places, fragment.v[0]);
    }
    Own::finish(params, context, fragment, tiles.values);
  }

  /// Sets `acc` to the product of the first A. Slots are released one slot late: then the products
  /// before are complete.
  template <int kRows, int kCols>
  static INGOT_DEVICE void multiply_first(const TileContext& context, i64 depth, const Rings& rings,
                                          Places& places, f32 (&acc)[kRows][kCols]) {
    using TensorB = typename SlotTensor<typename First::B>::Type;
    const int group = group_of(context);
    const auto release = [&](Places of) {
      if (releases(context)) rings.of_a.release(of.of_a);
      release_b(context, rings.b, of.b);
    };
    clear(acc); // else the sums would be live from the tile before on
    if (depth == 0) return;
    Places before = places;
#pragma unroll 1
    for (i64 k0 = 0; k0 < depth; k0 += kSlotK) {
      rings.of_a.wait_until_full(places.of_a);
      rings.b.wait_until_full(places.b);
      const u64 a = matrix_descriptor(rings.of_a.slot(places.of_a.slot) + group * kSlotBlockBytes);
      const u64 b = matrix_descriptor(rings.b.slot(places.b.slot));
      ptx::pin(acc);
      ptx::wgmma_fence();
      multiply_slot<First::kCols, TensorA, TensorB>(a, b, k0 > 0, acc);
      ptx::wgmma_commit();
      ptx::pin(acc);
      if (k0 > 0) {
        ptx::wgmma_wait<1>();
        release(before);
      }
      before = places;
      places.of_a.advance();
      places.b.advance();
    }
    ptx::wgmma_wait<0>();
    ptx::pin(acc);
    release(before);
  }

  /// Sets `acc` to the product of a tile.
  template <class P, int kRows, int kCols>
  static INGOT_DEVICE void multiply_tile(const TileContext& context, const Packed<typename P::A>& a,
                                         RingB ring, typename RingB::Place& place,
                                         f32 (&acc)[kRows][kCols]) {
    using TensorB = typename SlotTensor<typename P::B>::Type;
    constexpr int kSlots = (P::A::kColumns + kSlotK - 1) / kSlotK;
    clear(acc);
    typename RingB::Place before;
#pragma unroll
    for (int number = 0; number < kSlots; ++number) {
      ring.wait_until_full(place);
      const u64 b = matrix_descriptor(ring.slot(place.slot));
      ptx::pin(acc);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < kSlotSteps; ++step)
        ptx::WgmmaFromRegisters<P::kCols, Element, TensorB::kMajor == Major::mn>::run(
            acc, a[0][number * kSlotSteps + step], b + step * kStepUnits<TensorB::kMajor>);
      ptx::wgmma_commit();
      ptx::pin(acc);
      if (number > 0) {
        ptx::wgmma_wait<1>();
        release_b(context, ring, before);
      }
      before = place;
      place.advance();
    }
    ptx::wgmma_wait<0>();
    ptx::pin(acc);
    release_b(context, ring, before);
  }
};

} // namespace ingot
