// SPDX-License-Identifier: Apache-2.0
// What the slices of a graph show of what it computes, and which of them are best stored from the
// whole by the kernel that computes it. Used by push_down_slices.
#pragma once

#include "ir/graph.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace ingot {

class SlicedValues {
public:
  explicit SlicedValues(const Graph& graph);

  /// True when all of what a slice shows a part of is computed anyway, or when several slices show
  /// most of it, and the part goes to memory as it is.
  bool is_left(OpId slice) const;
  /// True when nothing but movement lies between the slice and the outputs.
  bool is_returned(OpId slice) const { return takers_.at(slice) == Takers::outputs; }
  /// True when dim `d` of what a slice shows is made of all its elements together: of a norm or a
  /// softmax along it, or of a scan.
  bool is_held(OpId slice, size_t d) const;
  /// Results of matmuls, reductions, scans and gathers of which nothing but slices is used, and no
  /// more by all of them than there is.
  const std::vector<ValueId>& sliced_results() const { return sliced_; }

private:
  /// Where a slice goes, through movement alone.
  enum class Takers : uint8_t { outputs, memory, compute };

  Takers takers(ValueId value) const;
  std::optional<double> share(const Op& slice, bool of_product) const;
  bool show_most(ValueId value) const;
  bool is_stored_held(OpId slice) const;
  bool is_whole(ValueId value) const;
  bool is_sliced(ValueId result) const;
  std::vector<size_t> cut_dims(const Op& slice) const;

  const Graph& graph_;
  std::vector<std::vector<OpId>> users_;
  std::set<ValueId> returned_;
  std::map<OpId, Takers> takers_; ///< of slices
  std::vector<ValueId> sliced_;
};

} // namespace ingot
