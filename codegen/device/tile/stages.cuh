// SPDX-License-Identifier: Apache-2.0
// The stages of a kernel as types, and the code that runs each of them once on a held tile.
// Skeletons (kernels/) drive them. A stage sees only a TileContext and the thread's fragment. Maps
// and stores run by the code here. Stages of reductions run by that of tile/reduce_stages.cuh,
// which only kernels that have them include: NVRTC reads every declaration of a kernel's headers.
#pragma once

#include "tile/results.cuh"
#include "tile/staged_store.cuh"

namespace ingot {

/// Stores F::eval(point) in v[kSlot].
template <class F, int kSlot> struct Map {};
/// Computes the results of R for later stages.
template <class R> struct Reduce {};
/// Stores F::eval(point) in output O.
template <class F, class O> struct Store {};
/// Stores the states of a reduction that crosses tiles in the workspace.
template <class S> struct StoreStates {};
/// Merges states that an earlier kernel stored into results.
template <class M> struct Merge {};

template <class F, int kSlot, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void run_map(const Params& params, const TileContext& context,
                          Fragment<L, kSlots>& fragment, const Results& results) {
  for_each_element<F>(params, context, fragment, results,
                      [&](int i, int j, i64, i64, f32 value) { fragment.v[kSlot][i][j] = value; });
}

template <class F, class O, class L, int kSlots, class Params, class Results>
INGOT_DEVICE void run_store(const Params& params, const TileContext& context,
                            const Fragment<L, kSlots>& fragment, const Results& results) {
  using Value = typename InRegister<typename O::Element>::Type;
  const TileBounds<L> bounds(context);
  if (!O::reaches(params, context.col0, L::kTileCols)) return;
  // An output that does not vary along the columns is also stored if there are no columns to
  // reduce.
  constexpr bool kAnyColumn = O::kAlong == Along::row || O::kAlong == Along::none;
  constexpr bool kDown = L::kRowVec > 1;
  constexpr int kVec = kDown ? L::kRowVec : L::kVec, kLast = kVec - 1;
  Value block[kVec];
  for_each_element<F>(
      params, context, fragment, results, [&](int i, int j, i64 row, i64 col, Value value) {
        const int e = (kDown ? i : j) % kVec;
        block[e] = value;
        if (e != kLast) return;
        if constexpr (kDown)
          store_adjacent<Adjacent::rows, kVec, O>(
              params, context.batch, row - kLast, col,
              [&](int at) { return (kAnyColumn || bounds.col(j)) && bounds.row(i - kLast + at); },
              block);
        else if (bounds.row(i))
          store_adjacent<Adjacent::columns, kVec, O>(
              params, context.batch, row, col - kLast,
              [&](int at) { return kAnyColumn || bounds.col(j - kLast + at); }, block);
      });
}

/// The scratch of the stages so far, in bytes. Each reduction has a region of its own.
template <class L, class Stage> struct StageScratch {
  static constexpr int kBytes = 0;
};
template <class L, class Stages> struct ScratchBytes;
template <class L, class... Ss> struct ScratchBytes<L, List<Ss...>> {
  static constexpr int kBytes = (StageScratch<L, Ss>::kBytes + ... + 0);
};

/// The memory in which stores stage their rows, in bytes. They take turns with it. It lies behind
/// all scratch.
template <class L, class Stage> struct StageStaging {
  static constexpr int kBytes = 0;
};
template <class L, class F, class O> struct StageStaging<L, Store<F, O>> {
  static constexpr int bytes() {
    if constexpr (O::kStaged) return StagingPlan<L, typename O::Element>::kBytes;
    return 0;
  }
  static constexpr int kBytes = bytes();
};
template <class L, class Stages> struct StagingBytes;
template <class L, class... Ss> struct StagingBytes<L, List<Ss...>> {
  static constexpr int most() {
    int most = 0;
    ((most = StageStaging<L, Ss>::kBytes > most ? StageStaging<L, Ss>::kBytes : most), ...);
    return most;
  }
  static constexpr int kBytes = most();
};

/// Bytes of shared memory that the stages of a tile take in all.
template <class L, class Stages>
constexpr int kStageBytes = ScratchBytes<L, Stages>::kBytes + StagingBytes<L, Stages>::kBytes;

/// Whether a stage reads and writes one row at a time, without the other warps.
template <class L, class Stage> struct StaysInRows {
  static constexpr bool kValue = false;
};
template <class L, class F, int kSlot> struct StaysInRows<L, Map<F, kSlot>> {
  static constexpr bool kValue = true;
};
template <class L, class F, class O> struct StaysInRows<L, Store<F, O>> {
  static constexpr bool kValue = true;
};

/// The ReduceResults type of a list of stages.
template <class L, class Rs, class Stages> struct ResultsOf;
template <class L, class... Rs> struct ResultsOf<L, List<Rs...>, List<>> {
  using Type = ReduceResults<L, Rs...>;
};
template <class L, class... Rs, class S, class... Rest>
struct ResultsOf<L, List<Rs...>, List<S, Rest...>> : ResultsOf<L, List<Rs...>, List<Rest...>> {};
template <class L, class... Rs, class R, class... Rest>
struct ResultsOf<L, List<Rs...>, List<Reduce<R>, Rest...>>
    : ResultsOf<L, List<Rs..., R>, List<Rest...>> {};
template <class L, class... Rs, class M, class... Rest>
struct ResultsOf<L, List<Rs...>, List<Merge<M>, Rest...>>
    : ResultsOf<L, List<Rs..., M>, List<Rest...>> {};

/// Runs one stage on a held tile.
template <class L, int kSlots, class Params, class Results> struct HeldTile {
  using Layout = L;
  const Params& params;
  const TileContext& context;
  Fragment<L, kSlots>& fragment;
  Results& results;

  template <class F, int kSlot> INGOT_DEVICE void run(Map<F, kSlot>*, u8*) const {
    run_map<F, kSlot>(params, context, fragment, results);
  }
  template <class F, class O> INGOT_DEVICE void run(Store<F, O>*, u8* region) const {
    if constexpr (O::kStaged)
      run_staged_store<F, O>(params, context, fragment, results, region);
    else
      run_store<F, O>(params, context, fragment, results);
  }
  /// A stage of a reduction, by the run_stage of its type.
  template <class Stage> INGOT_DEVICE void run(Stage* stage, u8* region) const {
    run_stage(*this, stage, region);
  }
};

/// Runs the stages of a held tile in order. With kApart, each computes its addresses again. If they
/// were kept from one stage to the next, or across a mainloop before them, they would take the
/// registers of the tile.
template <bool kApart, class L, int kSlots, class Params, class Results, class... Ss>
INGOT_DEVICE void run_stages(const Params& params, const TileContext& context,
                             Fragment<L, kSlots>& fragment, Results& results, List<Ss...>) {
  u8* region = context.scratch;
  auto run = [&](auto* stage, int scratch_bytes) {
    TileContext own = context;
    if constexpr (kApart) own.thread = results.thread = ptx::opaque(context.thread);
    const HeldTile<L, kSlots, Params, Results> tile{params, own, fragment, results};
    tile.run(stage, region);
    region += scratch_bytes;
  };
  (run(static_cast<Ss*>(nullptr), StageScratch<L, Ss>::kBytes), ...);
}

} // namespace ingot
