// SPDX-License-Identifier: Apache-2.0
// In which orders grouping may place a graph's ops. It is greedy, so that the order decides which
// of two kernels an op joins.
#pragma once

#include "ir/graph.h"

#include <vector>

namespace ingot {

/// All ops as the graph has them, each after those that it reads.
std::vector<OpId> order_written(const Graph& graph);

/// The ops that outputs need, output by output, from either end of an order of the outputs that
/// says what they are and not how the graph lists them.
std::vector<std::vector<OpId>> orders_by_output(const Graph& graph);

} // namespace ingot
