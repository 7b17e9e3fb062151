// SPDX-License-Identifier: Apache-2.0
// Counters in global memory that synchronise blocks.
#pragma once

#include "ptx/base.cuh"

namespace ingot::ptx {

/// A counter that runs from 0 to `last` and starts again at 0: returns the count and increments it.
/// Writes of the thread's block before its last barrier are visible to a block that counts later,
/// after a barrier (PTX ISA, "Memory Consistency Model": release and acquire are cumulative over
/// barriers).
INGOT_DEVICE u32 count_arrival(u32* counter, u32 last) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}

/// A counter that runs from 0 to `last` and starts again at 0: returns the count and increments it.
/// It orders no other accesses.
INGOT_DEVICE u32 take_number(u32* counter, u32 last) {
  u32 before;
  asm volatile("atom.relaxed.gpu.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}

/// Adds 1 to a counter. A thread that waits for the count sees this thread's earlier writes, and
/// those of its warp before the last barrier of the warp.
INGOT_DEVICE void count_up(u32* counter) {
  asm volatile("red.release.gpu.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

/// Waits until a counter has reached `count`.
INGOT_DEVICE void wait_for_count(const u32* counter, u32 count) {
  u32 now;
  do {
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  } while (now < count);
}

} // namespace ingot::ptx
