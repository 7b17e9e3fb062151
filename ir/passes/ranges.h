// SPDX-License-Identifier: Apache-2.0
// Where the values of a graph lie, whatever its inputs are.
#pragma once

#include "ir/graph.h"

#include <limits>
#include <vector>

namespace ingot {

/// Every element that is not NaN lies in [low, high], as kernels compute it in f32.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// One per value; of values that are not floats, everything.
using Ranges = std::vector<Range>;
Ranges find_ranges(const Graph& graph);

} // namespace ingot
