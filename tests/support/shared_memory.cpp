// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h.
#include "tests/support/shared_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace ingot::testing {

std::string shared_memory_assertion(const KernelCode& kernel, size_t v) {
  const KernelVariant& variant = kernel.variants[v];
  const bool halves = llvm::is_contained(variant.includes, "kernels/halving.cuh");
  const std::string taken = halves ? fmt::format("Halving<Kernel<V{}>>::kSharedBytes", v)
                                   : fmt::format("SharedBytes<Kernel<V{}>>::kBytes", v);
  return fmt::format("namespace {} {{\n"
                     "static_assert({} == {}, \"the host plans shared memory\");\n}}\n",
                     kernel.space, taken, variant.launch.shared_bytes.text());
}

} // namespace ingot::testing
