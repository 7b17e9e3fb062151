// SPDX-License-Identifier: Apache-2.0
// In which orders grouping may place a graph's ops. It is greedy, so that the order decides which
// of two kernels an op joins.
#pragma once

#include "ir/graph.h"

#include <vector>

namespace ingot {

/// Orders of ops, each after those that it reads: first all as the graph has them, then those that
/// outputs need, output by output, from an end to the other of an order of the outputs that says
/// what they are and not how the graph lists them. None twice.
std::vector<std::vector<OpId>> orders_of_ops(const Graph& graph);

} // namespace ingot
