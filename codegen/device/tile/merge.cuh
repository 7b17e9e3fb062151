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

/// One of two states, word by word: a choice of addresses would put both in local memory.
template <class State>
INGOT_DEVICE State chosen(bool first, const State& if_true, const State& if_false) {
  StateWords<State> a, b;
  a.state = if_true;
  b.state = if_false;
#pragma unroll
  for (int w = 0; w < a.kCount; ++w) a.word[w] = first ? a.word[w] : b.word[w];
  return a.state;
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

/// Merges the states of lanes that differ in the bits of kLanes, and shares the results out among
/// them: calls use(k, state) in one lane for each k. The merges are those of merge_lanes, but each
/// bit halves the states of a lane: it keeps one half, and sends the other. `first`: the k of the
/// lane's first state. `is_user`: whether the lane calls use.
template <class Reducer, int kLanes, int kCount, int kMask = 1, class Use>
INGOT_DEVICE void share_lanes(i32 lane, const typename Reducer::State (&state)[kCount], Use use,
                              int first = 0, bool is_user = true) {
  using State = typename Reducer::State;
  const bool upper = (lane & kMask) != 0;
  const auto merge = [&](const State& mine, const State& other) {
    return upper ? Reducer::merge(other, mine) : Reducer::merge(mine, other);
  };
  if constexpr (kMask == 32) {
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      if (is_user) use(first + k, state[k]);
  } else if constexpr ((kLanes & kMask) == 0) {
    share_lanes<Reducer, kLanes, kCount, 2 * kMask>(lane, state, use, first, is_user);
  } else if constexpr (kCount % 2 == 0) {
    constexpr int kHalf = kCount / 2;
    State half[kHalf];
#pragma unroll
    for (int k = 0; k < kHalf; ++k) {
      const State sent = chosen(upper, state[k], state[k + kHalf]);
      half[k] = merge(chosen(upper, state[k + kHalf], state[k]), shuffle_state(sent, kMask));
    }
    share_lanes<Reducer, kLanes, kHalf, 2 * kMask>(lane, half, use, first + (upper ? kHalf : 0),
                                                   is_user);
  } else {
    State all[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) all[k] = merge(state[k], shuffle_state(state[k], kMask));
    share_lanes<Reducer, kLanes, kCount, 2 * kMask>(lane, all, use, first, is_user && !upper);
  }
}

/// Merges states of two sweeps that were accumulated separately: merge_first merges their centres,
/// each state moves to the common centre once, and merge_sums merges the sums. Every merge then
/// rounds one sum, while merges of states with different centres round three times.
template <class Reducer, int kCount, class MergeFirst, class MergeSums>
INGOT_DEVICE void merge_about_centre(typename Reducer::State (&state)[kCount],
                                     MergeFirst merge_first, MergeSums merge_sums) {
  typename Reducer::First::State first[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) first[k] = Reducer::first(state[k]);
  merge_first(first);
  typename SummandReducer::State sums[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const typename Reducer::State centre = Reducer::begin(first[k]);
    sums[k].value = Reducer::sum_about(state[k], centre);
    state[k] = centre;
  }
  merge_sums(sums);
#pragma unroll
  for (int k = 0; k < kCount; ++k) state[k] = Reducer::with_sum(state[k], sums[k].value);
}

/// As merge_lanes, of states that were accumulated separately.
template <class Reducer, int kLanes, int kCount>
INGOT_DEVICE void merge_lanes_apart(i32 lane, typename Reducer::State (&state)[kCount]) {
  if constexpr (Reducer::kTwoSweep)
    merge_about_centre<Reducer>(
        state, [&](auto& first) { merge_lanes<typename Reducer::First, kLanes>(lane, first); },
        [&](auto& sums) { merge_lanes<SummandReducer, kLanes>(lane, sums); });
  else
    merge_lanes<Reducer, kLanes>(lane, state);
}

/// Merges the states of all threads of a cluster, which share one row. Each block sends its state
/// once: an exchange takes a microsecond. A state of two sweeps moves to another centre three
/// times: to those of the warp, of the block and of the cluster. Afterwards all threads hold the
/// result. No other code of this tile uses the scratch `region`.
template <class Reducer, class Plan>
INGOT_DEVICE void merge_cluster(const TileContext& context, typename Reducer::State (&state)[1],
                                u8* region) {
  using State = typename Reducer::State;
  constexpr int kBlocks = Plan::kCluster, kWarps = Plan::kWarps;
  static_assert(Plan::kPerTile == 1 && Plan::kLanes == 31 && kWarps > 1, "the threads share a row");
  ClusterExchange& exchange = *context.exchange;
  State* const warps = reinterpret_cast<State*>(region);
  const i32 lane = context.thread % 32;
  merge_lanes_apart<Reducer, 31>(lane, state);
  if (lane == 0) warps[Plan::warp(context.thread)] = state[0];
  context.barrier();
  if (context.thread < 32) {
    state[0] = warps[lane % kWarps];
    merge_lanes_apart<Reducer, kWarps - 1>(lane, state);
    send_state<kBlocks>(exchange, lane, state[0]);
  }
  exchange.wait();
  state[0] = received_state<kBlocks, State>(exchange, lane % kBlocks);
  merge_lanes_apart<Reducer, kBlocks - 1>(lane, state);
  ++exchange.merges;
}

/// Whether one thread merges each result, and the others read it. Otherwise each thread merges its
/// own kCount results. This needs a barrier less, but each thread reads so many states. An H200's
/// argmax over the middle axis of bf16 [64, 1024, 1000] reads 512 bytes of them and takes 0.120 ms,
/// and 0.088 if merged once; sums and maxima, with 128 bytes, hardly differ.
template <class Plan, class State, int kCount>
constexpr bool kMergesOnce = kCount * Plan::kWarps * int{sizeof(State)} >= 512;

/// Merges the states of all threads of a block that share each result. Afterwards all of them hold
/// it. No other code of this tile uses the scratch `region`.
template <class Reducer, class Plan, int kCount>
INGOT_DEVICE void merge_threads(const TileContext& context,
                                typename Reducer::State (&state)[kCount], u8* region) {
  using State = typename Reducer::State;
  static_assert(Plan::kCluster == 1, "merge_cluster merges the states of a cluster");
  merge_lanes<Reducer, Plan::kLanes>(context.thread, state);
  if constexpr (Plan::kWarps > 1) {
    State* shared = reinterpret_cast<State*>(region);
    const int warp = Plan::warp(context.thread);
    if ((context.thread & Plan::kLanes) == 0) {
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        shared[warp * Plan::kPerTile + Plan::slot(context.thread, k)] = state[k];
    }
    context.barrier();
    const auto merged = [&](int slot) {
      return merge_warps<Reducer, 0, Plan::kWarps>(shared + slot, Plan::kPerTile);
    };
    if constexpr (kMergesOnce<Plan, State, kCount>) {
#pragma unroll 1
      for (int slot = context.thread; slot < Plan::kPerTile; slot += Plan::kThreads)
        shared[slot] = merged(slot); // only this thread reads the slot's states
      context.barrier();
#pragma unroll
      for (int k = 0; k < kCount; ++k) state[k] = shared[Plan::slot(context.thread, k)];
    } else {
#pragma unroll
      for (int k = 0; k < kCount; ++k) state[k] = merged(Plan::slot(context.thread, k));
    }
  }
}

} // namespace ingot
