// SPDX-License-Identifier: Apache-2.0
// The operators of a graph, each as a graph of its own: the kernels that would run without fusion.
// explain calls it.
#pragma once

#include "ir/graph.h"

#include <vector>

namespace ingot {

/// One graph for each operator that computes, and one for each output that must be copied: an input
/// or a constant that is returned, a value returned twice, a value rearranged at the end. Ops that
/// one operator of the spec expanded to have the same place; an op without a place counts alone.
/// Reshapes, transposes, slices and broadcasts are views, and the next operator reads them. A value
/// that depends only on params is a param of the graphs that read it.
std::vector<Graph> operator_graphs(const Graph& graph);

} // namespace ingot
