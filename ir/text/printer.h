// SPDX-License-Identifier: Apache-2.0
// A graph as text: the canonical primitive form, which parse_graph reads back to an equivalent
// graph.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// One op a line; rank-0 constants inline, exact; names as written where they are unique, else v12.
/// Equal graphs give equal text; printing a parsed text again gives the same text.
std::string print_graph(const Graph& graph);

} // namespace ingot
