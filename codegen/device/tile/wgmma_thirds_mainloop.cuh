// SPDX-License-Identifier: Apache-2.0
// The mainloop of f32 products on sm_90a for operands as they lie in memory: six products of bf16
// thirds (tile/thirds.cuh) for one f32 product, by wgmma. Copies fill a ring of slots with f32. The
// warpgroups that multiply split A in registers. Three warps beside the copying thread split B to a
// second ring, which wgmma reads. Config gives kTileM, kTileN, kTileK, kWarpM, kRingSlots,
// kCluster, kInBands and kTotalEvery.
#pragma once

#include "tile/cut_off.cuh"
#include "tile/issue_turns.cuh"
#include "tile/promotion.cuh"
#include "tile/thirds.cuh"
#include "tile/totals.cuh"
#include "tile/wgmma_operands.cuh"

namespace ingot {

/// The k of a slot: a line of f32.
constexpr int kSplitDepth = sizes::box_elements(sizeof(f32));

/// An f32 operand in a slot. Lines of 128 bytes have the slot's k of a row, or 32 rows of one k.
/// Their chunks of 16 bytes are swizzled.
template <Major kMajor> struct SlotOfF32 {
  static constexpr int kChunks = 8; ///< of a line

  /// The byte of a chunk of a line.
  static INGOT_DEVICE constexpr u32 chunk_place(u32 line, u32 chunk) {
    return line * 128 + ((chunk ^ line % 8) * 16);
  }
  /// The byte of an element.
  static INGOT_DEVICE constexpr u32 place(u32 mn, u32 k) {
    const u32 line = kMajor == Major::k ? mn : mn / 32 * 32 + k;
    const u32 along = kMajor == Major::k ? k : mn % 32;
    return chunk_place(line, along / 4) + along % 4 * 4;
  }
};

/// The thirds of a slot of B in bf16, plane by plane. A plane has lines of 64 bytes with the k of a
/// column. Or it has blocks of 64 columns: lines of 128 bytes with the columns of one k. Chunks are
/// swizzled over the bytes of a line (PTX ISA, "Swizzling Modes").
template <Major kMajor, int kLines> struct SplitSlot {
  using From = SlotOfF32<kMajor>;
  static constexpr bool kIsK = kMajor == Major::k;
  static constexpr int kPlaneBytes = kLines * kSplitDepth * 2;
  static constexpr int kBytes = kThirds * kPlaneBytes;
  static constexpr int kBlockBytes = kSplitDepth * 128; ///< of 64 columns
  /// The distance of the k of products of 16, in a descriptor's units of 16 bytes.
  static constexpr int kStepUnits = (kIsK ? 16 * 2 : 16 * 128) >> 4;

  /// The descriptor of a plane at a shared address.
  static INGOT_DEVICE u64 descriptor(u32 address) {
    return matrix_descriptor<kBlockBytes, kIsK ? 64 : 128>(address);
  }

  /// Splits the slot `from` to `to`, by kWarps warps. A warp takes units of 8 lines, and a lane 8
  /// adjacent elements of a line. It loads several units before it stores the first one, because
  /// the compiler does not move loads past stores.
  template <int kWarps> static INGOT_DEVICE void split(const u8* from, u8* to, i32 thread) {
    constexpr u32 kUnits = kLines / 8, kOfWarp = (kUnits + kWarps - 1) / kWarps, kHeld = 3;
    const u32 warp = index_of(thread) / 32, lane = index_of(thread) % 32;
    const u32 chunk = lane % 4 * 2;
#pragma unroll
    for (u32 first = 0; first < kOfWarp; first += kHeld) {
      Vector<f32, 4> held[kHeld][2];
      const auto line_of = [&](u32 i) {
        // A warp with a unit less splits its last one again rather than branch.
        const u32 unit = (first + i) * kWarps + warp;
        return (unit < kUnits ? unit : unit - kWarps) * 8 + lane / 4;
      };
#pragma unroll
      for (u32 i = 0; i < kHeld; ++i) {
#pragma unroll
        for (u32 half = 0; half < 2; ++half)
          if (first + i < kOfWarp)
            held[i][half] = load_vector<4>(
                reinterpret_cast<const f32*>(from + From::chunk_place(line_of(i), chunk + half)));
      }
#pragma unroll
      for (u32 i = 0; i < kHeld; ++i)
        if (first + i < kOfWarp) store(held[i], to + place(line_of(i), chunk));
    }
  }

private:
  static INGOT_DEVICE void store(const Vector<f32, 4> (&eight)[2], u8* to) {
    Vector<u32, 4> planes[kThirds];
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      u32 thirds[kThirds];
      split_pair(eight[pair / 2].v[pair % 2 * 2], eight[pair / 2].v[pair % 2 * 2 + 1], thirds);
#pragma unroll
      for (int third = 0; third < kThirds; ++third) planes[third].v[pair] = thirds[third];
    }
#pragma unroll
    for (int third = 0; third < kThirds; ++third)
      store_vector(reinterpret_cast<u32*>(to + third * kPlaneBytes), planes[third]);
  }
  /// The byte, in a plane, of the eight elements from an even chunk of f32 on.
  static INGOT_DEVICE u32 place(u32 line, u32 chunk) {
    if constexpr (kIsK) return line * 64 + ((chunk / 2 ^ line / 2 % 4) * 16);
    const u32 column = line / 32 * 32 + chunk * 4, k = line % 32;
    return column / 64 * kBlockBytes + k * 128 + ((column % 64 / 8 ^ k % 8) * 16);
  }
};

