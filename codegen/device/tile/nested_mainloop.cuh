// SPDX-License-Identifier: Apache-2.0
// The mainloop by mma.sync of a product of 16-bit operands whose operand A the kernel computes step
// by step (tile/nested_steps.cuh). The accumulators become the fragments of A.
#pragma once

#include "tile/nested_steps.cuh"

namespace ingot {

/// A reader of the steps S.
template <class S> struct MmaReader {
  using Steps = typename S::Steps;
  using Packed = typename Steps::Packed;
  using Inner = typename S::Inner;
  using Layout = typename S::Layout;
  using FragmentsOfA = MmaFragments<Operand::a, typename S::StageOfA, S::kWarpM>;
  using FragmentsOfB = MmaFragments<Operand::b, typename S::StageOfB, S::kTileK>;
  using FragmentsB = MmaFragments<Operand::b, typename S::StageB, S::kTileN>;
  static constexpr int kBeforeRing = S::StageOfA::kBytes;
  static constexpr bool kSplits = false;
  static constexpr int kK = 32 / S::StageOfA::kSize; ///< of a product
  u32 first_of_a, first_of_b, first_b;

  INGOT_DEVICE MmaReader(u8* rows, u8* ring, i32 thread)
      : first_of_a(ptx::shared_address(rows) +
                   FragmentsOfA::first_offset(Layout::col_warp(thread) * S::kWarpM, thread)),
        first_of_b(ptx::shared_address(ring) + FragmentsOfB::first_offset(0, thread)),
        first_b(ptx::shared_address(ring) + S::StageOfB::kBytes +
                FragmentsB::first_offset(0, thread)) {}

  INGOT_DEVICE void multiply_inner(int slot, f32 (&acc)[Inner::kRows][Inner::kCols]) const {
    clear(acc);
    // Unrolled in part: else the compiler loads so early that registers spill.
#pragma unroll 4
    for (int step = 0; step < S::kDepth / kK; ++step) {
      FragmentsOfA a;
      a.load(first_of_a, step);
      multiply_by_columns<S::kCompute, FragmentsOfB>(a.block, first_of_b + slot, step, acc);
    }
  }

  template <class Params>
  static INGOT_DEVICE void pack(const Params& params, const TileContext& own,
                                typename Steps::Tile& tile, Packed& packed) {
    Steps::pack(params, own, tile, packed);
  }

  INGOT_DEVICE void multiply(int slot, const Packed& packed,
                             f32 (&acc)[Layout::kRows][Layout::kCols]) const {
#pragma unroll
    for (int step = 0; step < S::kTileK / kK; ++step) {
      u32 a[Inner::kRows / 2][4];
#pragma unroll
      for (int i = 0; i < Inner::kRows / 2; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) a[i][r] = packed[i][step][r];
      }
      multiply_by_columns<S::kCompute, FragmentsB>(a, first_b + slot, step, acc);
    }
  }
};

/// A source for the nested skeleton.
template <class Config, class T, class B>
struct NestedMainloop : NestedSteps<Config, T, B, MmaReader> {
  using Base = NestedSteps<Config, T, B, MmaReader>;
  using typename Base::Layout;
  static constexpr int kSharedBytes = sizes::nested_bytes(Base::kTileM, Base::kTileN, Base::kTileK,
                                                          Base::kDepth, Base::StageOfA::kSize);
  static_assert(Base::StageOfA::kBytes + 2 * Base::kSlotBytes == kSharedBytes,
                "the tile's rows, two slots");

  /// Sets slot 0 to the product. `results` receives the results of the running reductions.
  template <class Params, int kSlots, class Results>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, KRange k,
                               Fragment<Layout, kSlots>& fragment, Results& results) {
    typename Base::Steps computed;
    Base::run_steps(params, context, k, fragment.v[0], computed);
    computed.finish(context.thread, results);
  }
};

} // namespace ingot
