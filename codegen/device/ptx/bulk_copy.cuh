// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (sm_90). One thread starts a copy, and its bytes count at
// an mbarrier as they land.
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {

/// The memory, extents and boxes of a tensor, as the host encoded them (CUtensorMap).
struct alignas(64) TensorMap {
  u64 words[16];
};

namespace ptx {

/// Orders this thread's accesses to global memory with bulk copies, which access memory by another
/// way: its writes before the fence with copies that start later, and copies that it starts after
/// the fence with writes that it has seen (PTX ISA, "Async proxy").
INGOT_DEVICE void order_with_copies() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// Starts a copy of adjacent bytes to the shared address `to`. Addresses and `bytes` are multiples
/// of 16.
INGOT_DEVICE void copy_bulk(u32 to, const void* global, u32 bytes, u32 mbarrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(to),
               "l"(global), "r"(bytes), "r"(mbarrier)
               : "memory");
}

/// Starts a copy of one box of a tensor of three dims, from these coordinates on, innermost first.
/// `to` is a multiple of 1024.
INGOT_DEVICE void copy_box(u32 to, const TensorMap* map, i32 inner, i32 line, i32 batch,
                           u32 mbarrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
               "l"(map), "r"(inner), "r"(line), "r"(batch), "r"(mbarrier)
               : "memory");
}

/// Copies a box to several blocks of a cluster, those of the bits of `blocks`. Each gets it at its
/// address `to`, and its bytes count at its mbarrier.
INGOT_DEVICE void copy_box_to(u16 blocks, u32 to, const TensorMap* map, i32 inner, i32 line,
                              i32 batch, u32 mbarrier) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
               "l"(map), "r"(inner), "r"(line), "r"(batch), "r"(mbarrier), "h"(blocks)
               : "memory");
}

} // namespace ptx
} // namespace ingot
