// SPDX-License-Identifier: Apache-2.0
// May a set of ops be one kernel? Answers with the kernel's domain, accesses and reductions, or
// with the rule and the ops that stand in the way. Called by grouping; explain prints the refusals.
#pragma once

#include "ir/fusion/plan.h"

#include <set>
#include <string>
#include <variant>

namespace ingot {

/// What a group may assume of the rest of the graph.
struct GroupContext {
  const Graph& graph;
  const FusionLimits& limits;
  std::set<OpId> global_reductions; ///< of other groups: their results are read by combining
};

/// A rule of legality that a set of ops breaks.
struct Refusal {
  std::string rule;
};

/// The rule that a kernel of its own cures: one that merges the partials and stores the results.
extern const char* const kCombineAlongColumns;

/// Analyses `ops` (compute ops in topological order; may be empty for a group that only moves
/// data) that shall also store `outputs`: values computed by the ops or movements of them, or, for
/// a group without ops, movements of anything in memory.
std::variant<Group, Refusal> analyze_group(const GroupContext& context,
                                           const std::vector<OpId>& ops,
                                           const std::vector<ValueId>& outputs);

/// The op that computes what `value` moves: follows movement ops back to a source or compute op.
ValueId root_of(const Graph& graph, ValueId value);

/// True for ops that become part of a kernel: all but sources and movement.
bool is_compute(const Op& op);

} // namespace ingot