template <class Config, class A, class B> struct WgmmaThirdsMainloop {
  using TensorA = typename SlotTensor<A>::Type;
  using TensorB = typename SlotTensor<B>::Type;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kCluster = 1, kGroups = kTileM / 64;
  static constexpr bool kInBands = Config::kInBands, kSplitsB = true;
  static constexpr bool kCompensated = true, kListsResiduals = false;
  static constexpr int kFactorBytes = 0;
  static_assert(sizeof(typename TensorA::Element) == 4 && sizeof(typename TensorB::Element) == 4,
                "f32 is split");
  static_assert(kTileK == kSplitDepth && Config::kWarpM == 16 && Config::kCluster == 1,
                "a warpgroup has 64 rows of a slot");

  /// A warp has 16 rows and all columns (PTX ISA, "Register Fragments for
  /// wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, 16, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];
  using LongSums = Totals<Layout, Config::kTotalEvery / kTileK>;
  using SlotA = SlotOfF32<TensorA::kMajor>;
  using SlotB = SplitSlot<TensorB::kMajor, kTileN>;

  /// Warps read f32 by themselves, and each releases a slot for itself.
  static constexpr int kSplitting = sizes::kBesideWarps, kMultiplying = 4 * kGroups;
  static constexpr int kBytesOfA = kTileM * 128, kSlotBytes = kBytesOfA + kTileN * 128;
  using RingOfF32 = SlotRing<Config::kRingSlots, kSlotBytes, kSplitting + kMultiplying, 1>;
  using SplitRing = SlotRing<sizes::kSplitSlots, SlotB::kBytes, kGroups, 1, kSplitting>;
  static constexpr int kFirstSplit = sizes::aligned_ring_bytes(Config::kRingSlots, kSlotBytes);
  static constexpr int kFirstTotal =
      kFirstSplit + sizes::aligned_ring_bytes(sizes::kSplitSlots, SlotB::kBytes);
  struct Ring {
    static constexpr int kBytes = kFirstTotal + LongSums::kBytes;
    static_assert(kBytes == sizes::thirds_ring_bytes(kTileM, kTileN, Config::kRingSlots,
                                                     Config::kTotalEvery > 0),
                  "the host plans with this memory");
    u32 base; ///< the shared address of the block's memory, a multiple of 1024

    INGOT_DEVICE RingOfF32 f32_slots() const { return {base}; }
    INGOT_DEVICE SplitRing split_slots() const { return {base + kFirstSplit}; }
    INGOT_DEVICE void make() const {
      f32_slots().make();
      split_slots().make();
    }
  };
  struct Place {
    typename RingOfF32::Place in_f32;
    typename SplitRing::Place in_split;
  };

  static INGOT_DEVICE i32 slots_of(KRange k) { return slots_for<kTileK>(k); }

  /// By one thread: fills the slots of a tile.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    copy_operands<kTileM, kTileN, 1, 1, A, B>(params, tile, k, ring.f32_slots(), place.in_f32);
  }

  /// By the warps beside the copying thread: splits B of the slots of a tile. `thread`: the index
  /// among them.
  static INGOT_DEVICE void split(i32 thread, KRange k, Ring ring, Place& place) {
    const RingOfF32 from = ring.f32_slots();
    const SplitRing to = ring.split_slots();
#pragma unroll 1
    for (i32 left = slots_of(k); left > 0; --left) {
      from.wait_until_full(place.in_f32);
      to.wait_until_free(place.in_split);
      SlotB::template split<kSplitting>(
          ptx::shared_memory() + place.in_f32.slot * kSlotBytes + kBytesOfA,
          ptx::shared_memory() + kFirstSplit + place.in_split.slot * SlotB::kBytes, thread);
      ptx::order_with_products();
      ptx::warp_barrier();
      if (index_of(thread) % 32 == 0) {
        from.release(place.in_f32);
        to.mark_full(place.in_split);
      }
      place.in_f32.advance();
      place.in_split.advance();
    }
  }

  /// Before the first tile, by the warpgroups that share it.
  static INGOT_DEVICE void begin(i32 thread) { IssueTurns<kGroups>::begin(thread); }

  template <class Seen>
  static INGOT_DEVICE void multiply(i32 thread, KRange k, Ring ring, Place& place, Sums& acc,
                                    Seen seen) {
    const SplitRing in_split = ring.split_slots();
    const IssueTurns<kGroups> turns(thread);
    LongSums totals(ptx::shared_memory() + kFirstTotal, thread);
    Thirds a;
    Sums part;
    clear(acc);
    i32 left = slots_of(k);
    if (left > 0) take_a(thread, ring.f32_slots(), place, a);
    if (left == 1) seen();
#pragma unroll 1
    for (; left > 0; --left) {
      in_split.wait_until_full(place.in_split);
      const u64 b = SlotB::descriptor(in_split.slot(place.in_split.slot));
      turns.wait();
      ptx::pin(part);
      ptx::wgmma_fence();
      multiply_slot(a, b, part);
      ptx::wgmma_commit();
      turns.pass();
      ptx::pin(part);
      Thirds next; // split beside the products
      if (left > 1) {
        take_a(thread, ring.f32_slots(), place, next);
        ptx::complete(next);
        if (left == 2) seen();
      }
      ptx::wgmma_wait<0>();
      ptx::pin(part);
      if (index_of(thread) % sizes::kWarpgroup == 0) in_split.release(place.in_split);
      place.in_split.advance();
      totals.count(acc);
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Layout::kCols; ++j) acc[i][j] += part[i][j];
      }
      if (left > 1) copy_thirds(next, a);
    }
    totals.finish(acc);
    add_cut_off<CutOffThirds>(acc);
  }

  /// By the threads of a tile: removes the scale of the thirds from its sums. A sum that is not
  /// finite may be one of thirds that are not, and is computed again from f32.
  template <class Params>
  static INGOT_DEVICE void complete(const Params& params, const TileContext& tile, KRange k,
                                    Sums& acc) {
    static_assert(Layout::kRows * Layout::kCols <= 64, "a bit for each sum");
    u64 again = 0;
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < Layout::kCols; ++j) {
        acc[i][j] *= kThirdsUnscale;
        const bool is_finite = acc[i][j] * 0.0f == 0.0f;
        again |= is_finite ? 0 : u64{1} << (i * Layout::kCols + j);
      }
    }
    if (again == 0) return;
