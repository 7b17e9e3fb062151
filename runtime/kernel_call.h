// SPDX-License-Identifier: Apache-2.0
// A kernel's launch as the driver takes it: made from sizes and pointers once, enqueued on any
// stream as often as they stay the same. Used by launches and by prepare.
#pragma once

#include "runtime/driver.h"
#include "runtime/launch_plan.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace ingot {

struct KernelCall {
  const BoundVariant* variant = nullptr; ///< null: a tensor without elements, and nothing to launch
  driver_api::Function function = nullptr;
  driver_api::LaunchConfig config = {}; ///< without its stream and attributes
  std::vector<uint64_t> values;         ///< of the arguments
  std::vector<driver_api::TensorMap> maps;

  /// The call of `variant`, whose code is `function` and may have up to `shared_limit` bytes of
  /// dynamic shared memory. Reuses the vectors of an earlier call. Errors: unsupported for sizes
  /// that are too large for a launch, an argument or a tensor map, and for more shared memory than
  /// `shared_limit`, naming the kernel.
  llvm::Error bind(const driver_api::Functions& driver, const BoundVariant& variant,
                   driver_api::Function function, int64_t shared_limit,
                   llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases);

  /// Error: launch_error if the driver refuses it.
  llvm::Error enqueue(const driver_api::Functions& driver, Stream stream) const;
};

} // namespace ingot
