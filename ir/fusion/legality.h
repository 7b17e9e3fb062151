// SPDX-License-Identifier: Apache-2.0
// May a set of ops be one kernel? The answer is the kernel's domain, accesses and reductions, or
// the broken rule and its ops. Called by grouping. explain prints the refusals.
#pragma once

#include "ir/fusion/plan.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>

namespace ingot {

/// A matmul's operand A that its kernel computes; see ComputedOperand.
struct OperandTile {
  ValueId value, element;
  std::vector<RowFactor> factors;
  std::vector<OpId> ops; ///< those of the tile and of the tiles that it computes in turn, sorted
  bool resident = false;
  std::vector<ValueId> kept{};
};

/// The assumptions of a group about the rest of the graph.
struct GroupContext {
  const Graph& graph;
  const FusionLimits& limits;
  std::set<OpId> global_reductions; ///< those of other groups: their results are read by combining
  /// Values that an op reads from memory unchanged, although movement or a source yields them.
  std::set<std::pair<OpId, ValueId>> in_memory{};
  /// Reductions of ops that are settled, and whether they are global. Other groups rely on it.
  std::map<OpId, bool> settled{};
  /// Reductions of rows or segments that no matmul's kernel may begin, although it could, and why.
  /// Null: there are none.
  const std::map<OpId, Reason>* reduced_apart = nullptr;
  /// Operands that are computed, by the matmul.
  std::map<OpId, OperandTile> tiles{};
  /// The part that is analysed of a kernel with a computed operand.
  struct Part {
    bool is_tile = false;     ///< an operand's tile, or the part of one that has a tile in turn
    bool is_resident = false; ///< a tile with all of K
    const OperandTile* operand = nullptr; ///< the kernel behind the tile
    const Group* tile = nullptr;          ///< with `operand`: its tile, analysed before
  } part{};
};

/// A rule of legality that a set of ops breaks.
struct Refusal : Reason {
  std::optional<ValueId> store{}; ///< the operand or movement that no longer breaks it once stored
  bool of_axes = false;           ///< it names the axes of the ops that do not match
  bool merge = false;             ///< a separate kernel that merges its partials lifts it
};

/// A store of a group: a value, or a slice of a concat in its place.
struct StoreTarget {
  ValueId value;     ///< an op result, a view of one, or a view of a stored value
  ValueId into;      ///< the stored tensor: value, or the concat
  uint32_t part = 0; ///< the operand number of value in the concat

  static StoreTarget whole(ValueId value) { return {value, value, 0}; }
  friend bool operator==(const StoreTarget& a, const StoreTarget& b) = default;
};

class GroupBinder;
/// The ops of a set, bound to axes. Null: none are.
using BoundOps = std::shared_ptr<const GroupBinder>;

/// Analyses `ops`, which must also store `targets`. They are compute ops in topological order. A
/// group that only moves data has none. `bound`, if given: the first of the ops, bound in a context
/// that said the same about them. It then holds all of them, or stays as it is if they cannot be
/// bound. The analysis of a set with one more op then binds that op alone.
std::variant<Group, Refusal> analyze_group(const GroupContext& context,
                                           const std::vector<OpId>& ops,
                                           const std::vector<StoreTarget>& targets,
                                           BoundOps* bound = nullptr);

/// The tensor in memory behind the reshapes that yield `value`.
ValueId before_reshapes(const Graph& graph, ValueId value);

/// As root_of, but the walk also ends at values that `reader` reads from memory.
ValueId reached_from(const GroupContext& context, OpId reader, ValueId value);

/// True for operands that a kernel reads at the point of use and cannot compute: those of a matmul,
/// and the table of a gather.
bool reads_memory(const Op& op, uint32_t operand);

/// True if a matmul of the group computes an operand.
bool has_prologue(const Group& group);

/// The number of points of a group's domain.
Dim points_of(const Group& group);

/// The number of elements that an access reaches: all of its tensor, or those of a slice.
Dim reached_elements(const Group& group, const Access& access);

/// True for ops that become part of a kernel: all but sources and movement.
bool is_compute(const Op& op);

} // namespace ingot
