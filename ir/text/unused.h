// SPDX-License-Identifier: Apache-2.0
// Finds the inputs and values of a graph that no result needs. The parser calls it and warns.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// For each value of the graph, whether a result needs it. An input is needed too if a named
/// dimension of a needed value gets its size only from it.
std::vector<bool> needed_values(const Graph& graph);

} // namespace ingot
