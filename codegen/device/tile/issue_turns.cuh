// SPDX-License-Identifier: Apache-2.0
// Turns in which two warpgroups issue the products of a slot (sm_90a).
#pragma once

#include "ptx/base.cuh"
#include "sizes/shared_memory.h"

namespace ingot {

// Tensor cores would share their time between the products of both warpgroups. These would then end
// together, and nothing would run beside the additions. So the warpgroups take turns, and one adds
// while the other multiplies.

template <int kGroups> struct IssueTurns {
  static_assert(kGroups == 2, "two warpgroups share a tile");
  i32 group;

  /// `thread`: the index among the threads of both.
  INGOT_DEVICE explicit IssueTurns(i32 thread) : group(ptx::uniform(thread / sizes::kWarpgroup)) {}

  /// Before the first tile: the first warpgroup issues first. Its turn behind the last tile is left
  /// over, and ends with the block.
  static INGOT_DEVICE void begin(i32 thread) {
    if (const IssueTurns turns(thread); turns.group == 1) turns.pass();
  }
  INGOT_DEVICE void wait() const {
    if (group == 0)
      ptx::wait_for_issue(kBarrier, kMultiplying);
    else
      ptx::wait_for_issue(kBarrier + 1, kMultiplying);
  }
  INGOT_DEVICE void pass() const {
    if (group == 0)
      ptx::pass_issue(kBarrier + 1, kMultiplying);
    else
      ptx::pass_issue(kBarrier, kMultiplying);
  }

private:
  // Behind those of kernels/specialised.cuh, of which the last is 1 + kGroups. Constants, because a
  // number would take a register.
  static constexpr i32 kBarrier = 8; ///< of the first warpgroup. That of the second is the next one
  static constexpr i32 kMultiplying = 2 * sizes::kWarpgroup;
};

} // namespace ingot
