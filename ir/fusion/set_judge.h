// SPDX-License-Identifier: Apache-2.0
// May ops that are a legal kernel by themselves be one with all that they have to store? Called
// wherever sets of ops are joined.
#pragma once

#include "ir/fusion/partition.h"

namespace ingot {

class SetJudge {
public:
  /// `judged`: the sets of these ops are judged with what they store at every join.
  SetJudge(const Partition& partition, const std::set<OpId>& judged);

  /// The results of `ops` that others read, as they are computed, and those that the graph returns
  /// or concats take, as they are moved.
  std::vector<StoreTarget> stored_values(const OpSet& ops) const;
  /// Why the machine cannot run `group` with all that it would store now; empty: it can. An op
  /// alone has no other kernel to be in.
  std::optional<Reason> obstacle(const OpSet& ops, const Group& group) const;
  /// Why `ops` are no kernel with what they store, though they are one without; empty: they are, or
  /// are not to be judged. Most of what is stored now is not once its readers have joined, so that
  /// only sets are judged that turned out to be refused.
  std::optional<Refusal> refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                         const Group& group) const;

private:
  std::vector<StoreTarget> parts(ValueId value) const;
  std::optional<Reason> excess(const Group& group, size_t results) const;
  std::optional<Reason> slower_joined(const OpSet& ops, const Group& group) const;
  std::optional<double> seconds(const OpSet& ops, const Group& group) const;
  std::variant<Group, Refusal> analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                               const Group& group) const;

  const Partition& partition_;
  const Graph& graph_;
  const FusionLimits& limits_;
  const std::set<OpId>& judged_;
  std::map<ValueId, std::vector<ValueId>> returned_; ///< outputs, by what they move
};

} // namespace ingot
