// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/overlap.cuh: kernels run one after the other.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE void wait_for_kernels_before() {}

} // namespace ptx
} // namespace ingot
