// SPDX-License-Identifier: Apache-2.0
// Merges the states of a result that threads accumulated: over the lanes that share it, through the
// group's scratch over warps, then over the blocks of a cluster. The layout alone determines every
// tree, so two runs give the same bits.
#pragma once

#include "math/reducers.cuh"
#include "tile/cluster_states.cuh"
#include "tile/spans.cuh"

namespace ingot {

/// The state of another lane, word by word.
template <class State> INGOT_DEVICE State shuffle_state(const State& state, int mask) {
  StateWords<State> mine, theirs;
  mine.state = state;
#pragma unroll
  for (int w = 0; w < mine.kCount; ++w) theirs.word[w] = ptx::shuffle_xor(mine.word[w], mask);
  return theirs.state;
}

/// Merges the states of kCount warps from kFirst on, in pairs. A chain would round the sum of all
/// once for each warp.
template <class Reducer, int kFirst, int kCount>
INGOT_DEVICE typename Reducer::State merge_warps(const typename Reducer::State* states, int pitch) {
  if constexpr (kCount == 1) {
    return states[kFirst * pitch];
  } else {
    constexpr int kHalf = (kCount + 1) / 2;
    return Reducer::merge(merge_warps<Reducer, kFirst, kHalf>(states, pitch),
                          merge_warps<Reducer, kFirst + kHalf, kCount - kHalf>(states, pitch));
  }
}

/// Merges the states of lanes that differ in the bits of kLanes. Afterwards all of them hold it.
/// Lower lanes come first on both sides of a shuffle, so every lane gets the same bits.
template <class Reducer, int kLanes, int kCount>
INGOT_DEVICE void merge_lanes(i32 lane, typename Reducer::State (&state)[kCount]) {
  using State = typename Reducer::State;
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) {
    if ((kLanes & mask) == 0) continue;
    const bool upper = (lane & mask) != 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const State other = shuffle_state(state[k], mask);
      state[k] = upper ? Reducer::merge(other, state[k]) : Reducer::merge(state[k], other);
    }
  }
}

/// Merges the states of a cluster's blocks, behind a barrier of the block. Its warps have their
/// states in `states`; one warp merges these and sends the result.
template <class Reducer, class Plan>
INGOT_DEVICE typename Reducer::State merge_cluster(const TileContext& context,
                                                   const typename Reducer::State* states) {
  using State = typename Reducer::State;
  constexpr int kBlocks = Plan::kCluster;
  static_assert(Plan::kPerTile == 1, "the blocks share one row");
  ClusterExchange& exchange = *context.exchange;
  const i32 lane = context.thread % 32;
  State merged[1];
  if (context.thread < 32) {
    merged[0] = states[lane % Plan::kWarps];
    merge_lanes<Reducer, Plan::kWarps - 1>(lane, merged);
    send_state<kBlocks>(exchange, lane, merged[0]);
  }
  exchange.wait();
  merged[0] = received_state<kBlocks, State>(exchange, lane % kBlocks);
  merge_lanes<Reducer, kBlocks - 1>(lane, merged);
  ++exchange.merges;
  return merged[0];
}

/// Merges the states of all threads that share each result. Afterwards all of them hold it. No
/// other code of this tile uses the scratch `region`.
template <class Reducer, class Plan, int kCount>
INGOT_DEVICE void merge_threads(const TileContext& context,
                                typename Reducer::State (&state)[kCount], u8* region) {
  using State = typename Reducer::State;
  merge_lanes<Reducer, Plan::kLanes>(context.thread, state);
  static_assert(Plan::kCluster == 1 || Plan::kWarps > 1, "a block of a cluster has several warps");
  if constexpr (Plan::kWarps > 1) {
    State* shared = reinterpret_cast<State*>(region);
    const int warp = Plan::warp(context.thread);
    if ((context.thread & Plan::kLanes) == 0) {
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        shared[warp * Plan::kPerTile + Plan::slot(context.thread, k)] = state[k];
    }
    context.barrier();
    if constexpr (Plan::kCluster > 1) {
      state[0] = merge_cluster<Reducer, Plan>(context, shared);
    } else {
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        state[k] = merge_warps<Reducer, 0, Plan::kWarps>(shared + Plan::slot(context.thread, k),
                                                         Plan::kPerTile);
    }
  }
}

} // namespace ingot
