// SPDX-License-Identifier: Apache-2.0
// Cuts the extent of a global reduction among tiles or blocks, each of which stores one state. The
// kernel that stores the states and the kernel that merges them use the same cuts.
#pragma once

#include "codegen/kernel/schedule.h"
#include "ir/fusion/plan.h"
#include "src/support/expr.h"

namespace ingot {

/// Parts of one width, the last one possibly shorter.
struct AxisParts {
  int64_t unit = 1; ///< the width is a multiple of it
  int64_t most = 0; ///< the most parts, so that the width grows with the extent; 0: any
};

/// An extent that is cut. The elements of one result are cut along each, outermost first.
struct Cut {
  Expr extent;
  AxisParts parts;
};
using Cuts = llvm::SmallVector<Cut, 3>;

/// The cuts of a global reduction of `group`. A reduction over whole matrices is cut along the dims
/// of the batch that it reduces, if any, the rows and the columns.
Cuts cuts_of(const Group& group, const Schedule& schedule, const Reduction& reduction);

/// The width of each part, and the number of parts.
Expr part_width(const Expr& extent, const AxisParts& parts);
Expr part_count(const Expr& extent, const AxisParts& parts);
/// The number of states of one result: one for each part.
Expr state_count(const Cuts& cuts);
/// The index of a tile's state among those of its result.
Expr state_number(const Group& group, const Reduction& reduction, const Cuts& cuts);

} // namespace ingot
