// SPDX-License-Identifier: Apache-2.0
// The mainloop by wgmma (sm_90a) of a product whose operand A the kernel computes step by step
// along K (tile/computed_steps.cuh). The accumulators of a step's inner product become operand A in
// registers. The stages of a step run beside the product of the step before it (Shah et al.,
// "FlashAttention-3", 2024).
#pragma once

#include "tile/computed_steps.cuh"
#include "tile/wgmma_operands.cuh"

namespace ingot {

// Config gives kTileM, kTileN, kTileK (the step along K, which is the inner tile's columns), kDepth
// (the inner K, padded to whole lines) and kRingSlots.

/// The copies of an operand's rows of a tile and its k: a line of k at a time.
template <class X, int kLines, int kK> struct TileCopies {
  using Tensor = typename SlotTensor<X>::Type;
  using Copies = SlotCopies<Tensor, kLines, 1, 1>;
  static constexpr int kLineK = kSlotDepth<Tensor>;
  static constexpr int kParts = kK / kLineK, kBytes = kParts * Copies::kBytes;
  static_assert(kK % kLineK == 0, "whole lines of k");

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, i64 batch, i64 row0, i64 k0, u32 to,
                               u32 full) {
    Copies copies(SlotTensor<X>::of(params, batch), batch, row0, k0);
#pragma unroll
    for (int part = 0; part < kParts; ++part) copies.run(to + part * Copies::kBytes, full);
  }
};

/// A source for the skeleton nested_specialised. Its operands are mapped.
template <class Config, class T, class B> struct NestedWgmmaMainloop {
  using Admits = typename T::Admits;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr int kTileK = Config::kTileK, kDepth = Config::kDepth;
  static constexpr int kGroups = kTileM / 64; ///< warpgroups that multiply; each has 64 rows

  /// A warp has 16 rows and all columns (PTX ISA, "Register Fragments for
  /// wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, 16, kTileN>;
  using Inner = MmaLayout<4 * kGroups, 1, 16, kTileK>;
  using CopiesOfA = TileCopies<typename T::A, kTileM, kDepth>;
  using CopiesOfB = TileCopies<typename T::B, kTileK, kDepth>;
  using CopiesB = TileCopies<B, kTileN, kTileK>;
  using TensorOfA = typename CopiesOfA::Tensor;
  using TensorOfB = typename CopiesOfB::Tensor;
  using TensorB = typename CopiesB::Tensor;
  using Element = typename TensorB::Element;
  using Steps = ComputedSteps<T, Inner, Element>;

  /// Rows of the inner A for a tile; the inner B and B for a step, in slots of their own: the next
  /// step's inner B is read before this step's B.
  template <int kSlots, int kBytes> using Ring = SlotRing<kSlots, kBytes, kGroups, 1>;
  using RingOfA = Ring<1, CopiesOfA::kBytes>;
  using RingOfB = Ring<Config::kRingSlots, CopiesOfB::kBytes>;
  using RingB = Ring<Config::kRingSlots, CopiesB::kBytes>;
  struct Rings {
    RingOfA of_a;
    RingOfB of_b;
    RingB b;
    INGOT_DEVICE void make() const {
      of_a.make();
      of_b.make();
      b.make();
    }
  };
  struct Places {
    typename RingOfA::Place of_a;
    typename RingOfB::Place of_b;
    typename RingB::Place b;
  };
  static constexpr int kFirstOfB = sizes::aligned_ring_bytes(1, CopiesOfA::kBytes);
  static constexpr int kFirstB =
      kFirstOfB + sizes::aligned_ring_bytes(Config::kRingSlots, CopiesOfB::kBytes);
  static constexpr int kRingBytes =
      kFirstB + sizes::aligned_ring_bytes(Config::kRingSlots, CopiesB::kBytes);
  static_assert(kRingBytes == sizes::nested_ring_bytes(kTileM, kTileN, kTileK, kDepth,
                                                       Config::kRingSlots, sizeof(Element)),
                "the host plans with this memory");
  /// `base`: a shared address, a multiple of 1024.
  static INGOT_DEVICE Rings rings(u32 base) {
    return {{base}, {base + kFirstOfB}, {base + kFirstB}};
  }

  /// By one thread: copies the operands of a tile.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k,
                                const Rings& rings, Places& places) {
    const StepsAlongK<Inner> steps = {k};
    i32 step = steps.template used<T>(params, tile, 0);
    if (step == steps.count()) return;
    const auto fill = [&](auto* copies, auto ring, auto& place, i64 row0, i64 k0) {
      const u32 full = ring.begin_filling(place);
      copies->run(params, tile.batch, row0, k0, ring.slot(place.slot), full);
      place.advance();
    };
    fill(static_cast<CopiesOfA*>(nullptr), rings.of_a, places.of_a, tile.row0, 0);
#pragma unroll 1
    for (; step < steps.count(); step = steps.template used<T>(params, tile, step + 1)) {
      const i64 k0 = steps.tile(tile, step).col0;
      fill(static_cast<CopiesOfB*>(nullptr), rings.of_b, places.of_b, k0, 0);
      fill(static_cast<CopiesB*>(nullptr), rings.b, places.b, tile.col0, k0);
    }
  }

  /// By the warpgroups that multiply, once.
  static INGOT_DEVICE void begin(i32 thread) {
    if (kTakesTurns && group_of(thread) == kGroups - 1) pass_turn(kGroups - 1);
  }

  /// By the warpgroups that multiply: sets slot 0 to the product. `results` receives the results of
  /// the running reductions.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void multiply(const Params& params, const TileContext& context, KRange k,
                                    const Rings& rings, Places& places,
                                    Fragment<Layout, kSlots>& fragment, Results& results) {
    auto& acc = fragment.v[0];
    const StepsAlongK<Inner> steps = {k};
    const int group = group_of(context.thread);
    const bool releases = index_of(context.thread) % sizes::kWarpgroup == 0;
    const auto release = [&](auto ring, auto& place) {
      if (releases) ring.release(place);
      place.advance();
    };
    Steps computed;
    clear(acc);
    i32 step = steps.template used<T>(params, context, 0);
    if (step < steps.count()) {
      const u64 of_a = matrix_descriptor(rings.of_a.slot(0) + group * kSlotBlockBytes);
      Steps::prefetch_stages(params, steps.tile(context, step));
      rings.of_a.wait_until_full(places.of_a);
      typename Steps::Tile tile;
      start_inner(of_a, rings.of_b, places.of_b, tile.v[0]);
      ptx::wgmma_wait<0>();
      ptx::pin(tile.v[0]);
      release(rings.of_b, places.of_b);
      computed.run_stages(params, steps.tile(context, step), tile);
      typename Steps::Packed a;
      Steps::pack(params, steps.tile(context, step), tile, a);
      step = steps.template used<T>(params, context, step + 1);
#pragma unroll 1
      while (step < steps.count()) {
        Steps::prefetch_stages(params, steps.tile(context, step));
        if constexpr (kTakesTurns) ptx::wait_for_issue(kFirstTurn + group, kTurnThreads);
        start_inner(of_a, rings.of_b, places.of_b, tile.v[0]);
        start(a, rings.b, places.b, acc);
        if constexpr (kTakesTurns) pass_turn(group);
        ptx::wgmma_wait<1>();
        ptx::pin(tile.v[0]);
        release(rings.of_b, places.of_b);
        const TileContext own = steps.tile(context, step);
        computed.run_stages(params, own, tile);
        ptx::pin(tile.v[0]); // the stages run before the wait
        ptx::wgmma_wait<0>();
        ptx::pin(acc);
        release(rings.b, places.b);
        computed.rescale(acc);
        Steps::pack(params, own, tile, a);
        step = steps.template used<T>(params, context, step + 1);
      }
      release(rings.of_a, places.of_a);
      start(a, rings.b, places.b, acc);
      ptx::wgmma_wait<0>();
      ptx::pin(acc);
      release(rings.b, places.b);
    }
    computed.finish(context.thread, results);
  }

