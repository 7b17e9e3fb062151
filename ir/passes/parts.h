// SPDX-License-Identifier: Apache-2.0
// Parts of values, taken where they cost nothing: of what lies in memory. Used by the passes that
// move slices and concats.
#pragma once

#include "ir/passes/dataflow.h"
#include "ir/passes/part_limits.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>

namespace ingot {

/// A part of a value: as a slice's attributes, but that starts and stops may lie outside.
using Part = SliceAttributes;

/// All of a shape.
Part whole_part(const Shape& shape);
/// Positions start to stop of one axis, and all of the others.
Part part_along(const Shape& shape, int64_t axis, int64_t start, int64_t stop);

/// What a value is made of.
enum class Origin : uint8_t {
  numbers, ///< by few elementwise ops and movements, of numbers alone
  params,  ///< likewise, of params, or of params and numbers
  other,
};
/// A value of params that depends on one of `sizes` is `other`: it cannot be prepared.
Origin origin_of(const Graph& graph, const LaunchSizes& sizes, ValueId value);

/// Takes parts of values of the new graph.
class PartTaker {
public:
  struct Rules {
    /// Whether parts of a result, of a matmul, a reduction, a scan or a gather, are the same of
    /// parts.
    llvm::function_ref<bool(ValueId)> takes_result = [](ValueId) { return false; };
    bool takes_repeated = false; ///< a computed value that repeats along what is cut
    /// Set: values of params alone, without such a size, lie in memory, prepared.
    const LaunchSizes* launch_sizes = nullptr;
    /// Slices of results that are so large are taken as if these were in memory: they will be.
    std::optional<Dim> stored_elements{};
  };
  PartTaker(GraphRewriter& rewriter, const Rules& rules) : rewriter_(rewriter), rules_(rules) {}

  /// True when such a part is index arithmetic and few elementwise ops, which are then accounted
  /// for.
  bool affords(ValueId value, const Part& part);
  /// The part of an affordable value.
  ValueId of(ValueId value, const Part& part);

private:
  std::optional<Part> part_of_operand(ValueId value, unsigned operand, const Part& part) const;
  bool lies_in_memory(ValueId value) const;
  ValueId make(ValueId value, const Part& part);
  ValueId take(ValueId value, const Part& part);

  GraphRewriter& rewriter_;
  Rules rules_;
  int ops_ = kMostRepeatedOps; ///< that may still be repeated
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> made_;
};

} // namespace ingot
