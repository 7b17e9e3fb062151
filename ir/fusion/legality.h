// SPDX-License-Identifier: Apache-2.0
// May a set of ops be one kernel? Answers with the kernel's domain, accesses and reductions, or
// with the rule and the ops that stand in the way. Called by grouping; explain prints the refusals.
#pragma once

#include "ir/fusion/plan.h"

#include <map>
#include <set>
#include <string>
#include <variant>

namespace ingot {

/// What a group may assume of the rest of the graph.
struct GroupContext {
  const Graph& graph;
  const FusionLimits& limits;
  std::set<OpId> global_reductions; ///< of other groups: their results are read by combining
  /// Values that an op finds in memory as they are, though movement or a source makes them.
  std::set<std::pair<OpId, ValueId>> in_memory{};
  /// Reductions of the ops that are settled: are they global? Others rely on the answer.
  std::map<OpId, bool> settled{};
  /// Reductions of segments that no matmul's kernel shall begin, though it could.
  std::set<OpId> reduced_where_read{};
};

/// A rule of legality that a set of ops breaks.
struct Refusal : Reason {
  std::optional<ValueId> store{}; ///< the operand or movement that breaks it no more once stored
  bool of_axes = false;           ///< it says which axes of the ops do not suit each other
  bool merge = false; ///< a kernel of its own that merges the partials it is about lifts it
};

/// What a group shall store: a value, or a part of a concat into its place.
struct StoreTarget {
  ValueId value; ///< computed by the ops, a movement of that, or, moved only, of what is in memory
  ValueId into;  ///< what is stored: value, or the concat
  uint32_t part = 0; ///< which operand of the concat value is

  static StoreTarget whole(ValueId value) { return {value, value, 0}; }
  friend bool operator==(const StoreTarget& a, const StoreTarget& b) = default;
};

/// Analyses `ops` (compute ops in topological order; may be empty for a group that only moves
/// data) that shall also store `targets`.
std::variant<Group, Refusal> analyze_group(const GroupContext& context,
                                           const std::vector<OpId>& ops,
                                           const std::vector<StoreTarget>& targets);

/// What lies in memory as `value`, before reshapes gave it that shape.
ValueId before_reshapes(const Graph& graph, ValueId value);

/// root_of as `reader` reaches it: also what it finds in memory ends the way.
ValueId reached_from(const GroupContext& context, OpId reader, ValueId value);

/// True for operands that a kernel reads where it needs them, and cannot compute: those of a
/// matmul, and the table of a gather.
bool reads_memory(const Op& op, uint32_t operand);

/// True when a matmul of the group computes an operand.
bool has_prologue(const Group& group);

/// Points of a group's domain.
Dim points_of(const Group& group);

/// Elements of its tensor that an access reaches: all, or those of a slice or a part.
Dim reached_elements(const Group& group, const Access& access);

/// True for ops that become part of a kernel: all but sources and movement.
bool is_compute(const Op& op);

} // namespace ingot
