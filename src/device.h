// SPDX-License-Identifier: Apache-2.0
// The GPU that is present as a DeviceSpec, for `--device=native` and for launches. Called by the
// public API and the command line.
#pragma once

#include "ir/machine/device_spec.h"
#include "runtime/driver.h"

namespace ingot {

/// The spec of a card: what the driver states, and for rates, which it does not state, those of the
/// preset that its name holds. Errors: ErrorCode::unsupported below compute capability 8.0.
llvm::Expected<DeviceSpec> device_spec_of(const DeviceProperties& properties);

/// device_spec_of the first GPU. Errors: ErrorCode::unavailable without a driver or a GPU.
llvm::Expected<DeviceSpec> native_device_spec();

} // namespace ingot
