// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/cluster.cuh: the executor runs the blocks of a cluster.
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE u32 rank_in_cluster() { return ingot_machine->rank_in_cluster(); }
INGOT_DEVICE void cluster_arrive() { ingot_machine->cluster_arrive(); }
INGOT_DEVICE void cluster_wait() { ingot_machine->cluster_wait(); }
INGOT_DEVICE void arrive_at_block(u32 at, u32 rank) { ingot_machine->arrive_at_block(at, rank); }
INGOT_DEVICE void store_to_block(u32 at, u32 word, u32 rank, u32 mbarrier) {
  ingot_machine->store_to_block(at, word, rank, mbarrier);
}

} // namespace ptx
} // namespace ingot
