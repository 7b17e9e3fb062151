// SPDX-License-Identifier: Apache-2.0
// The points that a mask of positions admits, read from the expression of a softmax's scores. Used
// by build_body.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The comparisons of positions that all hold at points where `value`, a float, is not -Inf: those
/// of the selects that yield it. Each side is a sum of coordinates and numbers, so that a rectangle
/// of points without a corner that fulfils one of them has no such point. Empty: none are known.
std::vector<Condition> admitted_points(const PointExpr& value);

} // namespace ingot
