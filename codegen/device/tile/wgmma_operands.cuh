// SPDX-License-Identifier: Apache-2.0
// The operands of products by wgmma (sm_90a): from memory to the slots of a ring, and from there to
// the products.
#pragma once

#include "ptx/bulk_copy.cuh"
#include "ptx/wgmma.cuh"
#include "sizes/tensor_boxes.h"
#include "tile/halves.cuh"
#include "tile/layout.cuh"
#include "tile/mapped.cuh"
#include "tile/matrix.cuh"
#include "tile/packed.cuh"
#include "tile/prologue.cuh"
#include "tile/residual_products.cuh"
#include "tile/slot_ring.cuh"

namespace ingot {

// A slot holds blocks of 64 rows. A block has 64 lines of 128 bytes, swizzled. A line has the
// slot's k of a row: 64 of 16 bits, or 32 of f32. Or it has 64 rows of one k, or 32 rows of f32.
constexpr int kSlotBlockBytes = 64 * 128;
/// The k of a slot of a tensor (SlotTensor).
template <class Tensor>
constexpr int kSlotDepth = sizes::box_elements(sizeof(typename Tensor::Element));

/// The descriptor of a matrix in blocks at a shared address (PTX ISA, "Matrix Descriptor Format",
/// and "Strides"). The stride is that of groups of 8 lines of 128 or 64 bytes. The leading one is
/// that of blocks; if k is innermost, it is not used.
template <int kBlockBytes = kSlotBlockBytes, int kLineBytes = 128>
INGOT_DEVICE u64 matrix_descriptor(u32 address) {
  static_assert(kLineBytes == 128 || kLineBytes == 64, "a line is a span of the swizzle");
  constexpr u64 kGroupBytes = 8 * kLineBytes, kSwizzle = kLineBytes == 128 ? 1 : 2;
  return static_cast<u64>((address & 0x3ffff) >> 4) | (u64{kBlockBytes} >> 4) << 16 |
         kGroupBytes >> 4 << 32 | kSwizzle << 62;
}
/// The products of a slot, and the distance of their k in a block, in a descriptor's units of 16
/// bytes: 32 bytes of a line, or 16 lines of 16-bit rows.
constexpr int kSlotSteps = 128 / 32;
template <Major kMajor> constexpr int kStepUnits = (kMajor == Major::k ? 32 : 16 * 128) >> 4;

/// The tensor from which the slots of an operand X are filled: X::mapped(params, batch), or
/// X::packed(params).
template <class X, bool kIsMapped = X::kPath == OperandPath::mapped> struct SlotTensor {
  using Type = typename X::Packed;
  template <class Params> static INGOT_DEVICE Type of(const Params& params, i64) {
    return X::packed(params);
  }
};
template <class X> struct SlotTensor<X, true> {
  using Type = typename X::Mapped;
  template <class Params> static INGOT_DEVICE Type of(const Params& params, i64 batch) {
    return X::mapped(params, batch);
  }
};

/// The number of slots of kDepth k that a tile's operands fill.
template <int kDepth> INGOT_DEVICE i32 slots_for(KRange k) {
  return static_cast<i32>((k.end - k.begin + kDepth - 1) / kDepth);
}

// A product of a warpgroup has 64 rows, of which each warp has 16. A warpgroup may have several
// such products, of kBlocks blocks in a slot. Then a warp's rows of the tile, 16 kBlocks adjacent
// ones, lie 16 in each block.

/// The row of the tile whose 16 rows lie at line 16 `part` of block `block` of a slot.
template <int kBlocks> INGOT_DEVICE int row_in_tile(int block, int part) {
  const int group = block / kBlocks, warp = group * 4 + part;
  return warp * 16 * kBlocks + block % kBlocks * 16;
}

/// The copies of an operand's kLines rows of a tile to slots, plane by plane, in ascending k.
/// kBlocks: the blocks of a warpgroup; of B, 1. One thread runs them. The blocks of a cluster of
/// kSharing have the same rows. Each copies its share of them to all. 1: it copies its own ones.
template <class Packed, int kLines, int kBlocks, int kSharing> struct SlotCopies {
  static_assert(kSharing == 1, "only boxes are copied to several blocks");
  static constexpr int kPlanes = Packed::kPlanes, kCount = kLines / 64;
  static constexpr int kBytes = kPlanes * kCount * kSlotBlockBytes; ///< of a slot
  const u8* from[kCount];                                           ///< the next k of each 64 rows

  INGOT_DEVICE SlotCopies(const Packed& packed, i64 batch, i64 row0, i64 k0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      from[i] = packed.block(batch, row0 / 64 + i, k0 / sizes::kPackedDepth, 0);
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

template <class T, Major kMajor, int kLines, int kBlocks, int kSharing>
struct SlotCopies<MappedTensor<T, kMajor>, kLines, kBlocks, kSharing> {
  static constexpr bool kIsK = kMajor == Major::k;
  static constexpr int kShare = kLines / kSharing;
  static constexpr int kBytes = kShare / 64 * kSlotBlockBytes; ///< of the share, in a slot
  static constexpr int kBoxLines = sizes::box_lines(kIsK, kShare, kBlocks, sizeof(T));
  static_assert(kIsK || kBlocks == 1, "rows of a block are adjacent");
  static_assert(kSharing == 1 || kBlocks == 1, "rows of a share are adjacent");
  const TensorMap* map;
  i32 matrix, row0, k;
  u32 first; ///< byte of the share

  INGOT_DEVICE SlotCopies(const MappedTensor<T, kMajor>& tensor, i64, i64 row0, i64 k0)
      : map(tensor.map), matrix(static_cast<i32>(tensor.matrix)),
        row0(static_cast<i32>(row0) + rank() * kShare), k(static_cast<i32>(k0)),
        first(rank() * kBytes) {}

  INGOT_DEVICE void run(u32 to, u32 full) {
    constexpr int kBoxBytes = kBoxLines * 128;
#pragma unroll
    for (int box = 0; box < kBytes / kBoxBytes; ++box) {
      const u32 at = to + first + box * kBoxBytes;
      const int line = box * kBoxLines;
      if constexpr (!kIsK)
        copy(at, row0 + line, k, full);
      else if constexpr (kBlocks == 1)
        copy(at, k, row0 + line, full);
      else
        copy(at, k, row0 + row_in_tile<kBlocks>(line / 64, line % 64 / 16), full);
    }
    k += kSlotDepth<MappedTensor<T, kMajor>>;
  }

private:
  static INGOT_DEVICE i32 rank() {
    if constexpr (kSharing > 1) return static_cast<i32>(ptx::rank_in_cluster());
    return 0;
  }
  INGOT_DEVICE void copy(u32 at, i32 inner, i32 line, u32 full) const {
    if constexpr (kSharing > 1)
      ptx::copy_box_to((1 << kSharing) - 1, at, map, inner, line, matrix, full);
    else
      ptx::copy_box(at, map, inner, line, matrix, full);
  }
};

/// By one thread: copies the operands of a tile, in ascending k. A slot holds the planes of A, then
/// those of B. kBlocks: of A, for each warpgroup. kCluster: blocks that share B. note: the note of
/// each slot, if there are any.
template <int kTileM, int kTileN, int kBlocks, int kCluster, class A, class B, class Params,
          class Ring, class... Note>
INGOT_DEVICE void copy_operands(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                typename Ring::Place& place, Note... note) {
  SlotCopies<typename SlotTensor<A>::Type, kTileM, kBlocks, 1> a(
      SlotTensor<A>::of(params, tile.batch), tile.batch, tile.row0, k.begin);
  SlotCopies<typename SlotTensor<B>::Type, kTileN, 1, kCluster> b(
      SlotTensor<B>::of(params, tile.batch), tile.batch, tile.col0, k.begin);
#pragma unroll 1
  for (i32 left = slots_for<kSlotDepth<typename SlotTensor<A>::Type>>(k); left > 0; --left) {
    const u32 full = ring.begin_filling(place, note...);
    const u32 to = ring.slot(place.slot);
    a.run(to, full);
    b.run(to + a.kBytes, full);
    place.advance();
  }
}

/// d = [d +] A B for one slot's k, of the kRows / 2 blocks of a warpgroup.
template <int kN, class TensorA, class TensorB, int kRows>
INGOT_DEVICE void multiply_slot(u64 a, u64 b, bool adds, f32 (&d)[kRows][kN / 4]) {
#pragma unroll
  for (int block = 0; block < kRows / 2; ++block) {
    auto& sums = reinterpret_cast<f32(&)[2][kN / 4]>(d[2 * block]);
#pragma unroll
    for (int step = 0; step < kSlotSteps; ++step)
      ptx::Wgmma<kN, typename TensorA::Element, TensorA::kMajor == Major::mn,
                 TensorB::kMajor == Major::mn>::run(sums,
                                                    a + block * (kSlotBlockBytes >> 4) +
                                                        step * kStepUnits<TensorA::kMajor>,
                                                    b + step * kStepUnits<TensorB::kMajor>,
                                                    adds || step > 0);
  }
}

// A source of the specialised skeleton:
//   using Layout, Ring, Place
//   kCluster                               blocks that copy operands together, 1 or 2
//   kInBands                               whether the stages run in bands if they can
//   kCompensated                           how to add its sums (tile/split_k.cuh)
//   slots_of(k)                            the slots that a tile fills
//   copy(params, tile, k, ring, place)     by one thread: fills them
//   multiply(thread, k, ring, place, acc, seen)
//                                          by the warpgroups that share a tile: its sums; those of
//                                          a pair are two. `seen()` is called once the last slot
//                                          has been waited for, before its products. `thread`
//                                          is the index among all of them
//   kFactorBytes                           the memory for the factors that remove the scales of a
//                                          tile's rows and columns, in this order;
//                                          0: operands are not scaled, and the next two are missing
//   copy_factors(params, tile, factors)    by a warpgroup: starts to copy them
//   finish<L>(thread, rows, columns, acc)  removes the scales from sums of the layout L
//   begin(thread)                          by the threads of a tile, once, before the first tile
//   kSplitsB                               whether warps split B; if not, the next two are missing
//   split(thread, k, ring, place)          by the warps beside the copying thread: splits B of a
//                                          tile. `thread` is the index among them
//   complete(params, tile, k, acc)         by the threads of a tile, behind multiply
//   kListsResiduals                        whether rows list residuals; if not, the next two are
//                                          missing
//   multiply(thread, k, ring, place, acc, add_residuals, seen)
//                                          in place of the other: calls add_residuals(acc) before
//                                          the first products if the tile needs it
//   add_residuals(params, tile, acc)       by the threads of a tile: adds the products of residuals

/// The slots of a source. Config gives kTileM, kTileN, kTileK, kRingSlots, kCluster and kInBands.
/// kBlocks: of 64 rows, of a warpgroup. kGroups: warpgroups that share a tile.
template <class Config, class A, class B, int kBlocks, int kGroups> struct SlotsOfOperands {
  using TensorA = typename SlotTensor<A>::Type;
  using TensorB = typename SlotTensor<B>::Type;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kCluster = Config::kCluster; ///< blocks with one B, and a row tile each
  static constexpr bool kInBands = Config::kInBands, kSplitsB = false;
  static_assert(kTileK == kSlotDepth<TensorA> && kTileK == kSlotDepth<TensorB> &&
                    kTileM % 64 == 0 && kTileN % 64 == 0,
                "slots hold whole blocks");

  static constexpr int kPlaneOfA = kTileM / 64 * kSlotBlockBytes;
  static constexpr int kPlaneOfB = kTileN / 64 * kSlotBlockBytes;
  static constexpr int kBytesOfA = TensorA::kPlanes * kPlaneOfA;
  static constexpr int kSlotBytes = kBytesOfA + TensorB::kPlanes * kPlaneOfB;
  using Ring = SlotRing<Config::kRingSlots, kSlotBytes, kGroups, kCluster>;
  using Place = typename Ring::Place;

  static INGOT_DEVICE i32 slots_of(KRange k) { return slots_for<kTileK>(k); }
  static INGOT_DEVICE void begin(i32) {}

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    copy_operands<kTileM, kTileN, kBlocks, kCluster, A, B>(params, tile, k, ring, place);
  }

protected:
  /// The descriptors of the operands of a warpgroup, in the first slot.
  static INGOT_DEVICE u64 first_a(Ring ring, i32 group) {
    return matrix_descriptor(ring.slot(0) + group * kBlocks * kSlotBlockBytes);
  }
  static INGOT_DEVICE u64 first_b(Ring ring) { return matrix_descriptor(ring.slot(0) + kBytesOfA); }
};

/// The warpgroups that share a tile whose warps have kWarpM rows.
template <class Config> constexpr int kSharingGroups = Config::kTileM / (4 * Config::kWarpM);

/// All of a source but multiply. Config also gives kWarpM.
template <class Config, class A, class B>
struct WgmmaSource : SlotsOfOperands<Config, A, B, Config::kWarpM / 16, kSharingGroups<Config>> {
  using Slots = SlotsOfOperands<Config, A, B, Config::kWarpM / 16, kSharingGroups<Config>>;
  using Slots::kTileM;
  using Slots::kTileN;
  using typename Slots::Place;
  using typename Slots::Ring;
  using typename Slots::TensorA;
  static constexpr int kBlocks = Config::kWarpM / 16;
  static constexpr int kGroups = kSharingGroups<Config>;
  /// A warp has 16 rows of each block and all columns, as mma.sync lays them out (PTX ISA,
  /// "Register Fragments for wgmma.mma_async.m64nNk16").
  using Layout = MmaLayout<4 * kGroups, 1, Config::kWarpM, kTileN>;
  using Sums = f32[Layout::kRows][Layout::kCols];

  static constexpr bool kListsResiduals = TensorA::kListsResiduals;
  static constexpr int kFactorBytes = sizes::factor_bytes(TensorA::kScales, kTileM, kTileN);

  template <class Params>
  static INGOT_DEVICE void copy_factors(const Params& params, const TileContext& tile,
                                        f32* factors) {
    copy_factors_of<kTileM>(A::packed(params), tile, tile.row0, factors);
    copy_factors_of<kTileN>(B::packed(params), tile, tile.col0, factors + kTileM);
  }

  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& tile, KRange k, Ring ring,
                                Place& place) {
    if constexpr (kListsResiduals) // of a contraction in parts, the first part adds the residuals
      copy_operands<kTileM, kTileN, kBlocks, Slots::kCluster, A, B>(
          params, tile, k, ring, place,
          k.begin == 0 && suits_by_residuals(params, tile) ? u32{1} : u32{0});
    else
      Slots::copy(params, tile, k, ring, place);
  }

  /// By the threads of a tile, whose first slot is full: whether it needs the products of
  /// residuals. All have read the note before one releases the slot, because the barrier at which
  /// they wait for the issue of products comes in between.
  static INGOT_DEVICE bool needs_residuals(Ring ring, Place place) {
    return ptx::uniform(static_cast<i32>(ring.note(place))) != 0;
  }

  template <class Params>
  static INGOT_DEVICE void add_residuals(const Params& params, const TileContext& tile, Sums& acc) {
    const ResidualProducts<Layout, typename A::Packed, typename B::Packed> products = {
        A::packed(params), B::packed(params), tile};
    products.run(acc);
  }

  template <class L>
  static INGOT_DEVICE void finish(i32 thread, const f32* rows, const f32* columns,
                                  f32 (&acc)[L::kRows][L::kCols]) {
    unscale<L>(thread, rows, columns, acc);
  }

private:
  /// Whether the rows and columns of a tile suit each other only by the products of residuals.
  template <class Params>
  static INGOT_DEVICE bool suits_by_residuals(const Params& params, const TileContext& tile) {
    return RowBits::need_residuals(bits_of<kTileM>(A::packed(params), tile.batch, tile.row0),
                                   bits_of<kTileN>(B::packed(params), tile.batch, tile.col0));
  }

  /// The RowBits of kLines rows from row0 on, or'ed. Both numbers are multiples of 64.
  template <int kLines, class Tensor>
  static INGOT_DEVICE u32 bits_of(const Tensor& packed, i64 batch, i64 row0) {
    u32 bits = 0;
#pragma unroll 1 // a thread that copies has few registers
    for (int first = 0; first < kLines; first += Tensor::kRows) {
      if (row0 + first >= packed.stored_rows()) break;
#pragma unroll
      for (int at = 0; at < Tensor::kRows; at += 16) {
        const auto rows = load_vector<4>(
            reinterpret_cast<const u32*>(packed.row_bits_from(batch, row0 + first + at)));
        bits |= rows.v[0] | rows.v[1] | rows.v[2] | rows.v[3];
      }
    }
    return RowBits::merged(bits);
  }

  /// Of kLines rows of a packed operand from row0 on.
  template <int kLines, class Tensor>
  static INGOT_DEVICE void copy_factors_of(const Tensor& packed, const TileContext& tile, i64 row0,
                                           f32* to) {
#pragma unroll
    for (int first = 0; first < kLines; first += sizes::kWarpgroup) {
      const int line = first + static_cast<int>(index_of(tile.thread) % sizes::kWarpgroup);
      if (line >= kLines) continue;
      if (row0 + line < packed.rows)
        ptx::cp_async<4>(to + line, &packed.row(tile.batch, row0 + line).factor);
      else
        to[line] = 1.0f;
    }
  }
};

} // namespace ingot
