// SPDX-License-Identifier: Apache-2.0
// What the slices of a graph show of what it computes, and which of them are best stored from the
// whole by the kernel that computes it. Two sweeps over the ops. Used by push_down_slices.
#pragma once

#include "ir/graph.h"

#include <cstdint>
#include <vector>

namespace ingot {

class SlicedValues {
public:
  explicit SlicedValues(const Graph& graph);

  /// True for a slice that stays where it is: the kernel of the whole stores it, because all of
  /// what it shows a part of is computed anyway, or several slices show most of it.
  bool stays(OpId slice) const;
  /// True when nothing but movement lies between the slice and the outputs, and a kernel can store
  /// such a part of what it computes.
  bool is_returned(OpId slice) const {
    return goes_to(slice) == Goal::outputs && is_storable(graph_.op(slice));
  }
  /// True when dim `d` of what a slice shows is made of all its elements together, and a kernel
  /// has them: of a norm or a softmax along it, or of a scan.
  bool is_held(OpId slice, size_t d) const {
    return held_[graph_.op(slice).operands[0].index] >> d & 1;
  }
  /// In the order of their ops, results of matmuls, reductions, scans and gathers of which nothing
  /// but slices is used, no more by all of them than there is, and by few where they are most of
  /// it.
  const std::vector<ValueId>& sliced_results() const { return sliced_; }

private:
  /// Where a value goes, through movement alone.
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
  // Of each value:
  std::vector<Dims> held_;
  std::vector<std::vector<Dim>> reduced_; ///< extents that reductions behind it reduce
  std::vector<bool> product_;             ///< it is made of a matmul's result, elementwise
  std::vector<Goal> goals_;
  std::vector<bool> mostly_shown_, whole_;
  std::vector<ValueId> sliced_;
};

} // namespace ingot
