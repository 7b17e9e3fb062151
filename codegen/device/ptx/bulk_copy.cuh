// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (sm_90). One thread starts a copy, and its bytes count at
// an mbarrier as they land.
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {
namespace ptx {

/// Starts a copy of adjacent bytes to the shared address `to`. Addresses and `bytes` are multiples
/// of 16.
INGOT_DEVICE void copy_bulk(u32 to, const void* global, u32 bytes, u32 mbarrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(to),
               "l"(global), "r"(bytes), "r"(mbarrier)
               : "memory");
}

} // namespace ptx
} // namespace ingot
