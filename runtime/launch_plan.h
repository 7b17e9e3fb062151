// SPDX-License-Identifier: Apache-2.0
// A Module in which every name is resolved to a number, so that a launch is arithmetic on small
// arrays. Executable::create makes it once; it is immutable.
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

/// CUDA's classic limit of kernel parameters in bytes. An argument takes 8, a tensor map 128, and
/// at most 56 before it for its alignment.
inline constexpr size_t kMostArgumentBytes = 4096, kMostMapBytes = 128 + 56;
inline constexpr size_t kMaxArguments = kMostArgumentBytes / 8;

/// The value of a kernel argument: `bases[base] + value`, or `value` alone. Of a tensor map, the
/// address of the tensor.
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

/// A tensor map, in the order of cuTensorMapEncodeTiled's arguments.
struct BoundMap {
  uint32_t argument = 0; ///< the argument that takes it; its value is the tensor's address
  MapType type = MapType::f16;
  std::array<SlotExpr, 3> extents;
  std::array<SlotExpr, 2> strides; ///< bytes
  std::array<uint32_t, 3> box{};
};

struct BoundVariant {
  std::string entry;
  std::vector<BoundPredicate> when;
  std::array<SlotExpr, 3> grid, block;
  SlotExpr shared_bytes;
  std::array<unsigned, 3> cluster = {1, 1, 1};
  std::vector<BoundArgument> arguments;
  std::vector<BoundMap> maps; ///< at most kMostTensorMaps
};

/// A kernel. Its variants are `first` to `first + count - 1` of LaunchPlan::variants.
struct BoundKernel {
  std::string name;
  uint32_t first = 0;
  uint32_t count = 0;
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

/// The values of the slots: the named dims in the module's order.
using SlotValues = llvm::SmallVector<int64_t, 16>;
using SlotIntervals = llvm::SmallVector<IntRange, 16>;

struct LaunchPlan {
  /// Errors: unsupported for a kernel with more than kMostArgumentBytes, and for a size that needs
  /// more than kMostExprStack. A module that contradicts itself is a bug: check_manifest refuses
  /// those from outside.
  static llvm::Expected<LaunchPlan> bind(const Module& module);

  uint32_t num_dims = 0;

  // Base pointers are numbered in this order: inputs, params, outputs, then the three memories.
  uint32_t param_base() const { return uint32_t(inputs.size()); }
  uint32_t output_base() const { return uint32_t(inputs.size() + params.size()); }
  uint32_t prepared_base() const { return output_base() + uint32_t(outputs.size()); }
  uint32_t workspace_base() const { return prepared_base() + 1; }
  uint32_t state_base() const { return prepared_base() + 2; }
  uint32_t num_bases() const { return prepared_base() + 3; }

  /// Whether the prepare program or the size of prepared memory depends on a named dimension.
  bool prepare_uses(uint32_t slot) const;

  std::vector<BoundTensor> inputs, params, outputs;
  std::vector<SlotExpr> requirements; ///< those of the module
  std::vector<BoundKernel> kernels;
  std::vector<BoundVariant> variants;
  std::vector<Step> prepare, launch;
  BoundMemory prepared, workspace, state;
};

/// A module and its plan. Executables of several sections of a bundle may share it.
struct BoundModule {
  std::shared_ptr<const Module> module;
  LaunchPlan plan;

  /// Errors: those of LaunchPlan::bind.
  static llvm::Expected<std::shared_ptr<const BoundModule>>
  bind(std::shared_ptr<const Module> module);
};

/// Whether a variant's predicates hold for all launches within some intervals.
enum class Applies : uint8_t { never, maybe, always };

/// The alignment in bytes that tensors are expected to have: any allocator's, and that of rows of
/// 16 bytes. A launch with other pointers is legal, and may need a variant that prepare left out.
inline constexpr int64_t kExpectedAlignment = 16;

/// Whether `variant` is taken for sizes within `slots` and tensors of kExpectedAlignment.
Applies variant_applies(const LaunchPlan& plan, const BoundVariant& variant,
                        llvm::ArrayRef<IntRange> slots);

/// The value of `argument`; nullopt on overflow.
std::optional<uint64_t> argument_value(const BoundArgument& argument, llvm::ArrayRef<int64_t> slots,
                                       llvm::ArrayRef<uint64_t> bases);

/// Whether every predicate of `variant` holds.
bool variant_holds(const BoundVariant& variant, llvm::ArrayRef<int64_t> slots,
                   llvm::ArrayRef<uint64_t> bases);

} // namespace ingot
