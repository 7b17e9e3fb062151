// SPDX-License-Identifier: Apache-2.0
// Ops that may turn a small error of an operand into a large one.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// True if almost equal operands of `op` may give results that are far apart: comparisons, floor,
/// and casts to integers, for example. Operands of 16-bit types are rounded to their type first, so
/// that the error of a function does not count.
inline bool jumps(const Graph& graph, const Op& op) {
  return info(op.kind).jumps() ||
         (op.kind == OpKind::cast && !is_float(graph.type(op.results[0]).dtype));
}

} // namespace ingot
