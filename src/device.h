// SPDX-License-Identifier: Apache-2.0
// The GPU that is present as a DeviceSpec, for `--device=native` and for launches. The public API
// and the command line call it.
#pragma once

#include "ir/machine/device_spec.h"
#include "runtime/driver.h"
#include "src/compiler.h"

namespace ingot {

/// The spec of a card. The driver reports sizes but no rates. Rates come from the preset whose name
/// the card's name contains. Errors: ErrorCode::unsupported below compute capability 8.0.
llvm::Expected<DeviceSpec> device_spec_of(const DeviceProperties& properties);

/// The spec of the first GPU. Errors: ErrorCode::unavailable without a driver or a GPU.
llvm::Expected<DeviceSpec> native_device_spec();

/// Checks that the target and the device of `options` are known, and sets the spec of the card that
/// is present if the device is `native`. Errors: those of make_target and native_device_spec.
llvm::Error find_card(CompileOptions& options);

} // namespace ingot
