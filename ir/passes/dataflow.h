// SPDX-License-Identifier: Apache-2.0
// Facts about a graph's values that passes, fusion and programs ask for; each is one sweep.
#pragma once

#include "ir/graph.h"

#include <cstdint>
#include <vector>

namespace ingot {

/// Per value: how often it is an operand or an output.
std::vector<uint32_t> count_uses(const Graph& graph);

/// Per value: the ops that read it, one for each operand.
std::vector<std::vector<OpId>> users_of_values(const Graph& graph);

/// Per value: no input of role `input` reaches it. Constants and iotas count as well.
std::vector<bool> depends_only_on_params(const Graph& graph);

/// Per op: an output needs it.
std::vector<bool> find_live_ops(const Graph& graph);

/// Per value: ops on the longest way to it from an input or constant, movement not counted.
std::vector<uint32_t> measure_depths(const Graph& graph);

/// Per value: a hash of its definition, down to the inputs' positions. It depends neither on names
/// nor on the order of independent ops nor on the process.
std::vector<uint64_t> hash_definitions(const Graph& graph);

/// The same ops in the same order with the same outputs; names of values and locations aside.
bool identical(const Graph& a, const Graph& b);

} // namespace ingot
