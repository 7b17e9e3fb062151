// SPDX-License-Identifier: Apache-2.0
// Prints a kernel as CUDA C++: thin text over the device library. It makes no decisions. lower
// calls it.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The same kernel gives the same bytes in every process.
KernelCode emit_kernel(const Kernel& kernel);

} // namespace ingot
