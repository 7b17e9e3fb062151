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

} // namespace ingot::ptx
