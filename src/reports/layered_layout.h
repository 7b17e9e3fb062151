// SPDX-License-Identifier: Apache-2.0
// Places boxes in rows from top to bottom, so that arrows point down and cross no box. Called by
// the picture of explain.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace ingot {

/// All in pixels.
struct LayoutBox {
  double width = 0, height = 0;
  size_t row = 0;      ///< of the caller's choice
  double x = 0, y = 0; ///< of the upper left corner: what layered_layout finds
};

struct LayoutPoint {
  double x = 0, y = 0;
};

/// From one box down to another in a later row.
struct LayoutEdge {
  size_t from = 0, to = 0;
  /// Where the line passes, found: pairs of points, from each of which it runs straight down to the
  /// next pair's level and sideways between rows, where no box lies.
  std::vector<LayoutPoint> points{};
};

/// Sets the boxes' places and the edges' points; gives width and height of all.
std::pair<double, double> layered_layout(std::vector<LayoutBox>& boxes,
                                         std::vector<LayoutEdge>& edges);

} // namespace ingot
