// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/bulk_copy.cuh: the executor decides when a copy lands.
#pragma once

#include "ptx/mbarrier.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE void copy_bulk(u32 to, const void* global, u32 bytes, u32 mbarrier) {
  ingot_machine->copy_bulk(to, global, bytes, mbarrier);
}

} // namespace ptx
} // namespace ingot
