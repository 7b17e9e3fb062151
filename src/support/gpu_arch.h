// SPDX-License-Identifier: Apache-2.0
// Names of GPU architectures, such as sm_90a. Emitted files say which GPUs they need, and runtime/
// decides which code runs on a GPU.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ingot {

struct ComputeCapability {
  int major = 0;
  int minor = 0;

  auto operator<=>(const ComputeCapability&) const = default;
};

/// The first GPUs that start a kernel's blocks while the kernel before it runs.
inline constexpr ComputeCapability kOverlappingLaunches = {9, 0};

/// An architecture such as "sm_90a": a compute capability, and whether its code runs only there.
struct GpuArch {
  ComputeCapability capability;
  bool is_exact = false;
};

/// nullopt if `arch` is not the name of an architecture.
std::optional<GpuArch> parse_arch(llvm::StringRef arch);

/// The architecture that a compile names. Another text is a bug.
GpuArch arch_of(llvm::StringRef arch);

} // namespace ingot
