// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/atomic.cuh. Other blocks may run, wholly or in part, between an
// arrival and the next operation.
#pragma once

#include "ptx/base.cuh"

namespace ingot::ptx {

INGOT_DEVICE u32 count_arrival(u32* counter, u32 last) {
  const u32 before = *counter;
  *counter = before >= last ? 0 : before + 1;
  ingot_machine->let_others_run();
  return before;
}

INGOT_DEVICE u32 take_number(u32* counter, u32 last) { return count_arrival(counter, last); }

INGOT_DEVICE void count_up(u32* counter) { ingot_machine->count_up(counter); }

INGOT_DEVICE void wait_for_count(const u32* counter, u32 count) {
  ingot_machine->wait_for_count(counter, count);
}

} // namespace ingot::ptx
