// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/shared.cuh: addresses count from the block's shared memory.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE u32 shared_address(const void* shared) {
  return static_cast<u32>(static_cast<const u8*>(shared) - shared_memory());
}

INGOT_DEVICE u32 load_shared(u32 address) {
  return *reinterpret_cast<const u32*>(shared_memory() + address);
}

INGOT_DEVICE void store_shared(u32 address, u32 value) {
  *reinterpret_cast<u32*>(shared_memory() + address) = value;
}

INGOT_DEVICE void load_shared(u32 address, u32& first, u32& second) {
  first = load_shared(address);
  second = load_shared(address + 4);
}

} // namespace ptx
} // namespace ingot
