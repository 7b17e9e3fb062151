// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/ldmatrix.cuh.
#pragma once

#include "ptx/shared.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE void ldmatrix_x4(u32 (&fragment)[4], u32 row) {
  const emulation::LaneWords* lanes = ingot_machine->exchange({{row}});
  const int lane = thread_index() % 32;
  for (int i = 0; i < 4; ++i)
    fragment[i] = load_shared(lanes[8 * i + lane / 4].word[0] + lane % 4 * 4);
}

INGOT_DEVICE void ldmatrix_x4_trans(u32 (&fragment)[4], u32 row) {
  const emulation::LaneWords* lanes = ingot_machine->exchange({{row}});
  const int lane = thread_index() % 32;
  for (int i = 0; i < 4; ++i) {
    const auto element = [&](int r) -> u32 {
      const u32 address = lanes[8 * i + r].word[0] + lane / 4 * 2;
      return *reinterpret_cast<const u16*>(shared_memory() + address);
    };
    fragment[i] = element(lane % 4 * 2) | element(lane % 4 * 2 + 1) << 16;
  }
}

} // namespace ptx
} // namespace ingot
