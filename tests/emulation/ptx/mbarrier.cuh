// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/mbarrier.cuh: the executor keeps the phases.
#pragma once

#include "ptx/shared.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE bool elect() { return thread_index() % 32 == 0; }

INGOT_DEVICE void make_mbarrier(u32 at, u32 arrivals) {
  ingot_machine->make_mbarrier(at, arrivals);
}
INGOT_DEVICE void publish_mbarriers() {}
INGOT_DEVICE void arrive(u32 at) { ingot_machine->arrive(at, 0); }
INGOT_DEVICE void arrive_expecting(u32 at, u32 bytes) { ingot_machine->arrive(at, bytes); }
INGOT_DEVICE void wait_phase(u32 at, u32 parity) { ingot_machine->wait_phase(at, parity); }

} // namespace ptx
} // namespace ingot
