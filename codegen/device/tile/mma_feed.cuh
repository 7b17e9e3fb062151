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
  i64 k_end;
};

// A feed F is one thread's share in moving a strip:
//   begin(params, strip, thread)
//   feed(params, k0, stage): called for k0 = 0, kTileK, 2 * kTileK, ... also past the end; writes
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

  OperandStrip strip;
  u32 thread;
  i32 mn_count; ///< of the strip
  const Element*
      lines[kAlongK ? kPerThread : 1]; ///< k-major: this thread's chunks of the first tile

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& the_strip, i32 the_thread) {
    strip = the_strip;
    thread = static_cast<u32>(the_thread);
    mn_count = clipped(strip.mn_end - strip.mn0, kAlongK ? Stage::kLines : Stage::kLine);
    if constexpr (kAlongK) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        const int line = line_of(i) < mn_count ? line_of(i) : 0;
        lines[i] = X::at(params, strip.batch, strip.mn0 + line, 0) + chunk_of(i) * Stage::kChunk;
      }
    }
  }

  template <class Params> INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage) const {
    const i32 k_count = clipped(strip.k_end - k0, kAlongK ? Stage::kLine : Stage::kLines);
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const int line = line_of(i);
      const int along = chunk_of(i) * Stage::kChunk;
      const Element* source;
      bool is_inside;
      if constexpr (kAlongK) {
        is_inside = line < mn_count && along < k_count;
        source = lines[i] + k0;
      } else {
        is_inside = along < mn_count && line < k_count;
        source = X::at(params, strip.batch, strip.mn0 + along, k0 + line);
      }
      ptx::cp_async_16(stage + Stage::offset(line, chunk_of(i)), source,
                       is_inside ? kChunkBytes : 0);
    }
  }

private:
  INGOT_DEVICE int line_of(int i) const { return (i * kThreads + thread) / Stage::kChunks; }
  INGOT_DEVICE int chunk_of(int i) const { return (i * kThreads + thread) % Stage::kChunks; }
};

/// One tile waits in registers, loaded when the one before it was stored.
template <class X, class Stage, int kThreads>
struct MmaFeed<OperandPath::staged, X, Stage, kThreads> {
  static constexpr bool kAlongK = X::kMajor == Major::k;
  static constexpr int kTileMn = kAlongK ? Stage::kLines : Stage::kLine;
  static constexpr int kTileK = kAlongK ? Stage::kLine : Stage::kLines;

  OperandStrip strip;
  i32 thread;
  StagedTile<X, kThreads, kTileMn, kTileK> next;

  template <class Params>
  INGOT_DEVICE void begin(const Params& params, const OperandStrip& the_strip, i32 the_thread) {
    strip = the_strip;
    thread = the_thread;
    next.load(params, tile(0), thread);
  }

  template <class Params> INGOT_DEVICE void feed(const Params& params, i64 k0, u8* stage) {
    next.store(params, tile(k0), thread, MmaStagePointer<Stage>{stage});
    next.load(params, tile(k0 + kTileK), thread);
  }

private:
  INGOT_DEVICE OperandTile tile(i64 k0) const {
    return operand_tile<kTileMn, kTileK>(strip.batch, strip.mn0, k0, strip.mn_end, strip.k_end);
  }
};

} // namespace ingot
