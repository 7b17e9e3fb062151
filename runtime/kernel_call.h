// SPDX-License-Identifier: Apache-2.0
// A kernel's launch as the driver takes it: made from sizes and pointers once, enqueued on any
// stream as often as they stay the same. Used by launches and by prepare.
#pragma once

#include "runtime/driver.h"
#include "runtime/launch_plan.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace ingot {

/// A variant on a device.
struct LoadedVariant {
  driver_api::Function function = nullptr; ///< null: not among the prepared variants
  int64_t shared_limit = 0;                ///< dynamic shared memory the attribute allows
  int64_t most_clusters = INT64_MAX;       ///< that run at once, of a variant with clusters
  bool overlaps = false;                   ///< its blocks may start while the kernel before it runs

  bool operator==(const LoadedVariant&) const = default;
};

struct KernelCall {
  const BoundVariant* variant = nullptr; ///< null: a tensor without elements, and nothing to launch
  driver_api::Function function = nullptr;
  driver_api::LaunchConfig config = {}; ///< without its stream and attributes
  bool overlaps = false;                ///< see LoadedVariant
  std::vector<uint64_t> values;         ///< of the arguments
  std::vector<driver_api::TensorMap> maps;

  /// The call of `variant` as loaded. Reuses the vectors of an earlier call. Errors: unsupported
  /// for sizes that are too large for a launch, an argument or a tensor map, and for more shared
  /// memory than the variant may have, naming the kernel.
  llvm::Error bind(const driver_api::Functions& driver, const BoundVariant& variant,
                   const LoadedVariant& loaded, llvm::ArrayRef<int64_t> slots,
                   llvm::ArrayRef<uint64_t> bases);

  /// Error: launch_error if the driver refuses it.
  llvm::Error enqueue(const driver_api::Functions& driver, Stream stream) const;
};

/// Whether the blocks of a launch are in clusters of several.
inline bool has_clusters(const BoundVariant& variant) {
  return variant.cluster != std::array<unsigned, 3>{1, 1, 1};
}

/// The attribute of a launch whose blocks may start while the kernel before it runs.
inline driver_api::LaunchAttribute overlap_attribute() {
  driver_api::LaunchAttribute attribute = {};
  attribute.id = driver_api::kProgrammaticSerialization;
  attribute.value.serialization_is_programmatic = 1;
  return attribute;
}

/// The attribute of a launch whose blocks are in the variant's clusters.
inline driver_api::LaunchAttribute cluster_attribute(const BoundVariant& variant) {
  driver_api::LaunchAttribute attribute = {};
  attribute.id = driver_api::kClusterDimension;
  for (int axis = 0; axis < 3; ++axis) attribute.value.cluster[axis] = variant.cluster[axis];
  return attribute;
}

} // namespace ingot
