// SPDX-License-Identifier: Apache-2.0
// The shared memory of kernels as the device library lays it out, beside the host's plan.
#pragma once

#include "codegen/program/program.h"

namespace ingot::testing {

/// Code behind that of a kernel, or of its variant `v` alone, which compiles where the bytes of
/// shared memory that a launch passes are those that the device library takes.
std::string shared_memory_assertion(const KernelCode& kernel, size_t v);

} // namespace ingot::testing
