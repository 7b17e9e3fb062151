// SPDX-License-Identifier: Apache-2.0
// Generated C++ between PyTorch's tensors and a module's launcher: checks, sizes, memory. Used by
// codegen/host/torch_file.cpp.
#pragma once

#include "codegen/host/names.h"

#include <string>

namespace ingot {

/// The functions ingot_launch and, where there is something to prepare, ingot_prepare over
/// torch::Tensor. Follows launcher_interface.
std::string torch_binding(const Module& module, const HostNames& names);

/// Whether the prepared memory depends on sizes that only the inputs' shapes give.
bool prepares_by_inputs(const Module& module);

} // namespace ingot
