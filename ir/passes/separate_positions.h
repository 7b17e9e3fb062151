// SPDX-License-Identifier: Apache-2.0
// Values that are computed from positions and small inputs, such as masks. Run once behind all
// passes, which merge equal values.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// Gives each part of a graph between its products values of its own that are computed from
/// positions, numbers, and inputs with at most half their bytes, if they are cheap: a causal mask,
/// or the scores' summands of a bool mask. If kernels shared one, it would be stored.
Graph separate_positions(const Graph& graph);

} // namespace ingot
