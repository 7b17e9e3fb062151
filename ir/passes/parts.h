// SPDX-License-Identifier: Apache-2.0
// Slices of values, taken from tensors in memory, where they cost nothing. The passes that move
// slices and concats use them.
#pragma once

#include "ir/passes/dataflow.h"
#include "ir/passes/part_limits.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>

namespace ingot {

/// A slice of a value. It has the attributes of a slice op, but starts and stops may lie outside.
using Part = SliceAttributes;

/// Positions start to stop of one axis, and everything along the others.
Part part_along(const Shape& shape, int64_t axis, int64_t start, int64_t stop);
/// Sets the positions of one dim to those that `from` has along another one.
void copy_dim(const Part& from, size_t dim, Part& to, size_t at);

/// The inputs of a value's computation.
enum class Origin : uint8_t {
  numbers, ///< numbers only, with few elementwise ops and movements
  params,  ///< params, or params and numbers, with few ops
  other,
};
/// The origin of `value`. A value of params that depends on one of `sizes` is `other`, because it
/// cannot be prepared.
Origin origin_of(const Graph& graph, const LaunchSizes& sizes, ValueId value);

/// Takes slices of values in the new graph.
class PartTaker {
public:
  struct Rules {
    /// Whether a slice of this matmul, reduction, scan or gather is the same op on slices of its
    /// operands.
    llvm::function_ref<bool(ValueId)> takes_result = [](ValueId) { return false; };
    bool takes_repeated = false; ///< allows a computed value that repeats along the sliced dims
    /// If set, values of params alone without such a size are in prepared memory.
    const LaunchSizes* launch_sizes = nullptr;
    /// If set, results with this many elements count as tensors in memory, because they will be
    /// stored.
    std::optional<Dim> stored_elements{};
  };
  PartTaker(GraphRewriter& rewriter, const Rules& rules) : rewriter_(rewriter), rules_(rules) {}

  /// Whether the slice needs only index arithmetic and few elementwise ops. If so, counts these
  /// ops.
  bool affords(ValueId value, const Part& part);
  /// The slice of a value for which `affords` was true.
  ValueId of(ValueId value, const Part& part);

private:
  std::optional<Part> part_of_operand(ValueId value, unsigned operand, const Part& part) const;
  bool lies_in_memory(ValueId value) const;
  ValueId make(ValueId value, const Part& part);
  ValueId take(ValueId value, const Part& part);

  GraphRewriter& rewriter_;
  Rules rules_;
  int ops_ = kMostRepeatedOps; ///< ops that may still be repeated
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> made_;
};

} // namespace ingot
