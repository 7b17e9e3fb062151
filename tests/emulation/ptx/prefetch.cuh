// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/prefetch.cuh: reads the byte, so that a wrong address is found.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

inline constexpr int kCacheLine = 128;

INGOT_DEVICE void prefetch(const void* address) {
  static_cast<void>(*static_cast<const volatile u8*>(address));
}

} // namespace ptx
} // namespace ingot
