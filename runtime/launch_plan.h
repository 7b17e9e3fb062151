// SPDX-License-Identifier: Apache-2.0
// A Module with every name resolved to a number, so that a launch is arithmetic over small arrays.
// Made once by Executable::create; immutable.
#pragma once

#include "codegen/program/program.h"
#include "runtime/slot_expr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ingot {

/// Kernel parameters stay below CUDA's classic limit of 4 KB; each takes 8 bytes.
inline constexpr size_t kMaxArguments = 512;

/// A value passed to a kernel: `bases[base] + value`, or `value` alone.
struct BoundArgument {
  static constexpr uint32_t kNoBase = UINT32_MAX;
  uint32_t base = kNoBase;
  SlotExpr value;
};

struct BoundPredicate {
  PredicateKind kind = PredicateKind::divisible;
  SlotExpr value;
  uint32_t argument = 0;
  int64_t number = 1;
};

struct BoundVariant {
  std::string entry;
  std::vector<BoundPredicate> when;
  std::array<SlotExpr, 3> grid, block;
  SlotExpr shared_bytes;
  std::array<unsigned, 3> cluster = {1, 1, 1};
  bool cooperative = false;
  std::vector<BoundArgument> arguments;
};

/// The variants of a kernel are `first` up to `first + count` of LaunchPlan::variants.
struct BoundKernel {
  std::string name;
  uint32_t first = 0;
  uint32_t count = 0;
};

struct BoundStep {
  StepKind kind = StepKind::kernel;
  uint32_t kernel = 0;
  BoundArgument target;
  SlotExpr bytes;
  uint8_t value = 0;
};

struct BoundTensor {
  std::string name;
  std::vector<SlotExpr> shape;
  int64_t element_bytes = 1;
  int64_t alignment = 1;
};

struct BoundMemory {
  SlotExpr bytes;
  int64_t alignment = 1;
};

/// Values of the slots: the named dims in the module's order, then the device constants.
using SlotValues = llvm::SmallVector<int64_t, 16>;
using SlotIntervals = llvm::SmallVector<SlotRange, 16>;

struct LaunchPlan {
  /// internal error when the module is not consistent; unsupported when a kernel takes more than
  /// kMaxArguments.
  static llvm::Expected<LaunchPlan> bind(const Module& module);

  uint32_t num_dims = 0;
  uint32_t num_slots() const { return num_dims + 2; }
  uint32_t sm_count_slot() const { return num_dims; }
  uint32_t max_shared_slot() const { return num_dims + 1; }

  // Base pointers: inputs, params, outputs, then the three memories.
  uint32_t param_base() const { return uint32_t(inputs.size()); }
  uint32_t output_base() const { return uint32_t(inputs.size() + params.size()); }
  uint32_t prepared_base() const { return output_base() + uint32_t(outputs.size()); }
  uint32_t workspace_base() const { return prepared_base() + 1; }
  uint32_t state_base() const { return prepared_base() + 2; }
  uint32_t num_bases() const { return prepared_base() + 3; }

  /// Whether the prepare program or the size of prepared memory depends on a named dimension.
  bool prepare_uses(uint32_t slot) const;

  std::vector<BoundTensor> inputs, params, outputs;
  std::vector<SlotExpr> requirements; ///< as the module's
  std::vector<BoundKernel> kernels;
  std::vector<BoundVariant> variants;
  std::vector<BoundStep> prepare, launch;
  BoundMemory prepared, workspace, state;
};

/// A module and its plan, which executables of several sections of a bundle may share.
struct BoundModule {
  std::shared_ptr<const Module> module;
  LaunchPlan plan;

  /// Errors: as LaunchPlan::bind.
  static llvm::Expected<std::shared_ptr<const BoundModule>>
  bind(std::shared_ptr<const Module> module);
};

/// What a predicate list says about all launches within some intervals.
enum class Applies : uint8_t { never, maybe, always };

/// Whether `variant` is taken for sizes within `slots`; pointer alignments beyond what the plan
/// guarantees are unknown.
Applies variant_applies(const LaunchPlan& plan, const BoundVariant& variant,
                        llvm::ArrayRef<SlotRange> slots);

/// The value of `argument`; nullopt on overflow.
std::optional<uint64_t> argument_value(const BoundArgument& argument, llvm::ArrayRef<int64_t> slots,
                                       llvm::ArrayRef<uint64_t> bases);

/// Whether every predicate of `variant` holds.
bool variant_holds(const BoundVariant& variant, llvm::ArrayRef<int64_t> slots,
                   llvm::ArrayRef<uint64_t> bases);

} // namespace ingot
