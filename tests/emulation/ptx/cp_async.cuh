// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/cp_async.cuh: the executor decides when a copy lands.
#pragma once

#include "ptx/shared.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE void cp_async_16(void* shared, const void* global, i32 bytes) {
  ingot_machine->copy_async(shared, global, bytes, 16);
}
template <i32 kBytes>
INGOT_DEVICE void cp_async(void* shared, const void* global, i32 bytes = kBytes) {
  ingot_machine->copy_async(shared, global, bytes, kBytes);
}

INGOT_DEVICE void cp_async_commit() { ingot_machine->commit_copies(); }

template <i32 kPending> INGOT_DEVICE void cp_async_wait() { ingot_machine->wait_copies(kPending); }

} // namespace ptx
} // namespace ingot
