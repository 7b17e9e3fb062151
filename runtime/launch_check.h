// SPDX-License-Identifier: Apache-2.0
// What a caller hands to prepare and launch, checked against the plan: shapes give the named
// dimensions, pointers must be aligned and outputs must overlap nothing. No allocation on success.
#pragma once

#include "runtime/driver.h"
#include "runtime/launch_plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace ingot {

/// A dense row-major tensor in device memory.
struct TensorArgument {
  DevicePointer data = 0; ///< of the first element; may be 0 when the tensor has no element
  llvm::ArrayRef<int64_t> shape;
};

/// A tensor list with what it is called in messages and where its pointers go.
struct TensorGroup {
  const char* role; ///< input, param, output
  llvm::ArrayRef<BoundTensor> expected;
  llvm::ArrayRef<TensorArgument> given;
  uint32_t first_base;
};

/// A dimension slot that no shape has given yet.
inline constexpr int64_t kUnknownDim = -1;

/// What becomes of an extent of names that no shape gives.
enum class UnknownDims : uint8_t {
  pass,   ///< it is not checked: prepare sees params alone
  refuse, ///< invalid_argument
};

/// Takes named dimensions from the shapes and checks every extent. `slots` holds kUnknownDim for
/// dimensions that are not known yet. A name that stands alone is the extent; one that is left in a
/// product or a sum, such as 2*m or m - 1, is solved for. invalid_argument names the tensor, the
/// axis and both extents.
llvm::Error solve_dims(const Module& module, llvm::ArrayRef<TensorGroup> groups,
                       UnknownDims unknown, llvm::MutableArrayRef<int64_t> slots);

/// Checks that the sizes that are known make nothing negative of what the module needs to be at
/// least 0.
llvm::Error check_requirements(const Module& module, const LaunchPlan& plan,
                               llvm::ArrayRef<int64_t> slots);

/// Checks that for some sizes of these ranges the bytes of each tensor can be counted.
llvm::Error check_sizes(const Module& module, const LaunchPlan& plan,
                        llvm::ArrayRef<SlotRange> slots);

/// Stores the tensors' pointers in `bases` and checks null and alignment.
llvm::Error take_pointers(llvm::ArrayRef<TensorGroup> groups,
                          llvm::MutableArrayRef<uint64_t> bases);

/// Stores a memory's pointer in `*base` after checking that it is there when bytes are needed, and
/// aligned.
llvm::Error take_memory(const char* what, const BoundMemory& memory, DevicePointer given,
                        llvm::ArrayRef<int64_t> slots, uint64_t* base);

/// Checks that no output shares bytes with an input, a param, another output or a memory.
llvm::Error check_overlap(const LaunchPlan& plan, llvm::ArrayRef<TensorGroup> groups,
                          llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases);

} // namespace ingot
