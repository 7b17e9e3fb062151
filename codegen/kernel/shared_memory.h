// SPDX-License-Identifier: Apache-2.0
// The dynamic shared memory of a kernel. It is computed from the numbers with which the device
// library lays it out (codegen/device/sizes/). Tests compile kernels that assert the result.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The shared memory of a kernel, which may be an outline.
int64_t shared_bytes(const Kernel& kernel, const Schedule& schedule);

/// Bytes of a reduction's state (math/reducers.cuh).
int64_t state_bytes(const Reducer& reducer);

/// The columns of the registers of a resident tile.
int64_t resident_columns(const TileBody& tile, const Schedule& schedule);

} // namespace ingot
