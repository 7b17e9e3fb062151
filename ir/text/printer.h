// SPDX-License-Identifier: Apache-2.0
// A graph as text, in the canonical primitive form. parse_graph reads it back to an equivalent
// graph.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// One op per line. Rank-0 constants are inline and exact. Names are the original ones if they are
/// unique, else v12. Equal graphs give equal text. Printing a parsed text again gives the same
/// text.
std::string print_graph(const Graph& graph);

/// The attributes of `op` as they stand behind its operands, e.g. `, transpose_b=true`.
std::string attributes_text(const Graph& graph, const Op& op);

} // namespace ingot
