// SPDX-License-Identifier: Apache-2.0
// Moves the tiles of one operand, in ascending k, from global memory to pipeline stages of the
// tensor-core mainloop: by cp.async (direct), or through registers, prologue and conversion
// (staged). Both write zeros for what lies outside the matrix and never read there.
#pragma once

#include "ptx/cp_async.cuh"
#include "tile/mma_stage.cuh"
#include "tile/staging.cuh"

namespace ingot {

/// The part of an operand that a tile of the output needs.
struct OperandStrip {
  i64 batch;
  i64 mn0;
  i64 mn_end; ///< extents of the matrix
  KRange k;
};

// A feed F is one thread's share in moving a strip:
//   begin(params, strip, thread)
//   feed(params, k0, stage): called for k0 = k.begin, + kTileK, ... also past the end; writes
//     the tile to the stage, complete after the calling thread's copies have landed and a barrier

template <OperandPath kPath, class X, class Stage, int kThreads> struct MmaFeed;

template <class X, class Stage, int kThreads>
struct MmaFeed<OperandPath::direct, X, Stage, kThreads> {
  using Element = typename X::Element;
  static constexpr bool kAlongK = X::kMajor == Major::k;
  static constexpr int kTotal = Stage::kLines * Stage::kChunks;
  static constexpr int kPerThread = kTotal / kThreads;
  static_assert(X::kVec * sizeof(Element) == kChunkBytes,
                "direct operands move 16 bytes at a time");
  static_assert(sizeof(Element) == Stage::kSize, "direct operands are not converted");
  static_assert(kTotal % kThreads == 0, "every thread copies the same number of chunks");

  static constexpr int kBatch = kPerThread < 4 ? kPerThread : 4;
  static_assert(kPerThread % kBatch == 0, "batches are whole");
  /// Where lines along k begin is kept in registers while these are few.
  static constexpr bool kKeepsLines = kAlongK && kPerThread == kBatch;

  OperandStrip strip;
  i32 thread;
  i32 mn_count;                                       ///< of the strip
  const Element* lines[kKeepsLines ? kPerThread : 1]; ///< this thread's chunks of the first tile

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& the_strip, i32 the_thread) {
    strip = the_strip;
    thread = the_thread;
    mn_count = clipped(strip.mn_end - strip.mn0, kAlongK ? Stage::kLines : Stage::kLine);
    if constexpr (kKeepsLines) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) lines[i] = source(params, 0, i);
    }
  }

  template <class Params> INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage) const {
    const i32 k_count = clipped(strip.k.end - k0, kAlongK ? Stage::kLine : Stage::kLines);
    // A loop where there are more batches than one: their addresses are then not all kept.
#pragma unroll 1
    for (int first = 0; first < kPerThread; first += kBatch) {
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int line = line_of(first + i);
        const int chunk = chunk_of(first + i);
        const int mn = kAlongK ? line : chunk * Stage::kChunk;
        const int k = kAlongK ? chunk * Stage::kChunk : line;
        const Element* from;
        if constexpr (kKeepsLines) {
          from = lines[i] + k0;
        } else {
          from = source(params, k0, first + i);
        }
        const bool is_inside = mn < mn_count && k < k_count;
        ptx::cp_async_16(stage + Stage::offset(line, chunk), from, is_inside ? kChunkBytes : 0);
      }
    }
  }

private:
  INGOT_DEVICE int line_of(int i) const {
    return (static_cast<u32>(i * kThreads) + static_cast<u32>(thread)) / Stage::kChunks;
  }
  INGOT_DEVICE int chunk_of(int i) const {
    return (static_cast<u32>(i * kThreads) + static_cast<u32>(thread)) % Stage::kChunks;
  }

  /// Chunk i of the tile at k0; some chunk of the matrix where that one lies outside along m or n.
  template <class Params>
  INGOT_DEVICE const Element* source(const Params& params, i64 k0, int i) const {
    const int along = chunk_of(i) * Stage::kChunk;
    const int mn = kAlongK ? line_of(i) : along;
    return X::at(params, strip.batch, strip.mn0 + (mn < mn_count ? mn : 0),
                 k0 + (kAlongK ? along : line_of(i)));
  }
};

/// The next tile waits in registers, loaded when the one before it was stored; where that would
/// take too many, a tile is loaded and stored in batches, one after the other.
template <class X, class Stage, int kThreads>
struct MmaFeed<OperandPath::staged, X, Stage, kThreads> {
  static constexpr bool kAlongK = X::kMajor == Major::k;
  static constexpr int kTileMn = kAlongK ? Stage::kLines : Stage::kLine;
  static constexpr int kTileK = kAlongK ? Stage::kLine : Stage::kLines;
  static constexpr int kPerThread = (kTileMn * kTileK / X::kVec + kThreads - 1) / kThreads;
  using Cells = PrologueCells<typename X::Prologue::Operands, X::kMajor, X::kVec>;
  static constexpr bool kAhead = kPerThread <= 4 && kPerThread * Cells::kBytes <= 64;
  static constexpr int kBatch = kAhead ? kPerThread : X::kVec >= 4 ? 4 : 8; ///< vectors

  OperandStrip strip;
  i32 thread;
  StagedTile<X, kThreads, kTileMn, kTileK, kBatch> next;

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& the_strip, i32 the_thread) {
    strip = the_strip;
    thread = the_thread;
    if constexpr (kAhead) next.load(params, tile(strip.k.begin), thread, 0);
  }

  template <class Params> INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage) {
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

} // namespace ingot
