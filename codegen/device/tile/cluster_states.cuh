// SPDX-License-Identifier: Apache-2.0
// The blocks of a cluster send each other the states of a row that they share (sm_90). A barrier of
// the cluster would wait for the stores of the row before.
#pragma once

#include "ptx/cluster.cuh"
#include "tile/context.cuh"

namespace ingot {

// Merges use two sets of memory in turn, each with an mbarrier and a state of every block. A block
// sends its state of merge n + 2 after it has received all of merge n + 1. Their senders sent
// behind a barrier of their threads, which had read the states of merge n. So nothing in the set is
// needed any more.

/// The memory in which a block receives states, and the number of merges so far.
struct ClusterExchange {
  u32 base; ///< shared address, a multiple of 16
  u32 rank; ///< of this block
  u32 merges = 0;

  /// By one thread. Blocks may send after a barrier of the cluster.
  INGOT_DEVICE void make() const {
    for (u32 set = 0; set < 2; ++set) ptx::make_mbarrier(base + 8 * set, 1);
    ptx::publish_mbarriers();
  }
  INGOT_DEVICE u32 mbarrier() const { return base + 8 * (merges % 2); }
  template <int kBlocks> INGOT_DEVICE u32 place(u32 sender) const {
    return base + 16 + (merges % 2 * kBlocks + sender) * sizes::kMostStateBytes;
  }
  /// States count at the mbarrier as they arrive, as bulk copies do. An acquire of the cluster
  /// would empty L1.
  INGOT_DEVICE void wait() const { ptx::wait_phase(mbarrier(), merges / 2 % 2); }
};

/// A state as words.
template <class State> union StateWords {
  static constexpr int kCount = sizeof(State) / 4;
  static_assert(sizeof(State) % 4 == 0, "states are whole words");
  State state;
  u32 word[kCount];
  INGOT_DEVICE StateWords() {}
};

/// Sends a state, which all lanes of one warp hold, to all blocks of the cluster.
template <int kBlocks, class State>
INGOT_DEVICE void send_state(const ClusterExchange& exchange, i32 lane, const State& state) {
  static_assert(sizeof(State) <= sizes::kMostStateBytes, "a state fits its place");
  constexpr int kAtOnce = 32 / kBlocks; // words
  StateWords<State> words;
  words.state = state;
  if (lane == 0) ptx::arrive_expecting(exchange.mbarrier(), kBlocks * sizeof(State));
  const u32 to = exchange.place<kBlocks>(exchange.rank);
#pragma unroll
  for (int w = 0; w < words.kCount; ++w)
    if (lane / kBlocks == w % kAtOnce)
      ptx::store_to_block(to + 4 * w, words.word[w], lane % kBlocks, exchange.mbarrier());
}

/// The state that block `sender` has sent.
template <int kBlocks, class State>
INGOT_DEVICE State received_state(const ClusterExchange& exchange, u32 sender) {
  StateWords<State> words;
#pragma unroll
  for (int w = 0; w < words.kCount; ++w)
    words.word[w] = ptx::load_shared(exchange.place<kBlocks>(sender) + 4 * w);
  return words.state;
}

} // namespace ingot
