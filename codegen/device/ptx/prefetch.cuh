// SPDX-License-Identifier: Apache-2.0
// Requests of memory ahead of its reads.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// Bytes of a line of the L1 cache.
inline constexpr int kCacheLine = 128;

/// Brings the line at an address to the L1 cache.
INGOT_DEVICE void prefetch(const void* address) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
}

} // namespace ptx
} // namespace ingot