private:
  /// Warpgroups issue a step's products in turns. The stages of one then run beside the products of
  /// others. Groups whose products take longer than their stages would wait for their turn.
  static constexpr bool kTakesTurns = kTileN + kDepth <= 128;
  static constexpr int kFirstTurn = 2; ///< the first group's barrier; stages have the one before
  static constexpr int kTurnThreads = 2 * sizes::kWarpgroup;

  static INGOT_DEVICE int group_of(i32 thread) { return ptx::uniform(thread / sizes::kWarpgroup); }
  static INGOT_DEVICE void pass_turn(int group) {
    ptx::pass_issue(kFirstTurn + (group + 1) % kGroups, kTurnThreads);
  }

  /// Starts the inner product of a step.
  static INGOT_DEVICE void start_inner(u64 of_a, RingOfB ring, typename RingOfB::Place place,
                                       f32 (&sums)[Inner::kRows][Inner::kCols]) {
    ring.wait_until_full(place);
    const u64 of_b = matrix_descriptor(ring.slot(place.slot));
    ptx::pin(sums);
    ptx::wgmma_fence();
#pragma unroll
    for (int part = 0; part < CopiesOfA::kParts; ++part)
      multiply_slot<kTileK, TensorOfA, TensorOfB>(of_a + part * (CopiesOfA::Copies::kBytes >> 4),
                                                  of_b + part * (CopiesOfB::Copies::kBytes >> 4),
                                                  part > 0, sums);
    ptx::wgmma_commit();
    ptx::pin(sums);
  }

  /// Starts the product of a step's tile.
  static INGOT_DEVICE void start(const typename Steps::Packed& a, RingB ring,
                                 typename RingB::Place place,
                                 f32 (&acc)[Layout::kRows][Layout::kCols]) {
    ring.wait_until_full(place);
    const u64 b = matrix_descriptor(ring.slot(place.slot));
    ptx::pin(acc);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < kTileK / 16; ++step)
      ptx::WgmmaFromRegisters<kTileN, Element, TensorB::kMajor == Major::mn>::run(
          acc, a[0][step],
          b + step / kSlotSteps * (CopiesB::Copies::kBytes >> 4) +
              step % kSlotSteps * kStepUnits<TensorB::kMajor>);
    ptx::wgmma_commit();
    ptx::pin(acc);
  }
};

} // namespace ingot
