// SPDX-License-Identifier: Apache-2.0
// The points that a mask of positions admits, read from the expression of a softmax's scores. Used
// by build_body.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

struct AdmittedPoints {
  /// Comparisons of positions that all hold where a value is not -Inf: those of the selects that
  /// yield it. Each side is a sum of coordinates and numbers, so that one that holds at no corner
  /// of a rectangle of points holds nowhere in it.
  std::vector<Condition> conditions;
  /// The value where all of them hold; empty: it is no simpler.
  PointExpr within;
};
/// The points that the masks in the expression of a float admit.
AdmittedPoints admitted_points(const PointExpr& value);

} // namespace ingot
