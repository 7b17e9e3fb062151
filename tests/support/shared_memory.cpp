// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h.
#include "tests/support/shared_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace ingot::testing {

std::string shared_memory_assertion(const KernelCode& kernel, size_t v) {
  const KernelVariant& variant = kernel.variants[v];
  const auto uses = [&](const char* header) {
    return llvm::is_contained(variant.includes, header);
  };
  const char* const form =
      uses("kernels/packing_tiles.cuh")        ? "PackingTiles<Kernel<V{}>>::kSharedBytes"
      : uses("kernels/packing_rows.cuh")       ? "PackingRows<Kernel<V{}>>::kSharedBytes"
      : uses("kernels/kept.cuh")               ? "KeptBytes<Kernel<V{}>>::kBytes"
      : uses("kernels/specialised.cuh")        ? "SpecialisedBytes<Kernel<V{}>>::kBytes"
      : uses("kernels/nested_specialised.cuh") ? "NestedBytes<Kernel<V{}>>::kBytes"
                                               : "SharedBytes<Kernel<V{}>>::kBytes";
  const std::string taken = fmt::format(fmt::runtime(form), v);
  return fmt::format("namespace {} {{\n"
                     "static_assert({} == {}, \"the host plans shared memory\");\n}}\n",
                     kernel.space, taken, variant.launch.shared_bytes.text());
}

} // namespace ingot::testing
