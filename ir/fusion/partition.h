// SPDX-License-Identifier: Apache-2.0
// A graph's ops, divided into the sets that become kernels, and the dependences between the sets.
// Grouping builds it. The stores of a plan are decided on it.
#pragma once

#include "ir/fusion/legality.h"

#include <map>
#include <set>
#include <vector>

namespace ingot {

using OpSet = std::vector<OpId>; // sorted

class Partition {
public:
  /// The ops of one kernel. If `stored` is set, the op that yields that value instead, which data
  /// movement copies to memory: a concat, a reshape that no index arithmetic expresses, an operand
  /// without arithmetic.
  struct Set {
    OpSet ops;
    bool prepare = false;
    bool live = true;
    std::optional<ValueId> stored{};
    std::vector<OpId> merges{}; ///< reductions of other sets whose partials it merges
  };
  static constexpr int kNone = -1;

  /// `reduced_apart`: as in GroupContext.
  Partition(const Graph& graph, const FusionLimits& limits,
            const std::map<OpId, Reason>* reduced_apart = nullptr);

  const Graph& graph() const { return context_.graph; }
  const FusionLimits& limits() const { return context_.limits; }
  llvm::ArrayRef<Set> sets() const { return sets_; }
  /// True if an output depends on the op.
  bool needed(OpId op) const { return needed_[op.index]; }
  /// True if the op runs in prepare: it depends only on params and numbers.
  bool prepared(OpId op) const { return prepared_[op.index]; }
  /// The compute ops and concats that read a value, through movement.
  llvm::ArrayRef<OpId> users(ValueId value) const { return users_[value.index]; }

  /// The value behind the movement of an operand of `reader`, up to a value in memory.
  ValueId reached(OpId reader, ValueId operand) const {
    return reached_from(context_, reader, operand);
  }
  /// The set that computes `reached`, which `reader` reads, or merges it; kNone for sources.
  int maker(OpId reader, ValueId reached) const;
  int set_of(OpId op) const { return set_of_[op.index]; }
  /// The set that copies `value` to memory; kNone: none.
  int storing(ValueId value) const;
  /// The sets whose results an op, or a set, reads.
  std::vector<int> before(OpId op) const;
  std::vector<int> before(int set) const;
  /// The reason why a kernel of prepare, or of launch, cannot join `set` with any other ops; empty:
  /// it can.
  std::optional<Reason> made_before(int set, bool prepare) const;
  /// An op of another kernel that the ops, as one kernel instead of `sets`, would both feed and
  /// read; empty: there is none.
  std::optional<OpId> between(const OpSet& ops, llvm::ArrayRef<int> sets) const;
  /// The live sets in an order in which each reads only the stores of earlier ones.
  std::vector<int> order() const;

  /// Makes one set of `ops`, which are those of `sets` and new ones.
  void join(const OpSet& ops, llvm::ArrayRef<int> sets, bool prepare);
  /// Gives `value` a set that copies it to memory, if it has none.
  int store(ValueId value);
  /// From now on `reader` reads `value` from memory.
  void read_stored(OpId reader, ValueId value);
  /// From now on a matmul's kernel computes its operand A. The reductions of its tile are no
  /// longer global.
  void compute_operand(OpId matmul, OperandTile tile);
  /// The operand A of a matmul if its kernel computes it, else null.
  const OperandTile* tile_of(OpId matmul) const {
    auto found = context_.tiles.find(matmul);
    return found == context_.tiles.end() ? nullptr : &found->second;
  }
  /// The computed operands whose tiles have `op`, by the matmul.
  std::map<OpId, OperandTile> tiles_with(OpId op) const;
  /// True if some reader reads `value` from memory.
  bool is_read_stored(ValueId value) const;

  /// The assumptions of a kernel of `ops` that merges the partials of `merges`.
  GroupContext context_for(const OpSet& ops, llvm::ArrayRef<OpId> merges = {}) const;
  /// The ops of the sets together.
  OpSet ops_of(llvm::ArrayRef<int> sets) const;
  /// The reductions that the sets merge together.
  std::vector<OpId> merges_of(llvm::ArrayRef<int> sets) const;
  /// Notes a global reduction that a set computes: others combine its partials.
  void add_global(const Reduction& reduction);
  /// Gives `op` a set that merges its partials for all readers. Returns false if it had one, or if
  /// `op` has no partials.
  bool finish(OpId op);
  bool is_finished(OpId op) const { return finished_.count(op) != 0; }
  /// A number that grows when context_for() may say something else about ops of a set.
  int context_version() const { return context_version_; }
  /// The reduction of `op` if its results exist only once partials are merged, else null.
  const Reduction* global(OpId op) const {
    auto found = globals_.find(op);
    return found == globals_.end() ? nullptr : &found->second;
  }

private:
  void find_sources();
  void find_needed();

  GroupContext context_;
  int context_version_ = 0;
  std::vector<int> set_of_;
  std::vector<bool> needed_, prepared_;
  std::vector<std::vector<OpId>> users_;
  std::vector<Set> sets_;
  std::map<ValueId, int> storing_; ///< by the value that they copy to memory
  std::map<OpId, Reduction> globals_;
  std::map<OpId, int> finished_; ///< the sets that merge partials
};

} // namespace ingot
