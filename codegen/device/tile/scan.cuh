// SPDX-License-Identifier: Apache-2.0
// A scan along the rows of a chunk: in the thread, over the lanes and then the warps that share a
// row, then behind the carry of earlier chunks. The layout alone determines the tree. Each result
// merges exactly the elements of its definition.
#pragma once

#include "tile/reduce.cuh"

namespace ingot {

// A scan S, written by the emitter:
//   Reducer, Functor   the scanned value is Functor::eval(point); merged by Reducer::merge
//   kExclusive         a result leaves out its own element
//   kReverse           from the last column to the first

/// All members of a scan.
template <class ReducerType, class F, bool kIsExclusive, bool kIsReverse> struct ScanOf {
  using Reducer = ReducerType;
  using Functor = F;
  static constexpr bool kExclusive = kIsExclusive, kReverse = kIsReverse;
};

/// The stage that provides the results of S to later stages.
template <class S> struct Scan {};

/// The share of a layout's threads in a row: each has kPieces runs of kLength adjacent columns. Run
/// p of a lane lies beside run p of the next lane and of the next warp. All of them lie before run
/// p+1.
template <class L> struct ScanPieces;
template <int kThreads, int kPerRow, int kChunks, int kVec>
struct ScanPieces<RowLayout<kThreads, kPerRow, kChunks, kVec>> {
  static constexpr int kPieces = kChunks;
  static constexpr int kLength = kVec;
};
template <int kThreads, int kPerThread> struct ScanPieces<LaneRunLayout<kThreads, kPerThread>> {
  static constexpr int kPieces = 1;
  static constexpr int kLength = kPerThread;
};

template <class S, class L> struct ScanPlan : ScanPieces<L> {
  using State = typename S::Reducer::State;
  static_assert(L::kRows == 1, "a thread has elements of one row");
  /// The totals of all warps, by piece, warp and row. There are two sets, which chunks use
  /// alternately.
  static constexpr int kTotals = ScanPieces<L>::kPieces * L::kRowWarps * L::kTileRows;
  static constexpr int kScratchBytes =
      sizes::scan_bytes(L::kSizes, ScanPieces<L>::kPieces, sizeof(State));
  /// The number of chunks whose totals are carried in order before they join those of earlier ones.
  /// Chains of merges, and their errors, are then shorter.
  static constexpr int kNear = (1023 + L::kTileCols) / L::kTileCols;
};

/// The state that earlier chunks hand to the next one.
template <class S> struct ScanCarry {
  typename S::Reducer::State far = S::Reducer::init(), near = S::Reducer::init();
  int count = 0; ///< chunks in `near`
};

/// The scanned elements of a thread, as later stages read them.
template <class S, class L> struct ScanResults {
  using Reducer = typename S::Reducer;
  typename Reducer::State state[L::kCols];
  template <class> INGOT_DEVICE typename Reducer::Result get(int, int, int j) const {
    typename Reducer::Result result[1];
    Reducer::finish(state[j], result, 1);
    return result[0];
  }
};

/// Element k of `count` in the order of the scan.
template <class S> INGOT_DEVICE constexpr int scan_order(int k, int count) {
  return S::kReverse ? count - 1 - k : k;
}

/// Scans kLength adjacent elements in place and returns their total.
template <class S, int kLength, class State> INGOT_DEVICE State scan_piece(State* state) {
  State total = S::Reducer::init();
#pragma unroll
  for (int k = 0; k < kLength; ++k) {
    State& element = state[scan_order<S>(k, kLength)];
    const State sum = S::Reducer::merge(total, element);
    element = S::kExclusive ? total : sum;
    total = sum;
  }
  return total;
}

/// Scans over the lanes of a row. `total` becomes that of all lanes. Returns the total of the lanes
/// before.
template <class S, class L, class State>
INGOT_DEVICE State scan_lanes(const TileContext& context, State& total) {
  using Reducer = typename S::Reducer;
  State before = Reducer::init();
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) {
    if ((L::kRowLanes & mask) == 0) continue;
    const State other = shuffle_state(total, mask);
    const bool last = ((context.thread & mask) != 0) != S::kReverse;
    if (last) before = Reducer::merge(other, before);
    total = last ? Reducer::merge(other, total) : Reducer::merge(total, other);
  }
  return before;
}

/// Scans over the warps of a row, for every piece. Updates `before` and `total` likewise.
template <class S, class L, int kPieces, class State>
INGOT_DEVICE void scan_warps(const TileContext& context, State* totals, State (&before)[kPieces],
                             State (&total)[kPieces]) {
  using Reducer = typename S::Reducer;
  const int row = L::row(context.thread, 0), warp = L::row_warp(context.thread);
  if ((context.thread & L::kRowLanes) == 0) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p)
      totals[(p * L::kRowWarps + warp) * L::kTileRows + row] = total[p];
  }
  context.barrier();
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    State sum = Reducer::init(), mine = Reducer::init();
#pragma unroll
    for (int k = 0; k < L::kRowWarps; ++k) {
      const int w = scan_order<S>(k, L::kRowWarps);
      if (w == warp) mine = sum;
      sum = Reducer::merge(sum, totals[(p * L::kRowWarps + w) * L::kTileRows + row]);
    }
    before[p] = Reducer::merge(mine, before[p]);
    total[p] = sum;
  }
}

/// Scans the elements of one chunk in place, behind those of `carry`, which then includes this
/// chunk. `scratch` has kScratchBytes. The lowest bit of `turn` must differ from that of the chunk
/// before.
template <class S, class L>
INGOT_DEVICE void scan_chunk(const TileContext& context, ScanCarry<S>& carry,
                             typename S::Reducer::State (&state)[L::kCols], u8* scratch, int turn) {
  using Plan = ScanPlan<S, L>;
  using Reducer = typename S::Reducer;
  using State = typename Reducer::State;
  State before[Plan::kPieces], total[Plan::kPieces];
#pragma unroll
  for (int p = 0; p < Plan::kPieces; ++p) {
    total[p] = scan_piece<S, Plan::kLength>(state + p * Plan::kLength);
    before[p] = scan_lanes<S, L>(context, total[p]);
  }
  // One barrier per chunk suffices. A writer of these totals has passed the barrier of the chunk
  // between, and so have all their last readers.
  if constexpr (L::kRowWarps > 1)
    scan_warps<S, L>(context, reinterpret_cast<State*>(scratch) + turn % 2 * Plan::kTotals, before,
                     total);
  const State base = Reducer::merge(carry.far, carry.near);
  State sum = Reducer::init();
#pragma unroll
  for (int k = 0; k < Plan::kPieces; ++k) {
    const int p = scan_order<S>(k, Plan::kPieces);
    const State offset = Reducer::merge(base, Reducer::merge(sum, before[p]));
#pragma unroll
    for (int j = p * Plan::kLength; j < (p + 1) * Plan::kLength; ++j)
      state[j] = Reducer::merge(offset, state[j]);
    sum = Reducer::merge(sum, total[p]);
  }
  carry.near = Reducer::merge(carry.near, sum);
  if (++carry.count == Plan::kNear) {
    carry.far = Reducer::merge(carry.far, carry.near);
    carry.near = Reducer::init();
    carry.count = 0;
  }
}

} // namespace ingot
