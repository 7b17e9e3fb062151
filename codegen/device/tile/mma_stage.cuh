// SPDX-License-Identifier: Apache-2.0
// The layout of one operand's tile in a slot of a mainloop that copies. It has lines along the
// operand's major index. The 16-byte chunks of a line are swizzled, so that neither the copies into
// the slot nor the fragment reads (tile/mma_fragments.cuh) have bank conflicts.
#pragma once

#include "ptx/convert.cuh"
#include "tile/matrix.cuh"
#include "tile/vector.cuh"

namespace ingot {

/// The types that tensor cores multiply. bf16x3, bf16x2: f32 as three parts in bf16, or two
/// (tile/thirds.cuh). Sums are in f32.
enum class Compute { f16, bf16, tf32, bf16x3, bf16x2 };
/// The parts in bf16 of an f32 number; 0: it is not split.
constexpr int parts_of(Compute compute) {
  return compute == Compute::bf16x3 ? 3 : compute == Compute::bf16x2 ? 2 : 0;
}

/// The type of an operand in shared memory.
template <Compute kCompute> struct ComputeType;
template <> struct ComputeType<Compute::f16> {
  using Type = f16;
};
template <> struct ComputeType<Compute::bf16> {
  using Type = bf16;
};
template <> struct ComputeType<Compute::tf32> {
  using Type = f32;
};
template <> struct ComputeType<Compute::bf16x3> {
  using Type = f32;
};
template <> struct ComputeType<Compute::bf16x2> {
  using Type = f32;
};

constexpr int kChunkBytes = 16;

/// The values of one operand in a slot, of type Element, as lines along its major index. The slot
/// begins at a multiple of 128 bytes. A class Stage derived from it has
///   swizzle(line)  the number that the chunk index in a line is XORed with
///   kPeriod        the distance of lines with equal swizzle
template <class Stage, Major kMajorIn, class Element, int kTileMn, int kTileK> struct StageLines {
  static constexpr Major kMajor = kMajorIn;
  using Type = Element;
  static constexpr int kSize = sizeof(Element);
  static constexpr int kChunk = kChunkBytes / kSize; ///< elements per chunk
  static constexpr int kLine = kMajor == Major::k ? kTileK : kTileMn;
  static constexpr int kLines = kMajor == Major::k ? kTileMn : kTileK;
  static constexpr int kLineBytes = kLine * kSize;
  static constexpr int kChunks = kLineBytes / kChunkBytes; ///< per line
  static constexpr int kBytes = kLines * kLineBytes;

  /// The offset of a chunk in bytes.
  static INGOT_DEVICE int offset(int line, int chunk) {
    return line * kLineBytes + (chunk ^ Stage::swizzle(line)) * kChunkBytes;
  }
};

/// A slot of the tensor-core mainloops.
template <Compute kComputeIn, Major kMajor, int kTileMn, int kTileK>
struct MmaStage : StageLines<MmaStage<kComputeIn, kMajor, kTileMn, kTileK>, kMajor,
                             typename ComputeType<kComputeIn>::Type, kTileMn, kTileK> {
  static constexpr Compute kCompute = kComputeIn;
  using Lines = StageLines<MmaStage, kMajor, typename ComputeType<kCompute>::Type, kTileMn, kTileK>;
  static_assert(kTileMn % 32 == 0,
                "a warp reads 32-bit values of 8 adjacent m or n, permuted by 4");
  static_assert(kTileK * Lines::kSize % 64 == 0,
                "fragments are double-buffered over steps of 32 bytes");

  static constexpr int kPeriod = 8;
  static INGOT_DEVICE int swizzle(int line) {
    if constexpr (Lines::kSize == 4 && kMajor == Major::mn) {
      // Single values are read: 8 adjacent ones of 4 consecutive lines, 32 bytes each, at a time.
      return line % 4 * 2;
    } else {
      // ldmatrix reads one chunk of 8 consecutive lines at a time. 128 bytes cover all banks.
      constexpr int kLinesPerRound = Lines::kLineBytes < 128 ? 128 / Lines::kLineBytes : 1;
      return line / kLinesPerRound % (Lines::kChunks < 8 ? Lines::kChunks : 8);
    }
  }
};

/// The slots of a ring by their offsets in bytes.
template <int kStageBytes, int kStages> struct StageRing {
  static constexpr int kLast = (kStages - 1) * kStageBytes;
  static INGOT_DEVICE int following(int offset) {
    return offset == kLast ? 0 : offset + kStageBytes;
  }
  static INGOT_DEVICE int preceding(int offset) {
    return offset == 0 ? kLast : offset - kStageBytes;
  }
};

/// A destination for staged values. It rounds them to the compute type.
template <class Stage> struct MmaStagePointer {
  using Type = typename Stage::Type;
  u8* data;

  template <int kVec> INGOT_DEVICE void put(int mn, int k, const Vector<f32, kVec>& values) const {
    constexpr bool kAlongK = Stage::kMajor == Major::k;
    constexpr int kPiece = kVec < Stage::kChunk ? kVec : Stage::kChunk;
    const int line = kAlongK ? mn : k;
    const int along = kAlongK ? k : mn;
#pragma unroll
    for (int first = 0; first < kVec; first += kPiece) {
      Vector<Type, kPiece> piece;
#pragma unroll
      for (int j = 0; j < kPiece; ++j) piece.v[j] = round(values.v[first + j]);
      const int at = along + first;
      u8* address = data + Stage::offset(line, at / Stage::kChunk) +
                    at % Stage::kChunk * static_cast<int>(sizeof(Type));
      store_vector(reinterpret_cast<Type*>(address), piece);
    }
  }

private:
  static INGOT_DEVICE Type round(f32 value) {
    if constexpr (Stage::kCompute == Compute::tf32) {
      return ptx::as_f32(ptx::round_tf32(ptx::as_bits(value)));
    } else {
      return ptx::from_f32<Type>(value);
    }
  }
};

} // namespace ingot
