// SPDX-License-Identifier: Apache-2.0
// Places boxes in rows from top to bottom, so that arrows point down and cross no box. The picture
// of explain uses it.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace ingot {

/// A box. All numbers are pixels.
struct LayoutBox {
  double width = 0, height = 0;
  size_t row = 0;      ///< chosen by the caller
  double x = 0, y = 0; ///< upper left corner, set by layered_layout
};

struct LayoutPoint {
  double x = 0, y = 0;
};

/// An edge from one box down to another in a later row.
struct LayoutEdge {
  size_t from = 0, to = 0;
  /// The points of the line, set by layered_layout. They come in pairs. From each pair the line
  /// runs straight down to the level of the next pair. It moves sideways between rows, where no box
  /// is.
  std::vector<LayoutPoint> points{};
};

/// Sets the places of boxes and the points of edges. Returns the total width and height.
std::pair<double, double> layered_layout(std::vector<LayoutBox>& boxes,
                                         std::vector<LayoutEdge>& edges);

} // namespace ingot
