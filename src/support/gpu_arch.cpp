// SPDX-License-Identifier: Apache-2.0
// See gpu_arch.h.
#include "src/support/gpu_arch.h"

#include "src/support/error.h"

namespace ingot {

std::optional<GpuArch> parse_arch(llvm::StringRef arch) {
  GpuArch result;
  int number = 0;
  if (!arch.consume_front("sm_")) return std::nullopt;
  result.is_exact = arch.consume_back("a");
  if (arch.getAsInteger(10, number) || number < 0 || number > 9999) return std::nullopt;
  result.capability = {number / 10, number % 10};
  return result;
}

GpuArch arch_of(llvm::StringRef arch) {
  const std::optional<GpuArch> parsed = parse_arch(arch);
  INGOT_ASSERT(parsed);
  return *parsed;
}

} // namespace ingot
