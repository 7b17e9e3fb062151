// SPDX-License-Identifier: Apache-2.0
// Parts of values, taken where they cost nothing: of what lies in memory. Used by the passes that
// move slices and concats.
#pragma once

#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace ingot {

/// A part of a value: as a slice's attributes, but that starts and stops may lie outside.
using Part = SliceAttributes;

/// All of a shape.
Part whole_part(const Shape& shape);
/// Positions start to stop of one axis, and all of the others.
Part part_along(const Shape& shape, int64_t axis, int64_t start, int64_t stop);

/// Parts of a concat that are chosen by position. Every element of the choice looks at each part:
/// at what most is more than a kernel for each. And an op that is computed of each part becomes as
/// many.
constexpr size_t kMostSpreadParts = 8;

/// Elementwise ops and movements that are repeated for parts: more cost more than a kernel of a
/// launch.
constexpr int kMostRepeatedOps = 32;

/// True for what few elementwise ops and movements make of params, and of numbers beside them.
bool is_made_of_params(const Graph& graph, ValueId value);

/// Takes parts of values of the new graph.
class Parts {
public:
  struct Rules {
    /// Whether parts of a matmul's result are matmuls of parts.
    llvm::function_ref<bool(ValueId)> takes_product = [](ValueId) { return false; };
    bool takes_repeated = false; ///< a computed value that repeats along what is cut
    bool keeps_params = false;   ///< what is made of params lies in memory, prepared
  };
  Parts(GraphRewriter& rewriter, const Rules& rules) : rewriter_(rewriter), rules_(rules) {}

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
