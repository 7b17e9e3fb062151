// SPDX-License-Identifier: Apache-2.0
// May ops that are a legal kernel by themselves be a kernel with all their stores? Called where
// sets of ops are joined.
#pragma once

#include "ir/fusion/partition.h"

namespace ingot {

class SetJudge {
public:
  /// `judged`: ops of sets that were refused once they were complete. Sets with these ops are
  /// judged with their stores at every join; that is slow, and few sets need it.
  SetJudge(const Partition& partition, const std::set<OpId>& judged);

  /// The results of `ops` that others read, as computed, and those that the graph returns or
  /// concats take, as moved.
  std::vector<StoreTarget> stored_values(const OpSet& ops) const;
  /// The same without the results of reductions of `group`, the kernel of `ops`, that cross tiles.
  std::vector<StoreTarget> stored_values(const OpSet& ops, const Group& group) const;
  /// True if the graph returns `value`, moved or not.
  bool returns(ValueId value) const { return returned_.count(value) != 0; }
  /// The seconds that `ops` take as one kernel with their stores; none: they are no kernel, or the
  /// machine has no schedule for it.
  std::optional<double> seconds(const OpSet& ops) const;
  /// The reason why `sets` should stay kernels of their own; none: as `joined`, which computes
  /// `value` where it is multiplied, and a kernel for each of `shared`, they take less time.
  std::optional<Reason> slower(const Group& joined, ValueId value, llvm::ArrayRef<int> sets,
                               llvm::ArrayRef<OpSet> shared) const;
  /// The reason against one kernel for `group`: it exceeds the limits of a kernel, would be slower
  /// than two, or, if it is judged, cannot run on the machine with all the stores that it would
  /// have now. Empty: there is none. A single op has no other kernel to be in.
  std::optional<Reason> obstacle(const OpSet& ops, const Group& group) const;
  /// The reason why `op` should not join `sets`: their values have unrelated axes. One kernel of
  /// all, which is `group`, computes each value again for every position of the others. Empty: it
  /// takes no longer, or some time is unknown.
  std::optional<Reason> recomputes(OpId op, llvm::ArrayRef<int> sets, const OpSet& ops,
                                   const Group& group) const;
  /// True if the machine cannot run `group`, which is complete, or, where it loads rows, two
  /// kernels would be faster, and a part of it was never judged.
  bool refused_by_machine(const Group& group) const;
  /// The reductions of rows with which the product of a complete kernel takes longer than with a
  /// kernel for them, and the reason.
  std::map<OpId, Reason> better_apart(const Group& group) const;
  /// The reason why `ops` become illegal once their stores are added; empty: they stay legal, or
  /// are not judged. Only sets are judged that were refused before: most stores disappear as
  /// readers join.
  std::optional<Refusal> refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                         const Group& group) const;

private:
  bool is_judged(const OpSet& ops) const;
  std::vector<StoreTarget> parts(ValueId value) const;
  Reason unscheduled(const Group& joined) const;
  std::optional<Reason> excess(const Group& group, size_t results) const;
  std::optional<Reason> slower_joined(const OpSet& ops, const Group& group) const;
  OpSet reducing_rows(const OpSet& ops, const Group& group) const;
  bool stores_beside_columns(const OpSet& ops, const Group& group) const;
  struct TwoKernels {
    double joined, apart; ///< seconds
  };
  std::optional<TwoKernels> slower_reducing(const OpSet& ops, const Group& group) const;
  std::optional<Reason> slower_storing(const OpSet& ops, const Group& group) const;
  std::optional<double> seconds(const OpSet& ops, const Group& group) const;
  std::variant<Group, Refusal> analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                               const Group& group) const;

  const Partition& partition_;
  const Graph& graph_;
  const FusionLimits& limits_;
  const std::set<OpId>& judged_;
  std::map<ValueId, std::vector<ValueId>> returned_; ///< outputs, by the value that they move
};

} // namespace ingot
