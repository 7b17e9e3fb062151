// SPDX-License-Identifier: Apache-2.0
// The operands of products by wgmma (sm_90a): from memory to the slots of a ring, and from there to
// the products.
#pragma once

#include "ptx/bulk_copy.cuh"
#include "ptx/wgmma.cuh"
#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/matrix.cuh"
#include "tile/packed.cuh"
#include "tile/prologue.cuh"
#include "tile/slot_ring.cuh"

namespace ingot {

/// The descriptor of a matrix with k innermost, at a shared address (PTX ISA, "Matrix Descriptor
/// Format"): lines of 128 bytes, swizzled, in groups of 8 lines.
INGOT_DEVICE u64 matrix_descriptor(u32 address) {
  constexpr u64 kGroupBytes = 8 * 128, kLeadingUnused = 1, kSwizzle128 = 1;
  return static_cast<u64>((address & 0x3ffff) >> 4) | kLeadingUnused << 16 |
         kGroupBytes >> 4 << 32 | kSwizzle128 << 62;
}

/// The bytes of 64 lines and 64 k in a slot, and the k of a slot.
constexpr int kSlotBlockBytes = 64 * 128, kSlotDepth = sizes::kPackedDepth;

/// The number of slots that a tile's operands fill.
INGOT_DEVICE i32 slots_for(KRange k) {
  return static_cast<i32>((k.end - k.begin + kSlotDepth - 1) / kSlotDepth);
}

// A product of a warpgroup has 64 rows, of which each warp has 16. A warpgroup may have several
// such products, of kBlocks blocks in a slot. Then a warp's rows of the tile, 16 kBlocks adjacent
// ones, lie 16 in each block.

/// The row of the tile whose 16 rows lie at line 16 `part` of block `block` of a slot.
template <int kBlocks> INGOT_DEVICE int row_in_tile(int block, int part) {
  const int group = block / kBlocks, warp = group * 4 + part;
  return warp * 16 * kBlocks + block % kBlocks * 16;
}

/// The copies of a packed operand's kLines rows of a tile to slots, plane by plane, in ascending k.
/// kBlocks: the blocks of a warpgroup; of B, 1. One thread runs them.
template <class Packed, int kLines, int kBlocks> struct SlotCopies {
  static constexpr int kPlanes = Packed::kPlanes, kCount = kLines / 64;
  static constexpr int kBytes = kPlanes * kCount * kSlotBlockBytes; ///< of a slot
  const u8* from[kCount];                                           ///< the next k of each 64 rows

  INGOT_DEVICE SlotCopies(const Packed& packed, i64 batch, i64 row0, i64 k0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      from[i] = packed.block(batch, row0 / 64 + i, k0 / kSlotDepth, 0);
  }

  INGOT_DEVICE void run(u32 to, u32 full) {
    constexpr int kPartBytes = 16 * 128; ///< of 16 rows of a block
    constexpr int kParts = kBlocks == 1 ? 1 : 4, kCopied = kSlotBlockBytes / kParts;
#pragma unroll
    for (int plane = 0; plane < kPlanes; ++plane) {
#pragma unroll
      for (int block = 0; block < kCount; ++block) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          const int row = row_in_tile<kBlocks>(block, part);
          ptx::copy_bulk(to + (plane * kCount + block) * kSlotBlockBytes + part * kPartBytes,
                         from[row / 64] + plane * kSlotBlockBytes + row % 64 / 16 * kPartBytes,
                         kCopied, full);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) from[i] += kPlanes * kSlotBlockBytes;
  }
};

/// By one thread: copies the operands of a tile, in ascending k. An operand X has packed(params). A
/// slot holds the planes of A, then those of B. kBlocks: of A, for each warpgroup.
template <int kTileM, int kTileN, int kBlocks, class A, class B, class Params, class Ring>
INGOT_DEVICE void copy_operands(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                typename Ring::Place& place) {
  SlotCopies<typename A::Packed, kTileM, kBlocks> a(A::packed(params), tile.batch, tile.row0,
                                                    k.begin);
  SlotCopies<typename B::Packed, kTileN, 1> b(B::packed(params), tile.batch, tile.col0, k.begin);
#pragma unroll 1
  for (i32 left = slots_for(k); left > 0; --left) {
    const u32 full = ring.begin_filling(place);
    const u32 to = ring.slot(place.slot);
    a.run(to, full);
    b.run(to + a.kBytes, full);
    place.advance();
  }
}

/// d = [d +] A B for one slot's k, of the kRows / 2 blocks of a warpgroup.
template <int kN, class Element, int kRows>
INGOT_DEVICE void multiply_slot(u64 a, u64 b, bool adds, f32 (&d)[kRows][kN / 4]) {
#pragma unroll
  for (int block = 0; block < kRows / 2; ++block) {
    auto& sums = reinterpret_cast<f32(&)[2][kN / 4]>(d[2 * block]);
#pragma unroll
    for (int step = 0; step < kSlotDepth / 16; ++step)
      ptx::Wgmma<kN, Element>::run(sums, a + block * (kSlotBlockBytes >> 4) + step * 2,
                                   b + step * 2, adds || step > 0);
  }
}

/// Removes the scales of rows and columns from the sums of a tile of layout L. Both powers are
/// removed half at a time. The combined power, or a sum scaled by only one power, may be out of
/// range although the result is not.
template <class L, class PackedA, class PackedB>
INGOT_DEVICE void unscale(const PackedA& a, const PackedB& b, const TileContext& tile,
                          f32 (&acc)[L::kRows][L::kCols]) {
  const auto scale_of = [&](const auto& of, i64 row) {
    return Unscaling(row < of.rows ? of.row(tile.batch, row).shift : 0);
  };
  i32 thread = tile.thread;
  Unscaling row_scale[L::kRows];
#pragma unroll
  for (int i = 0; i < L::kRows; ++i) row_scale[i] = scale_of(a, tile.row0 + L::row(thread, i));
#pragma unroll
  for (int j = 0; j < L::kCols; ++j) {
    // Opaque, so that not all shifts are loaded at once.
    if (j % 16 == 0) thread = ptx::opaque(thread);
    const Unscaling scale = scale_of(b, tile.col0 + L::col(thread, j));
#pragma unroll
    for (int i = 0; i < L::kRows; ++i)
      acc[i][j] = acc[i][j] * (row_scale[i].half * scale.half) * (row_scale[i].rest * scale.rest);
  }
}

// A source of the specialised skeleton:
//   using Layout, Ring, Place
//   slots_of(k)                            the slots that a tile fills
//   copy(params, tile, k, ring, place)     by one thread: fills them
//   multiply(thread, k, ring, place, acc, seen)
//                                          by the warpgroups that share a tile: its sums. `seen()`
//                                          is called once the last slot has been waited for.
//                                          `thread` is the index among all of them
//   finish(params, tile, acc)              makes the sums those of the operands as they were

/// All of a source but multiply. Config gives kTileM, kTileN, kTileK, kWarpM and kRingSlots.
template <class Config, class A, class B> struct WgmmaSource {
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kBlocks = Config::kWarpM / 16;     ///< of 64 rows, of a warpgroup
  static constexpr int kGroups = kTileM / (64 * kBlocks); ///< warpgroups that share a tile
  static_assert(kTileK == kSlotDepth && kTileM % 64 == 0 && kTileN % 64 == 0,
                "slots hold whole blocks");
  /// A warp has 16 rows of each block and all columns, as mma.sync lays them out (PTX ISA,
  /// "Register Fragments for wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, Config::kWarpM, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  static constexpr int kPlaneOfA = kTileM / 64 * kSlotBlockBytes;
  static constexpr int kPlaneOfB = kTileN / 64 * kSlotBlockBytes;
  static constexpr int kBytesOfA = A::Packed::kPlanes * kPlaneOfA;
  static constexpr int kSlotBytes = kBytesOfA + B::Packed::kPlanes * kPlaneOfB;
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, kGroups>;
  using Place = typename Ring::Place;

  static INGOT_DEVICE i32 slots_of(KRange k) { return slots_for(k); }

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    copy_operands<kTileM, kTileN, kBlocks, A, B>(params, tile, k, ring, place);
  }

  template <class Params>
  static INGOT_DEVICE void finish(const Params& params, const TileContext& tile, Sums& acc) {
    if constexpr (A::Packed::Split::kScales)
      unscale<Layout>(A::packed(params), B::packed(params), tile, acc);
  }

protected:
  /// The descriptors of the operands of a warpgroup, in the first slot.
  static INGOT_DEVICE u64 first_a(Ring ring, i32 group) {
    return matrix_descriptor(ring.slot(0) + group * kBlocks * kSlotBlockBytes);
  }
  static INGOT_DEVICE u64 first_b(Ring ring) { return matrix_descriptor(ring.slot(0) + kBytesOfA); }
};

} // namespace ingot
