// SPDX-License-Identifier: Apache-2.0
// The tensor-core mainloop of sm_80 for operands that tensor cores multiply as they are: f16, bf16
// and f32 rounded to TF32. Fragments are loaded one step before their use.
#pragma once

#include "tile/pipelined_mainloop.cuh"

namespace ingot {

/// The products of a warp (tile/pipelined_mainloop.cuh).
template <class Config, class StageA, class StageB, bool kRoundA, bool kRoundB>
struct DirectProducts {
  static constexpr int kStepBytes = 32;
  static constexpr int kFeeds = Config::kWarpM / 16; ///< one before each block of products
  using FragmentsA = MmaFragments<Operand::a, StageA, Config::kWarpM>;
  using FragmentsB = MmaFragments<Operand::b, StageB, Config::kWarpN>;
  u32 first_a, first_b;
  FragmentsA a[2];
  FragmentsB b[2];

  INGOT_DEVICE DirectProducts(u32 first_of_a, u32 first_of_b, u8*, i32)
      : first_a(first_of_a), first_b(first_of_b) {}

  INGOT_DEVICE void load(int slot) { load(slot, 0, 0); }
  template <class Sums> INGOT_DEVICE void begin_tile(Sums&) {}
  template <class Sums> INGOT_DEVICE void finish(Sums&) {}

  template <class Sums, class Feed>
  INGOT_DEVICE void multiply(int next_step, int next_slot, int step, Sums& acc, const Feed& feed) {
    load(next_slot, next_step, (step + 1) % 2);
    if constexpr (kRoundA) a[step % 2].round();
    if constexpr (kRoundB) b[step % 2].round();
    ingot::multiply<Config::kCompute>(a[step % 2], b[step % 2], acc, feed);
  }

private:
  INGOT_DEVICE void load(int slot, int step, int buffer) {
    a[buffer].load(first_a + slot, step);
    b[buffer].load(first_b + slot, step);
  }
};

/// A source as in tile/matrix.cuh.
template <class Config, class A, class B> struct MmaMainloop {
  template <class X>
  static constexpr bool kRounds =
      Config::kCompute == Compute::tf32 && X::kPath == OperandPath::direct;
  using Products =
      DirectProducts<Config, MmaStage<Config::kCompute, A::kMajor, Config::kTileM, Config::kTileK>,
                     MmaStage<Config::kCompute, B::kMajor, Config::kTileN, Config::kTileK>,
                     kRounds<A>, kRounds<B>>;
  using Pipeline = MmaPipeline<Config, A, B, Products>;
  using Layout = typename Pipeline::Layout;
  static constexpr int kTileM = Config::kTileM, kTileN = Config::kTileN, kTileK = Config::kTileK;
  static constexpr int kSharedBytes = Pipeline::kRingBytes;
  static constexpr bool kCompensated = false;
  static constexpr bool kFillsRegisters = false;

  template <class Params>
  static INGOT_DEVICE void run(const Params& params, const TileContext& context, i64, i64, KRange k,
                               f32 (&acc)[Layout::kRows][Layout::kCols]) {
    clear(acc);
    add(params, context, k, acc);
  }

  /// Adds the product to `acc`.
  template <class Params>
  static INGOT_DEVICE void add(const Params& params, const TileContext& context, KRange k,
                               f32 (&acc)[Layout::kRows][Layout::kCols]) {
    Pipeline::run(params, context, k, acc);
  }
};

} // namespace ingot
