// SPDX-License-Identifier: Apache-2.0
// Launches that overlap (PTX ISA, griddepcontrol; from sm_90 on). A launch may ask that its blocks
// start while those of the kernel before it still run (runtime/kernel_call.h).
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// Waits until the kernels before this one are complete and their stores are seen, and lets blocks
/// of the next kernel start. Each thread calls it once before its first access to memory.
INGOT_DEVICE void wait_for_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
}

} // namespace ptx
} // namespace ingot
