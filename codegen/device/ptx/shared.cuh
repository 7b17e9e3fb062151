// SPDX-License-Identifier: Apache-2.0
// Shared memory by 32-bit addresses, so that address arithmetic takes one register.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// The address within shared memory of a generic pointer.
INGOT_DEVICE u32 shared_address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

/// The 4 bytes at an address that is a multiple of 4.
INGOT_DEVICE u32 load_shared(u32 address) {
  u32 value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

/// Stores 4 bytes at an address that is a multiple of 4.
INGOT_DEVICE void store_shared(u32 address, u32 value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/// The 8 bytes at an address that is a multiple of 8.
INGOT_DEVICE void load_shared(u32 address, u32& first, u32& second) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(address)
               : "memory");
}

} // namespace ptx
} // namespace ingot