#pragma unroll 1
    for (int number = 0; number < Layout::kRows * Layout::kCols; ++number) {
      if ((again >> number & 1) == 0) continue;
      const int own_row = number / Layout::kCols, own_col = number % Layout::kCols;
      const i64 row = tile.row0 + Layout::row(tile.thread, own_row);
      const i64 col = tile.col0 + Layout::col(tile.thread, own_col);
      if (row >= tile.row_end || col >= tile.col_end) continue;
      const f32 sum = exact_sum(params, tile.batch, row, col, k);
#pragma unroll
      for (int i = 0; i < Layout::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < Layout::kCols; ++j)
          if (i == own_row && j == own_col) acc[i][j] = sum;
      }
    }
  }

private:
  static constexpr int kSteps = kSplitDepth / 16;

  /// The thirds of a thread's rows of a slot: operand A of products of 16 k in registers (PTX ISA,
  /// "Register Fragments for wgmma.mma_async.m64nNk16", A).
  using Thirds = u32[kSteps][kThirds][4];

  /// Waits for the next slot of f32, takes the thread's rows, and releases the slot.
  static INGOT_DEVICE void take_a(i32 thread, RingOfF32 ring, Place& place, Thirds& a) {
    ring.wait_until_full(place.in_f32);
    const u32 slot = ring.slot(place.in_f32.slot);
    const auto row = static_cast<u32>(Layout::first_row(thread)), lane = index_of(thread) % 4;
    u32 pairs[kSteps][4][2];
#pragma unroll
    for (u32 step = 0; step < kSteps; ++step) {
#pragma unroll
      for (u32 r = 0; r < 4; ++r) {
        const u32 mn = row + r % 2 * 8, first = 16 * step + r / 2 * 8 + 2 * lane;
        auto& pair = pairs[step][r];
        if constexpr (TensorA::kMajor == Major::k) {
          ptx::load_shared(slot + SlotA::place(mn, first), pair[0], pair[1]);
        } else {
          pair[0] = ptx::load_shared(slot + SlotA::place(mn, first));
          pair[1] = ptx::load_shared(slot + SlotA::place(mn, first + 1));
        }
      }
    }
    ptx::warp_barrier();
    if (index_of(thread) % 32 == 0) ring.release(place.in_f32);
    place.in_f32.advance();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        u32 thirds[kThirds];
        split_pair(ptx::as_f32(pairs[step][r][0]), ptx::as_f32(pairs[step][r][1]), thirds);
#pragma unroll
        for (int third = 0; third < kThirds; ++third) a[step][third][r] = thirds[third];
      }
    }
  }

  static INGOT_DEVICE void copy_thirds(const Thirds& from, Thirds& to) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int third = 0; third < kThirds; ++third) {
#pragma unroll
        for (int r = 0; r < 4; ++r) to[step][third][r] = from[step][third][r];
      }
    }
  }

  /// Sets `part` to the products of a slot's 32 k. Tensor cores truncate sums, so small products
  /// come first: of twelve, the last two truncate at the size of the sum.
  static INGOT_DEVICE void multiply_slot(const Thirds& a, u64 b, Sums& part) {
    using Product = ptx::WgmmaFromRegisters<kTileN, bf16, TensorB::kMajor == Major::mn>;
#pragma unroll
    for (int order = kThirds - 1; order >= 0; --order) { // of 2^(-8 order)
#pragma unroll
      for (int of_a = order; of_a >= 0; --of_a) {
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          const u64 plane =
              b + (order - of_a) * (SlotB::kPlaneBytes >> 4) + step * SlotB::kStepUnits;
          if (order == kThirds - 1 && of_a == order && step == 0)
            Product::template run<false>(part, a[step][of_a], plane);
          else
            Product::run(part, a[step][of_a], plane);
        }
      }
    }
  }

  /// The sum over k of the products of a row and a column, by FMA.
  template <class Params>
  static INGOT_DEVICE f32 exact_sum(const Params& params, i64 batch, i64 row, i64 col, KRange k) {
    f32 result[1][1];
    ingot::Sums<sizes::kPromoteEvery, 1, 1> sums(result);
#pragma unroll 1
    for (i64 first = k.begin; first < k.end; first += sizes::kPromoteEvery) {
#pragma unroll 1
      for (int chain = 0; chain < sizes::kPromoteEvery; chain += kChain) {
        f32 sum[1][1] = {};
#pragma unroll 1
        for (i64 at = first + chain; at < first + chain + kChain && at < k.end; ++at)
          sum[0][0] =
              ptx::fma(*A::at(params, batch, row, at), *B::at(params, batch, col, at), sum[0][0]);
        sums.add(sum);
      }
      sums.promote();
    }
    sums.finish();
    return result[0][0];
  }
};

} // namespace ingot
