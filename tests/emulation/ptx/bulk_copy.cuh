// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/bulk_copy.cuh: the executor decides when a copy lands.
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {

using emulation::TensorMap;

namespace ptx {

INGOT_DEVICE void order_with_copies() {}

INGOT_DEVICE void copy_bulk(u32 to, const void* global, u32 bytes, u32 mbarrier) {
  ingot_machine->copy_bulk(to, global, bytes, mbarrier);
}

INGOT_DEVICE void copy_box(u32 to, const TensorMap* map, i32 inner, i32 line, i32 batch,
                           u32 mbarrier) {
  ingot_machine->copy_box(to, *map, {inner, line, batch}, mbarrier);
}

INGOT_DEVICE void copy_box_to(u16 blocks, u32 to, const TensorMap* map, i32 inner, i32 line,
                              i32 batch, u32 mbarrier) {
  ingot_machine->copy_box_to(blocks, to, *map, {inner, line, batch}, mbarrier);
}

} // namespace ptx
} // namespace ingot
