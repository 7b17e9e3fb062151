// SPDX-License-Identifier: Apache-2.0
// Facts about a graph's values that passes, fusion and programs ask for; each is one sweep.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <vector>

namespace ingot {

/// Per value: how often it is an operand or an output.
std::vector<uint32_t> count_uses(const Graph& graph);

/// Per value: the ops that read it, one for each operand.
std::vector<std::vector<OpId>> users_of_values(const Graph& graph);

/// Names of dimensions that no param's shape has: what depends on them belongs to a launch.
class LaunchSizes {
public:
  explicit LaunchSizes(const Graph& graph);
  /// Whether the numbers that an op computes depend on one. Movement alone computes nothing: a
  /// reshape or a broadcast is a part of its reader. An extent is a number of each launch.
  /// `graph` has the inputs of the constructor's graph.
  bool appear_in(const Graph& graph, const Op& op) const;

private:
  llvm::StringSet<> of_params_;
};

/// Per value: no input of role `input` and no size of a launch reaches it. Constants and iotas
/// count as well.
std::vector<bool> depends_only_on_params(const Graph& graph);

/// Per op: an output needs it.
std::vector<bool> find_live_ops(const Graph& graph);

/// Per value: ops on the longest way to it from an input or constant, movement not counted.
std::vector<uint32_t> measure_depths(const Graph& graph);

/// Per value: a hash of its definition, down to the inputs' positions. It depends neither on names
/// nor on the order of independent ops nor on the process.
std::vector<uint64_t> hash_definitions(const Graph& graph);

/// The same of the graph in which the operands of some ops of two operands are swapped: `swaps` is
/// asked of each with the hashes of the values before it.
using SwapsOperands = llvm::function_ref<bool(const Op&, llvm::ArrayRef<uint64_t>)>;
std::vector<uint64_t> hash_swapped(const Graph& graph, SwapsOperands swaps);

/// The same ops in the same order with the same outputs; names of values and locations aside.
bool identical(const Graph& a, const Graph& b);

} // namespace ingot
