// SPDX-License-Identifier: Apache-2.0
// A graph's ops divided into the sets that become kernels, and who reads whose results. Grouping
// builds it; the stores of a plan are decided on it.
#pragma once

#include "ir/fusion/legality.h"

#include <map>
#include <set>
#include <vector>

namespace ingot {

using OpSet = std::vector<OpId>; // sorted

class Partition {
public:
  /// Ops of one kernel; or, with `stored`, the op that makes a value which data movement puts into
  /// memory: a concat, a reshape that no index arithmetic expresses, an operand without arithmetic.
  struct Set {
    OpSet ops;
    bool prepare = false;
    bool live = true;
    std::optional<ValueId> stored{};
    std::vector<OpId> merges{}; ///< reductions of other sets whose partials it makes results of
  };
  static constexpr int kNone = -1;

  Partition(const Graph& graph, const FusionLimits& limits, std::set<OpId> reduced_where_read = {});

  const Graph& graph() const { return context_.graph; }
  const FusionLimits& limits() const { return context_.limits; }
  llvm::ArrayRef<Set> sets() const { return sets_; }
  /// True when an output depends on the op.
  bool needed(OpId op) const { return needed_[op.index]; }
  /// True when the op runs in prepare: it depends on params and on nothing else but numbers.
  bool prepared(OpId op) const { return prepared_[op.index]; }
  /// Compute ops and concats that read a value, through movement.
  llvm::ArrayRef<OpId> users(ValueId value) const { return users_[value.index]; }

  /// What an operand of `reader` moves, up to what it finds in memory.
  ValueId reached(OpId reader, ValueId operand) const {
    return reached_from(context_, reader, operand);
  }
  /// The set that makes what `reader` reaches as `reached`, or merges it; kNone for sources.
  int maker(OpId reader, ValueId reached) const;
  int set_of(OpId op) const { return set_of_[op.index]; }
  /// The set that puts `value` into memory by moving; kNone: none.
  int storing(ValueId value) const;
  /// The sets whose results an op, or a set, reads.
  std::vector<int> before(OpId op) const;
  std::vector<int> before(int set) const;
  /// Why a kernel that runs in prepare, or does not, has no part in what `set` makes, whatever else
  /// joins it; empty: it may.
  std::optional<Reason> made_before(int set, bool prepare) const;
  /// An op of a kernel that the ops, taken as one kernel instead of `sets`, would both feed and
  /// read; empty: there is none.
  std::optional<OpId> between(const OpSet& ops, llvm::ArrayRef<int> sets) const;
  /// Live sets in an order in which each reads only what earlier ones store.
  std::vector<int> order() const;

  /// Makes one set of `ops`, which are those of `sets` and new ones.
  void join(const OpSet& ops, llvm::ArrayRef<int> sets, bool prepare);
  /// Gives `value` a set that puts it into memory, if it has none.
  int store(ValueId value);
  /// From now on `reader` finds `value` in memory.
  void read_stored(OpId reader, ValueId value);
  /// True when some reader does.
  bool is_read_stored(ValueId value) const;

  /// What a kernel of `ops` that merges the partials of `merges` may assume.
  GroupContext context_for(const OpSet& ops, llvm::ArrayRef<OpId> merges = {}) const;
  /// The ops of the sets together.
  OpSet ops_of(llvm::ArrayRef<int> sets) const;
  /// What the sets merge together.
  std::vector<OpId> merges_of(llvm::ArrayRef<int> sets) const;
  /// Notes a global reduction that a set computes: others combine its partials.
  void add_global(const Reduction& reduction);
  /// Gives `op` a set that merges its partials, for all who read it. False: it had one, or `op` has
  /// no partials.
  bool finish(OpId op);
  bool is_finished(OpId op) const { return finished_.count(op) != 0; }
  /// The reduction of `op` when its results exist only once partials are merged; null: they do not.
  const Reduction* global(OpId op) const {
    auto found = globals_.find(op);
    return found == globals_.end() ? nullptr : &found->second;
  }

private:
  void find_sources();
  void find_needed();

  GroupContext context_;
  std::vector<int> set_of_;
  std::vector<bool> needed_, prepared_;
  std::vector<std::vector<OpId>> users_;
  std::vector<Set> sets_;
  std::map<ValueId, int> storing_; ///< by what they put into memory
  std::map<OpId, Reduction> globals_;
  std::map<OpId, int> finished_; ///< the sets that merge partials
};

} // namespace ingot
