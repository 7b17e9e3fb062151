// SPDX-License-Identifier: Apache-2.0
// Bounds of the values of a graph for all inputs.
#pragma once

#include "ir/graph.h"

#include <limits>
#include <vector>

namespace ingot {

/// An interval [low, high] with every element that is not NaN, as kernels compute it in f32.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// One range per value. The range of a value that is not a float is unbounded.
using Ranges = std::vector<Range>;
Ranges find_ranges(const Graph& graph);

} // namespace ingot
