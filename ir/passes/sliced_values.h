// SPDX-License-Identifier: Apache-2.0
// Which elements of computed values the slices of a graph select, and which slices the kernel of
// the whole value should store. It makes two sweeps over the ops. push_down_slices uses it.
#pragma once

#include "ir/graph.h"

#include <cstdint>
#include <vector>

namespace ingot {

class SlicedValues {
public:
  explicit SlicedValues(const Graph& graph);

  /// Whether a slice stays in place, so that the kernel of the whole value stores it. That is so if
  /// the whole value is computed anyway, or if several slices select most of it.
  bool stays(OpId slice) const;
  /// Whether only movement lies between the slice and the outputs, and a kernel can store such a
  /// slice.
  bool is_returned(OpId slice) const {
    return goes_to(slice) == Goal::outputs && is_storable(graph_.op(slice));
  }
  /// Whether dim `d` of a slice's operand is computed from all its elements together and a kernel
  /// holds them, as after a norm or a softmax along it, or a scan.
  bool is_held(OpId slice, size_t d) const {
    return held_[graph_.op(slice).operands[0].index] >> d & 1;
  }
  /// Results of matmuls, reductions, scans and gathers whose only uses are slices, in the order of
  /// their ops. The slices together select no more than the whole, and they are few if they select
  /// most of it.
  const std::vector<ValueId>& sliced_results() const { return sliced_; }

private:
  /// The users of a value, behind movement.
  enum class Goal : uint8_t { outputs, memory, compute };
  using Dims = uint32_t; ///< one bit each

  void find_held();
  Dims held_dims(const Op& op) const;
  Dims held_by_broadcast(const Op& op) const;
  void note_reduced(const Op& op);
  void find_goals();
  Goal goal_behind(OpId user) const;
  Goal goes_to(OpId slice) const { return goals_[graph_.op(slice).results[0].index]; }
  bool is_storable(const Op& slice) const;
  bool is_stored_held(OpId slice) const;
  bool show_most(ValueId value) const;
  bool needs_whole(ValueId value) const;
  double share(const Op& slice) const;
  bool is_aligned(const Op& slice, const Op& matmul) const;
  bool is_sliced(ValueId result) const;
  bool meet(OpId first, OpId second) const;
  std::vector<size_t> cut_dims(const Op& slice) const;

  const Graph& graph_;
  std::vector<std::vector<OpId>> users_;
  std::vector<bool> returned_;
  // One element per value:
  std::vector<Dims> held_;
  std::vector<std::vector<Dim>> reduced_; ///< extents of the reductions behind it
  std::vector<bool> product_;             ///< it is computed elementwise from a matmul's result
  std::vector<Goal> goals_;
  std::vector<bool> mostly_shown_, whole_;
  std::vector<ValueId> sliced_;
};

} // namespace ingot
