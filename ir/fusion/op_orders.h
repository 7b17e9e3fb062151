// SPDX-License-Identifier: Apache-2.0
// The orders in which grouping may place a graph's ops. Grouping is greedy, so the order decides
// which of two kernels an op joins.
#pragma once

#include "ir/graph.h"

#include <vector>

namespace ingot {

/// All ops in the graph's order. Each follows the ops that it reads.
std::vector<OpId> order_written(const Graph& graph);

/// The ops that outputs need, output by output, from either end of an order of the outputs. That
/// order depends on their contents and not on their order in the graph.
std::vector<std::vector<OpId>> orders_by_output(const Graph& graph);

} // namespace ingot
