// SPDX-License-Identifier: Apache-2.0
// Moves the tiles of one operand, in ascending k, from global memory to the slots of a mainloop:
// with cp.async (direct), or through registers, prologue and conversion (staged). Both write zeros
// for elements outside the matrix and never read there.
#pragma once

#include "ptx/cp_async.cuh"
#include "tile/mma_stage.cuh"
#include "tile/staging.cuh"

namespace ingot {

/// The part of an operand that a tile of the output needs.
struct OperandStrip {
  i64 batch;
  i64 mn0;
  i64 mn_end; ///< end of the tile along mn, in the matrix
  KRange k;

  /// The number of rows or columns, at most `most`, from the one that lies `first` behind the
  /// tile's. In a whole tile it does not depend on `first`.
  INGOT_DEVICE i32 left(i32 first, i32 most) const {
    const i32 all = clipped(mn_end - mn0, most);
    return all == most ? most : all - first;
  }
};

// A feed F is one thread's share in moving a strip. A tile is moved in kSlices slices, so that a
// mainloop spreads the copies over its products. A copy delays the products by about 4 cycles, and
// consecutive copies also make the warp wait. So does a change of an address register while a copy
// in the queue of the memory units still holds it (measured on an H200). kPhase is 0 or 1: with 1,
// copies come half their distance later, between those of another feed.
//   begin(params, strip, thread)
//   feed(params, k0, stage, slice): called for k0 = k.begin, + kTileK, ... also past the end, with
//     the slices of each in order. Writes the tile to the slot. The slot is complete after the
//     calling thread's copies have landed and a barrier
//   feed_tile(params, k0, stage): all slices of a tile

template <OperandPath kPath, class X, class Stage, int kThreads, int kSlices, int kPhase,
          int kLoads>
struct MmaFeed;

template <class X, class Stage, int kThreads, int kSlices, int kPhase, int kLoads>
struct MmaFeed<OperandPath::direct, X, Stage, kThreads, kSlices, kPhase, kLoads> {
  using Element = typename X::Element;
  static constexpr bool kAlongK = X::kMajor == Major::k;
  /// A copy moves one chunk, or a part of one if the matrix's lines are not aligned to chunks.
  static constexpr int kCopyBytes = X::kVec * Stage::kSize, kParts = kChunkBytes / kCopyBytes;
  static_assert(kCopyBytes >= 4 && kCopyBytes <= kChunkBytes, "cp.async copies 4, 8 or 16 bytes");
  static constexpr int kOfLine = Stage::kChunks * kParts; ///< copies
  static constexpr int kTotal = Stage::kLines * kOfLine;
  static constexpr int kPerThread = (kTotal + kThreads - 1) / kThreads;
  static constexpr bool kIsRagged = kTotal % kThreads != 0; ///< some threads lack the last copy
  static_assert(sizeof(Element) == Stage::kSize, "direct operands are not converted");
  static_assert(kThreads % kOfLine == 0, "a thread's copies lie at one place of their lines");

  static constexpr int kLineStep = kThreads / kOfLine; ///< lines between a thread's copies
  static constexpr int kTileLength = kAlongK ? Stage::kLine : Stage::kLines; ///< along k

  const Element* from; ///< affine: the elements that the thread copied last
  i64 line_step;       ///< affine: elements from it to the thread's next copy of the tile,
  i64 tile_step;       ///< affine: and from a tile's last copy to the next tile's first
  i64 batch, mn;       ///< of the thread's first copy
  i64 k_end;           ///< equal in all threads
  i32 mn_left;         ///< elements from mn on, from strip.left
  i32 line, part;      ///< in a slot

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& strip, i32 thread) {
    line = static_cast<i32>(static_cast<u32>(thread) / kOfLine);
    part = static_cast<i32>(static_cast<u32>(thread) % kOfLine);
    batch = strip.batch;
    const i32 first = kAlongK ? line : along();
    mn = strip.mn0 + first;
    k_end = strip.k.end;
    mn_left = strip.left(first, kAlongK ? Stage::kLines : Stage::kLine);
    const Element* const start = address(params, strip.k.begin, 0);
    // Unknown to the assembler, so that one address grows. It would otherwise compute each address
    // from the tile's first one.
    line_step = address(params, strip.k.begin, 1) - start;
    if constexpr (X::kAffine) line_step = ptx::unknown(line_step);
    tile_step =
        address(params, strip.k.begin + kTileLength, 0) - start - (kPerThread - 1) * line_step;
    from = start - tile_step;
  }

  template <class Params>
  INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage, int slice) {
    const int first = copies_before(slice), end = copies_before(slice + 1);
#pragma unroll
    for (int i = first; i < first + kMostOfSlice; ++i) {
      if (i < end) copy(params, k0, stage, i);
    }
  }
  template <class Params> INGOT_DEVICE void feed_tile(const Params& params, i64 k0, u8* stage) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) copy(params, k0, stage, i);
  }

