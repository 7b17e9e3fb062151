// SPDX-License-Identifier: Apache-2.0
// See siblings.h.
#include "ir/fusion/siblings.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

namespace ingot {
namespace {

class Siblings {
public:
  Siblings(Partition& partition, const SetJudge& judge)
      : partition_(partition), graph_(partition.graph()), judge_(judge) {}

  void run() {
    join(0);
    // Which partials one kernel leaves is known only now.
    const size_t known = partition_.sets().size();
    merge_returned();
    join(known);
  }

private:
  void merge_returned();
  void join(size_t first);
  std::optional<Dim> points_of_sets(llvm::ArrayRef<int> sets) const;
  bool join_pair(int first, int second);
  std::set<ValueId> tensors_of(int set) const;

  Partition& partition_;
  const Graph& graph_;
  const SetJudge& judge_;
};

/// Partials that are merged for the graph's outputs alone get a set that merges them, which others
/// that merge partials of their kernel may join. One on its own is merged where it is stored.
void Siblings::merge_returned() {
  std::map<int, std::set<ValueId>> returned; // by the set that leaves the partials
  std::set<int> merged;                      // sets of which ops merge partials
  auto unmerged = [&](OpId op) { return partition_.global(op) && !partition_.is_finished(op); };
  for (const Partition::Set& set : partition_.sets()) {
    if (!set.live) continue;
    for (OpId op : set.merges) merged.insert(partition_.set_of(op));
    for (OpId op : set.ops)
      for (ValueId operand : graph_.op(op).operands)
        if (const OpId source = graph_.value(partition_.reached(op, operand)).op; unmerged(source))
          merged.insert(partition_.set_of(source));
  }
  for (const GraphOutput& output : graph_.outputs()) {
    const ValueId value = root_of(graph_, output.value);
    const OpId op = graph_.value(value).op;
    const bool is_used = llvm::any_of(graph_.op(op).results, [&](ValueId result) {
      return llvm::any_of(partition_.users(result),
                          [&](OpId user) { return partition_.needed(user); });
    });
    if (unmerged(op) && !is_used) returned[partition_.set_of(op)].insert(value);
  }
  for (const auto& [set, values] : returned)
    for (ValueId value : values)
      if (values.size() > 1 || merged.count(set)) partition_.finish(graph_.value(value).op);
}

/// What a set reads from memory; for partials stands a value of the kernel that leaves them.
std::set<ValueId> Siblings::tensors_of(int set) const {
  std::set<ValueId> tensors;
  auto insert_partials = [&](OpId op) {
    const OpId first = partition_.sets()[partition_.set_of(op)].ops.front();
    tensors.insert(graph_.op(first).results[0]);
  };
  llvm::for_each(partition_.sets()[set].merges, insert_partials);
  for (OpId op : partition_.sets()[set].ops)
    for (ValueId operand : graph_.op(op).operands) {
      const ValueId value = partition_.reached(op, operand);
      const OpKind kind = graph_.producer(value).kind;
      const OpId source = graph_.value(value).op;
      if (partition_.maker(op, value) == set || is_computed_source(kind)) continue;
      if (partition_.global(source) && !partition_.is_finished(source))
        insert_partials(source);
      else
        tensors.insert(value);
    }
  return tensors;
}

/// The points of sets taken as one loaded kernel; none where they cannot be.
std::optional<Dim> Siblings::points_of_sets(llvm::ArrayRef<int> sets) const {
  OpSet ops;
  for (int set : sets) llvm::append_range(ops, partition_.sets()[set].ops);
  llvm::sort(ops);
  const std::vector<OpId> merges = partition_.merges_of(sets);
  std::vector<StoreTarget> merged;
  for (OpId op : merges)
    for (ValueId value : graph_.op(op).results) merged.push_back(StoreTarget::whole(value));
  auto result = analyze_group(partition_.context_for(ops, merges), ops, merged);
  const Group* group = std::get_if<Group>(&result);
  if (!group || !group->matmuls.empty() ||
      (sets.size() > 1 &&
       (judge_.obstacle(ops, *group) || judge_.refused_storing(ops, merges, *group))))
    return std::nullopt;
  return points_of(*group);
}

/// One kernel of two that do not feed each other, where neither then has a wider domain.
bool Siblings::join_pair(int first, int second) {
  const Partition::Set &a = partition_.sets()[first], &b = partition_.sets()[second];
  if (llvm::is_contained(partition_.before(second), first) ||
      llvm::is_contained(partition_.before(first), second))
    return false;
  OpSet ops = a.ops;
  llvm::append_range(ops, b.ops);
  llvm::sort(ops);
  if (partition_.cyclic(ops, {first, second})) return false;
  const auto both = points_of_sets({first, second});
  if (!both || points_of_sets({first}) != both || points_of_sets({second}) != both) return false;
  partition_.join(ops, {first, second}, a.prepare);
  return true;
}

/// Kernels that read one tensor and do not depend on each other read it together. Sets before
/// `first` had their turn, and are only joined.
void Siblings::join(size_t first) {
  constexpr int kMostTries = 8;                // for one set, so that the time stays linear
  std::map<ValueId, std::vector<int>> readers; // of a tensor, so far
  for (int set = 0; set < static_cast<int>(partition_.sets().size()); ++set) {
    const Partition::Set& own = partition_.sets()[set];
    if (!own.live || own.stored) continue;
    const std::set<ValueId> tensors = tensors_of(set);
    std::set<int, std::greater<>> others; // the latest first
    for (ValueId tensor : tensors)
      for (int other : llvm::ArrayRef(readers[tensor]).take_back(kMostTries))
        if (partition_.sets()[other].live && partition_.sets()[other].prepare == own.prepare)
          others.insert(other);
    int tries = 0;
    const bool joined = static_cast<size_t>(set) >= first && llvm::any_of(others, [&](int other) {
                          return ++tries <= kMostTries && join_pair(other, set);
                        });
    // A joined set comes again, last.
    if (!joined)
      for (ValueId tensor : tensors) readers[tensor].push_back(set);
  }
}

} // namespace

void join_siblings(Partition& partition, const SetJudge& judge) {
  Siblings(partition, judge).run();
}

} // namespace ingot
