// SPDX-License-Identifier: Apache-2.0
// Generated C++ between PyTorch's tensors and a module's launcher: checks, sizes, memory.
// codegen/host/torch_file.cpp uses it.
#pragma once

#include "codegen/host/names.h"

#include <string>

namespace ingot {

/// The function ingot_launch over torch::Tensor and, if the module has a prepare program,
/// ingot_prepare. They follow launcher_interface.
std::string torch_binding(const Module& module, const HostNames& names);

/// Whether the size of prepared memory depends on dimensions that only shapes of inputs give.
bool prepares_by_inputs(const Module& module);

} // namespace ingot
