// SPDX-License-Identifier: Apache-2.0
// The operators of a graph as written, each as a graph of its own: what runs where nothing is
// fused. Called by explain.
#pragma once

#include "ir/graph.h"

#include <vector>

namespace ingot {

/// One graph for each operator that computes, and one for each output that must be copied: an input
/// or a constant given back, a value given back twice, one that is rearranged last. Ops that one
/// operator of the spec expanded to share its place; an op without a place stands for itself.
/// Reshapes, transposes, slices and broadcasts are views, which the operator behind them reads.
/// What depends on params alone is a param of the graphs that read it.
std::vector<Graph> operator_graphs(const Graph& graph);

} // namespace ingot
