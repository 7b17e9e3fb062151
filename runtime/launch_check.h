// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of prepare and launch against the plan. Shapes give the named dimensions.
// Pointers must be aligned, and outputs must overlap nothing. A successful check allocates nothing.
#pragma once

#include "runtime/driver.h"
#include "runtime/launch_plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace ingot {

/// A dense row-major tensor in device memory.
struct TensorArgument {
  DevicePointer data = 0; ///< address of the first element; may be 0 for an empty tensor
  llvm::ArrayRef<int64_t> shape;
};

/// A list of tensors, with its name in messages and the place for its pointers.
struct TensorGroup {
  const char* role; ///< input, param, output
  llvm::ArrayRef<BoundTensor> expected;
  llvm::ArrayRef<TensorArgument> given;
  uint32_t first_base;
};

/// A dimension whose size no shape has given yet.
inline constexpr int64_t kUnknownDim = -1;

/// The treatment of an extent whose names no shape gives.
enum class UnknownDims : uint8_t {
  pass,   ///< not checked, because prepare sees only params
  refuse, ///< invalid_argument
};

/// Solves named dimensions from the shapes and checks every extent. `slots` holds kUnknownDim for
/// unknown dimensions. An extent that is a single name gives its value. One unknown name in a
/// product or a sum, such as 2*m or m - 1, is solved for. Errors: invalid_argument with the tensor,
/// the axis and both extents.
llvm::Error solve_dims(const Module& module, llvm::ArrayRef<TensorGroup> groups,
                       UnknownDims unknown, llvm::MutableArrayRef<int64_t> slots);

/// Checks that every requirement of the module is at least 0 for the known sizes.
llvm::Error check_requirements(const Module& module, const LaunchPlan& plan,
                               llvm::ArrayRef<int64_t> slots);

/// Checks that, for some sizes in these ranges, the number of bytes of each tensor fits.
llvm::Error check_sizes(const Module& module, const LaunchPlan& plan,
                        llvm::ArrayRef<IntRange> slots);

/// Stores the pointers of tensors in `bases`. Checks that they are not null and are aligned.
llvm::Error take_pointers(llvm::ArrayRef<TensorGroup> groups,
                          llvm::MutableArrayRef<uint64_t> bases);

/// Stores the pointer of a memory in `*base`. Checks that it is aligned, and not null if bytes are
/// needed.
llvm::Error take_memory(const char* what, const BoundMemory& memory, DevicePointer given,
                        llvm::ArrayRef<int64_t> slots, uint64_t* base);

/// Checks that no output shares bytes with an input, a param, another output or a memory.
llvm::Error check_overlap(const LaunchPlan& plan, llvm::ArrayRef<TensorGroup> groups,
                          llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases);

} // namespace ingot