private:
  static constexpr int kMostOfSlice = (kPerThread + kSlices - 1) / kSlices;
  /// Copy i belongs to slice floor((2 i + kPhase) * kSlices / (2 * kPerThread)).
  static INGOT_DEVICE constexpr int copies_before(int slice) {
    const int half_copies = (2 * slice * kPerThread + kSlices - 1) / kSlices;
    return (half_copies - kPhase + 1) / 2;
  }

  /// Makes copy i of the tile at k0; copies come in order. Elements outside the matrix have an
  /// address too, but are not read.
  template <class Params> INGOT_DEVICE void copy(const Params& params, i64 k0, u8* stage, int i) {
    const i32 k_count = clipped(k_end - k0, kTileLength);
    // Lines from the thread's first one, and elements from the copy's place, to the end.
    const i32 lines = kAlongK ? mn_left : k_count - line;
    const i32 elements = kAlongK ? k_count - along() : mn_left;
    if constexpr (X::kAffine) from += i == 0 ? tile_step : line_step;
    if (kIsRagged && line + i * kLineStep >= Stage::kLines) return;
    const int chunk = part / kParts;
    u8* const target = stage + part % kParts * kCopyBytes +
                       (kLineStep % Stage::kPeriod == 0
                            ? Stage::offset(line, chunk) + i * kLineStep * Stage::kLineBytes
                            : Stage::offset(line + i * kLineStep, chunk));
    const Element* const source = X::kAffine ? from : address(params, k0, i);
    const i32 bytes = i * kLineStep < lines && elements > 0 ? kCopyBytes : 0;
    if constexpr (kParts == 1)
      ptx::cp_async_16(target, source, bytes);
    else
      ptx::cp_async<kCopyBytes>(target, source, bytes);
  }

  /// The place of a copy in its line.
  INGOT_DEVICE i32 along() const { return part * X::kVec; }
  /// The address of copy i of the tile at k0.
  template <class Params>
  INGOT_DEVICE const Element* address(const Params& params, i64 k0, int i) const {
    return X::at(params, batch, mn + (kAlongK ? i * kLineStep : 0),
                 k0 + (kAlongK ? along() : line + i * kLineStep));
  }
};

/// The next tile waits in registers; it was loaded when the tile before it was stored. If that
/// would take too many registers, a tile is loaded and stored in batches, one after the other,
/// kLoads narrow vectors at a time.
template <class X, class Stage, int kThreads, int kSlices, int kPhase, int kLoads>
struct MmaFeed<OperandPath::staged, X, Stage, kThreads, kSlices, kPhase, kLoads> {
  static constexpr bool kAlongK = X::kMajor == Major::k;
  static constexpr int kTileMn = kAlongK ? Stage::kLines : Stage::kLine;
  static constexpr int kTileK = kAlongK ? Stage::kLine : Stage::kLines;
  static constexpr int kPerThread = (kTileMn * kTileK / X::kVec + kThreads - 1) / kThreads;
  using Cells = PrologueCells<typename X::Prologue::Operands, X::kMajor, X::kVec>;
  static constexpr bool kAhead = kPerThread <= 4 && kPerThread * Cells::kBytes <= 64;
  static constexpr int kBatch = kAhead ? kPerThread : X::kVec >= 4 ? 4 : kLoads; ///< vectors

  OperandStrip strip;
  i32 thread;
  StagedTile<X, kThreads, kTileMn, kTileK, kBatch> next;

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& the_strip, i32 the_thread) {
    strip = the_strip;
    thread = the_thread;
    if constexpr (kAhead) next.load(params, tile(strip.k.begin), thread, 0);
  }

  template <class Params>
  INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage, int slice) {
    if (slice == 0) feed_tile(params, k0, stage);
  }
  template <class Params> INGOT_DEVICE void feed_tile(const Params& params, i64 k0, u8* stage) {
    const MmaStagePointer<Stage> target = {stage};
    if constexpr (kAhead) {
      next.store(params, tile(k0), thread, 0, target);
      next.load(params, tile(k0 + kTileK), thread, 0);
    } else {
#pragma unroll 1
      for (int first = 0; first < kPerThread; first += kBatch) {
        next.load(params, tile(k0), thread, first);
        next.store(params, tile(k0), thread, first, target);
      }
    }
  }

private:
  INGOT_DEVICE OperandTile tile(i64 k0) const {
    return operand_tile<kTileMn, kTileK>(strip.batch, strip.mn0, k0, strip.mn_end, strip.k.end);
  }
};

/// An operand whose copies are addressed one by one. A feed of it keeps no place in registers.
template <class X> struct ByCopy : X {
  static constexpr bool kAffine = false;
};

} // namespace ingot
