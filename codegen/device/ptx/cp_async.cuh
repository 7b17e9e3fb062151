// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory (sm_80).
#pragma once

#include "ptx/shared.cuh"

namespace ingot {
namespace ptx {

/// Starts a copy of 16 bytes that bypasses L1. Both addresses are multiples of 16. Only the first
/// `bytes` (0 to 16) are read; the rest becomes zero.
INGOT_DEVICE void cp_async_16(void* shared, const void* global, i32 bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(shared)), "l"(global), "r"(bytes)
               : "memory");
}

/// Starts a copy of kBytes: 4, 8 or 16. Both addresses are multiples of it. Only the first `bytes`
/// (0 to kBytes) are read; the rest becomes zero.
template <i32 kBytes>
INGOT_DEVICE void cp_async(void* shared, const void* global, i32 bytes = kBytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared_address(shared)), "l"(global), "n"(kBytes), "r"(bytes)
               : "memory");
}

/// Makes one group of the copies that this thread started since the last group.
INGOT_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the last kPending groups of this thread are in flight. Other threads see the
/// data after a barrier.
template <i32 kPending> INGOT_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

} // namespace ptx
} // namespace ingot
