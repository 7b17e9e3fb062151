// SPDX-License-Identifier: Apache-2.0
// How the extent of a global reduction is cut among tiles or blocks, each of which stores one
// state. What stores and what merges the states agree on it; used by schedules, lower and emitter.
#pragma once

#include "codegen/expr.h"
#include "codegen/schedule.h"

#include <string>

namespace ingot {

/// Parts of one width, the last one possibly shorter.
struct AxisParts {
  int64_t unit = 1; ///< the width is a multiple of it
  int64_t most = 0; ///< as many at most, so that the width grows with the extent; 0: any number
};

/// An extent that is cut. What one result is made of is cut along each, outermost first.
struct Cut {
  Dim extent;
  AxisParts parts;
};
using Cuts = llvm::SmallVector<Cut, 3>;

/// How a global reduction of `group` is cut. One over whole matrices: along what it reduces of the
/// batch, if anything, the rows and the columns.
Cuts cuts_of(const Group& group, const Schedule& schedule, const Reduction& reduction);
/// The factors of the batch that a reduction over whole matrices reduces, too.
AtomList reduced_batch(const Group& group, const Reduction& reduction);

/// The width of each part and the number of parts as generated code: numbers where `extent` is one.
std::string part_width_code(const Dim& extent, const AxisParts& parts);
std::string part_count_code(const Dim& extent, const AxisParts& parts);
/// The number of parts, or of a named extent no fewer.
Expr part_count_limit(const Dim& extent, const AxisParts& parts);
/// The same of all parts that one result is made of.
std::string part_count_code(const Cuts& cuts);
Expr part_count_limit(const Cuts& cuts);

} // namespace ingot
