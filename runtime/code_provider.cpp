// SPDX-License-Identifier: Apache-2.0
// See code_provider.h.
#include "runtime/code_provider.h"

namespace ingot {

bool machine_code_runs_on(llvm::StringRef arch, ComputeCapability gpu) {
  const std::optional<GpuArch> made_for = parse_arch(arch);
  if (!made_for || made_for->capability.major != gpu.major) return false;
  return made_for->is_exact ? made_for->capability == gpu : made_for->capability <= gpu;
}

bool ptx_runs_on(llvm::StringRef arch, ComputeCapability gpu) {
  const std::optional<GpuArch> made_for = parse_arch(arch);
  if (!made_for) return false;
  return made_for->is_exact ? made_for->capability == gpu : made_for->capability <= gpu;
}

CodeProvider::~CodeProvider() = default;

bool CodeProvider::runs_on(llvm::StringRef arch, ComputeCapability gpu) const {
  return machine_code_runs_on(arch, gpu);
}

} // namespace ingot
