// SPDX-License-Identifier: Apache-2.0
// Which inputs and values of a graph no result needs. Called by the parser, which warns.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// For each value of the graph, whether a result needs it. An input from which alone a named
/// dimension of what is needed gets its size is needed too.
std::vector<bool> needed_values(const Graph& graph);

} // namespace ingot
