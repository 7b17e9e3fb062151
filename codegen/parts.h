// SPDX-License-Identifier: Apache-2.0
// How the extent of a global reduction is cut among tiles or blocks, each of which stores one
// state. What stores and what merges the states agree on it; used by schedules, lower and emitter.
#pragma once

#include "codegen/expr.h"
#include "ir/types.h"

#include <string>

namespace ingot {

/// Parts of one width, the last one possibly shorter.
struct Parts {
  int64_t unit = 1; ///< the width is a multiple of it
  int64_t most = 0; ///< as many at most, so that the width grows with the extent; 0: any number
};

/// The width of each part and the number of parts as generated code: numbers where `extent` is one.
std::string part_width_code(const Dim& extent, const Parts& parts);
std::string part_count_code(const Dim& extent, const Parts& parts);
/// The number of parts, or of a named extent no fewer.
Expr part_count_limit(const Dim& extent, const Parts& parts);

} // namespace ingot
