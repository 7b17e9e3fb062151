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

/// Takes parts of values of the new graph.
class Parts {
public:
  /// `takes_product`: whether parts of a matmul's result are matmuls of parts.
  /// `takes_repeated`: whether a computed value may be repeated along what is cut.
  Parts(GraphRewriter& rewriter, llvm::function_ref<bool(ValueId)> takes_product,
        bool takes_repeated)
      : rewriter_(rewriter), takes_product_(takes_product), takes_repeated_(takes_repeated) {}

  /// True when such a part is index arithmetic and few elementwise ops, which are then accounted
  /// for.
  bool affords(ValueId value, const Part& part);
  /// The part of an affordable value.
  ValueId of(ValueId value, const Part& part);

private:
  std::optional<Part> part_of_operand(ValueId value, unsigned operand, const Part& part) const;
  ValueId make(ValueId value, const Part& part);
  ValueId take(ValueId value, const Part& part);

  GraphRewriter& rewriter_;
  llvm::function_ref<bool(ValueId)> takes_product_;
  bool takes_repeated_;
  int ops_ = 32; ///< elementwise ops and movements that may still be repeated for a part
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> made_;
};

} // namespace ingot
