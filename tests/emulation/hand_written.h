// SPDX-License-Identifier: Apache-2.0
// Kernels written by hand, through which tests call functions of the device library.
#pragma once

#include "tests/emulation/emulator.h"

namespace ingot::emulation {

/// A kernel of one variant. `header`: the one of the device library that it needs.
inline KernelCode hand_written(const std::string& entry, const std::string& header,
                               const std::string& body) {
  KernelVariant variant;
  variant.entry = entry;
  variant.includes = {header};
  variant.body = body;
  KernelCode kernel;
  kernel.name = entry;
  kernel.space = "in_" + entry;
  kernel.variants = {variant};
  return kernel;
}

/// The library of such kernels.
inline llvm::Expected<std::unique_ptr<KernelLibrary>> library_of(std::vector<KernelCode> kernels) {
  Module module;
  module.name = "hand_written";
  module.kernels = std::move(kernels);
  return KernelLibrary::build({&module}, Origin::written_by_hand);
}

} // namespace ingot::emulation
