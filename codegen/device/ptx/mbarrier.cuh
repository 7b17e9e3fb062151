// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory that count arrivals and bytes (sm_90). A phase ends when all of its
// arrivals and all announced bytes have come. A wait names a phase by its parity alone. So a thread
// may wait only for the current phase or the one before it.
#pragma once

#include "ptx/shared.cuh"

namespace ingot {
namespace ptx {

/// True in one thread of a whole warp. Of a branch on it, the compiler knows that one thread takes
/// it. Elsewhere it makes a loop over threads around each copy.
INGOT_DEVICE bool elect() {
  u32 is_elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(is_elected));
  return is_elected != 0;
}

/// Makes a barrier at a shared address that is a multiple of 8. Phases have `arrivals` arrivals.
INGOT_DEVICE void make_mbarrier(u32 at, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}

/// Copies see the barriers that this thread made. Threads see them after a barrier of the block.
INGOT_DEVICE void publish_mbarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

INGOT_DEVICE void arrive(u32 at) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

/// Arrives, and announces that copies of `bytes` bytes will land.
INGOT_DEVICE void arrive_expecting(u32 at, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes)
               : "memory");
}

/// Waits until the phase of this parity has ended. The first phase has parity 0, so a wait for
/// parity 1 passes before it ends.
INGOT_DEVICE void wait_phase(u32 at, u32 parity) {
  u32 has_ended;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(has_ended)
                 : "r"(at), "r"(parity)
                 : "memory");
  } while (has_ended == 0);
}

} // namespace ptx
} // namespace ingot
