// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster run at the same time and reach each other's shared memory (sm_90).
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {
namespace ptx {

/// The place of the block in its cluster.
INGOT_DEVICE u32 rank_in_cluster() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the cluster arrive, and each waits before it arrives again. Writes to shared
/// memory before the arrival are visible after the wait. Whole warps call both. The arrival waits
/// for all earlier stores of the thread.
INGOT_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
INGOT_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Arrives at the mbarrier at the shared address `at` of block `rank` of the cluster. It publishes
/// no stores to the other block: a release to the cluster waits for all memory, which takes 1 us.
INGOT_DEVICE void arrive_at_block(u32 at, u32 rank) {
  asm volatile("{\n.reg .b32 to;\nmapa.shared::cluster.u32 to, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [to];\n}"
               :
               : "r"(at), "r"(rank)
               : "memory");
}

/// Starts to store a word at the shared address `at` of block `rank` of the cluster. Its four bytes
/// count at the mbarrier of that block when they are there.
INGOT_DEVICE void store_to_block(u32 at, u32 word, u32 rank, u32 mbarrier) {
  asm volatile("{\n.reg .b32 to, counter;\nmapa.shared::cluster.u32 to, %0, %2;\n"
               "mapa.shared::cluster.u32 counter, %3, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [to], %1, [counter];\n}"
               :
               : "r"(at), "r"(word), "r"(rank), "r"(mbarrier)
               : "memory");
}

} // namespace ptx
} // namespace ingot
