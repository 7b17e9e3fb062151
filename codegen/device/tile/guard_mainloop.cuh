// SPDX-License-Identifier: Apache-2.0
// The guard of a product of scaled rows (sm_90a): it computes the tiles again whose rows do not
// suit, with the tiles and the stages of the kernel that computed all of them. Config gives kTileM,
// kTileN, kTileK, kWarpM and kWarpN.
#pragma once

#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/mma_mainloop.cuh"
#include "tile/packed.cuh"
#include "tile/safe_mainloop.cuh"

namespace ingot {

/// Safe: a mainloop that computes such a tile.
template <class Config, class A, class B, class Safe> struct Guard : Safe {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN;
  static constexpr bool kFillsRegisters = true;
  static constexpr bool kSkipsTiles = true;
  using Layout = typename Safe::Layout;

  /// Whether any tile may be computed here. Returns the same in all threads. Each block looks at
  /// all rows, because most products have no such tile: at a byte of each, and at the records if
  /// the bytes do not decide.
  template <class Params> static INGOT_DEVICE bool takes_any(const Params& params) {
    const auto a = A::packed(params);
    const auto b = B::packed(params);
    if (bytes_suit(a, b)) return false;
    HalvedTile all = HalvedTile::none();
    // Reading is all that most launches do, so a thread has several reads under way.
    constexpr int kUnderWay = 8;
    const auto add = [&](const auto& of, bool of_a) {
      const HalvedRow* const records = of.records();
      const i64 count = of.batches * of.rows;
      for (i64 i = ptx::thread_index(); i < count; i += kUnderWay * Layout::kThreads) {
        HalvedRow read[kUnderWay];
#pragma unroll
        for (int u = 0; u < kUnderWay; ++u) // the last one again has no effect
          read[u] = records[min_of(i + u * Layout::kThreads, count - 1)];
#pragma unroll
        for (int u = 0; u < kUnderWay; ++u) all.add(read[u], of_a);
      }
    };
    add(a, true);
    add(b, false);
    return !suits(all, ptx::thread_index(), a.depth);
  }

  /// Whether this tile is computed here. Returns the same in all threads.
  template <class Params>
  static INGOT_DEVICE bool takes(const Params& params, const TileContext& context, i64 m, i64 n) {
    const auto a = A::packed(params);
    const auto b = B::packed(params);
    HalvedTile tile = HalvedTile::none();
    for (int i = context.thread; i < kTileM + kTileN; i += Layout::kThreads) {
      const bool of_a = i < kTileM;
      const i64 mn = of_a ? context.row0 + i : context.col0 + i - kTileM;
      if (mn >= (of_a ? m : n)) continue;
      tile.add(of_a ? a.row(context.batch, mn) : b.row(context.batch, mn), of_a);
    }
    return !suits(tile, context.thread, a.depth);
  }

private:
  /// True if all rows of A suit all rows of B by their bytes. Returns the same in all threads.
  template <class PackedA, class PackedB>
  static INGOT_DEVICE bool bytes_suit(const PackedA& a, const PackedB& b) {
    constexpr int kWarps = Layout::kThreads / 32;
    const u32 own_a = lanes_bits(a), own_b = lanes_bits(b);
    auto* const warps = reinterpret_cast<u32*>(ptx::shared_memory());
    const i32 thread = ptx::thread_index();
    if (thread % 32 == 0) {
      warps[thread / 32] = own_a;
      warps[kWarps + thread / 32] = own_b;
    }
    ptx::block_barrier();
    u32 all_a = 0, all_b = 0;
    for (int warp = 0; warp < kWarps; ++warp) {
      all_a |= warps[warp];
      all_b |= warps[kWarps + warp];
    }
    ptx::block_barrier(); // records overlay the bits
    return RowBits::suit(all_a, all_b);
  }

  /// The RowBits of the rows of a packed operand at which a warp looks, or'ed.
  template <class Packed> static INGOT_DEVICE u32 lanes_bits(const Packed& of) {
    using Sixteen = Vector<u32, 4>;
    static_assert(Packed::kRows % 16 == 0, "vectors have whole rows");
    const i64 vectors = of.batches * of.stored_rows() / 16;
    const u8* const bytes = of.row_bits();
    u32 bits = 0;
#pragma unroll 4
    for (i64 i = ptx::thread_index(); i < vectors; i += Layout::kThreads) {
      const Sixteen sixteen = load_vector<4>(reinterpret_cast<const u32*>(bytes) + 4 * i);
      bits |= sixteen.v[0] | sixteen.v[1] | sixteen.v[2] | sixteen.v[3];
    }
    return combined_in_warp(RowBits::merged(bits), [](u32 x, u32 y) { return x | y; });
  }

  /// Whether the records that the threads have merged suit.
  static INGOT_DEVICE bool suits(HalvedTile merged, i32 thread, i64 depth) {
    merged.add_lanes();
    auto* const warps = reinterpret_cast<HalvedTile*>(ptx::shared_memory());
    if (index_of(thread) % 32 == 0) warps[index_of(thread) / 32] = merged;
    ptx::block_barrier();
    for (int warp = 0; warp < Layout::kThreads / 32; ++warp) merged.add(warps[warp]);
    ptx::block_barrier(); // the products overlay the warps' records
    // All lanes have the same result. The vote says so to the assembler.
    return ptx::any_lane(merged.suits(depth));
  }
};

/// As SafeMainloop, of Config's layout.
template <class Config, class A, class B>
struct SafeTiles
    : SafeMainloop<MmaLayout<Config::kTileM / Config::kWarpM, Config::kTileN / Config::kWarpN,
                             Config::kWarpM, Config::kWarpN>,
                   A, B> {};

/// The guard of f32 products from halves, in multiply-adds.
template <class Config, class A, class B>
using GuardMainloop = Guard<Config, A, B, SafeTiles<Config, A, B>>;

/// The guard of f32 products of scaled f16, on tensor cores by mma.sync in TF32.
template <class Config, class A, class B>
using TensorGuardMainloop = Guard<Config, A, B, MmaMainloop<Config, A, B>>;

} // namespace ingot
