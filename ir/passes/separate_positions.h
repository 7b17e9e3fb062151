// SPDX-License-Identifier: Apache-2.0
// Values that are computed from positions alone, such as a causal mask. Run once behind all passes,
// which merge equal values.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// Gives each part of a graph between its products values of its own that are computed from
/// positions and numbers alone, if they are cheap. If kernels shared one, the first would store it.
Graph separate_positions(const Graph& graph);

} // namespace ingot
