// SPDX-License-Identifier: Apache-2.0
// See siblings.h.
#include "ir/fusion/siblings.h"

#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>

namespace ingot {
namespace {

/// The kernel of the joined sets, with their merges.
std::variant<Group, Refusal> kernel_of(const Partition& partition, llvm::ArrayRef<int> sets) {
  const OpSet ops = partition.ops_of(sets);
  const std::vector<OpId> merges = partition.merges_of(sets);
  std::vector<StoreTarget> merged;
  for (OpId op : merges)
    for (ValueId value : partition.graph().op(op).results)
      merged.push_back(StoreTarget::whole(value));
  return analyze_group(partition.context_for(ops, merges), ops, merged);
}

/// The op that names a kernel.
std::string leading_op(const Graph& graph, const Group& group) {
  if (!group.matmuls.empty()) return refusals::named(graph, group.matmuls.front().op);
  if (group.scan) return refusals::named(graph, *group.scan);
  if (!group.reductions.empty()) return refusals::named(graph, group.reductions.front().op);
  if (!group.ops.empty()) return refusals::named(graph, group.ops.back());
  return "a kernel that merges partials";
}

Reason moves_alone(const Graph& graph, ValueId shared) {
  return {fmt::format("one of them computes nothing: it copies {}, or a part of it",
                      refusals::named(graph, shared)),
          kNoChange};
}

/// The reason if one of the kernels has a matmul.
Reason products_beside(const Graph& graph, ValueId shared, const Group& a, const Group& b) {
  if (!a.matmuls.empty() && !b.matmuls.empty()) {
    const OpId first = a.matmuls.front().op, second = b.matmuls.front().op;
    const auto type = [&](OpId op) { return graph.type(graph.op(op).operands[0]).dtype; };
    return type(first) == type(second) ? refusals::products_apart(graph, first, second)
                                       : refusals::products_of_types(graph, first, second);
  }
  const Group& loaded = a.matmuls.empty() ? a : b;
  return {
      fmt::format("{} also reads {}: a product's kernel computes the product and ops on its result",
                  leading_op(graph, loaded), refusals::named(graph, shared)),
      kNoChange};
}

/// The reason if no kernel has a matmul, and no domain is that of both.
Reason axes_apart(const Graph& graph, ValueId shared, const Group& a, const Group& b) {
  if (!a.reductions.empty() && !b.reductions.empty()) {
    const OpId first = a.reductions.front().op, second = b.reductions.front().op;
    if (!refusals::reduce_same_axes(graph, first, second))
      return {fmt::format("both read {}, but {}, and {}: a kernel reduces rows, or equal "
                          "segments of them",
                          refusals::named(graph, shared), refusals::reduced(graph, first),
                          refusals::reduced(graph, second)),
              "reduce the same axes"};
  }
  return {fmt::format("{} and {}, which read {}, have other rows and columns", leading_op(graph, a),
                      leading_op(graph, b), refusals::named(graph, shared)),
          kNoChange};
}

Reason points_apart(const Graph& graph, const Group& a, const Group& b, const Dim& of_both) {
  return {fmt::format("one kernel would have {} points, where {} has {} and {} has {}: it would "
                      "compute some again",
                      of_both.text(), leading_op(graph, a), points_of(a).text(),
                      leading_op(graph, b), points_of(b).text()),
          kNoChange};
}

class Siblings {
public:
  Siblings(Partition& partition, const SetJudge& judge)
      : partition_(partition), graph_(partition.graph()), judge_(judge) {}

  void run() {
    join(0);
    // The partials that one kernel stores are known only now.
    const size_t known = partition_.sets().size();
    merge_returned();
    join(known);
  }

private:
  void merge_returned();
  void join(size_t first);
  bool join_pair(int first, int second, ValueId shared);
  std::set<ValueId> tensors_of(int set) const;

  Partition& partition_;
  const Graph& graph_;
  const SetJudge& judge_;
};

/// Partials that are merged for the graph's outputs alone get a set that merges them. Others that
/// merge partials of the same kernel may join it. A single one is merged in the kernel that stores
/// it.
void Siblings::merge_returned() {
  std::map<int, std::set<ValueId>> returned; // by the set that stores the partials
  std::set<int> merged;                      // sets whose partials some op merges
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

/// The tensors that a set reads from memory. For partials, a value of the kernel that stores them
/// stands in.
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

/// Makes one kernel of two that do not feed each other, if neither domain gets wider.
bool Siblings::join_pair(int first, int second, ValueId shared) {
  const bool prepare = partition_.sets()[first].prepare;
  if (llvm::is_contained(partition_.before(second), first) ||
      llvm::is_contained(partition_.before(first), second))
    return false;
  const OpSet ops = partition_.ops_of({first, second});
  if (partition_.between(ops, {first, second})) return false;
  if (siblings_apart(partition_, judge_, first, second, shared)) return false;
  partition_.join(ops, {first, second}, prepare);
  return true;
}

/// Joins kernels that read one tensor and do not depend on each other. Sets before `first` were
/// tried already, and are only joined.
void Siblings::join(size_t first) {
  constexpr int kMostTries = 8;                // for one set, so that the time stays linear
  std::map<ValueId, std::vector<int>> readers; // readers of a tensor so far
  for (int set = 0; set < static_cast<int>(partition_.sets().size()); ++set) {
    const Partition::Set& own = partition_.sets()[set];
    if (!own.live || own.stored) continue;
    const std::set<ValueId> tensors = tensors_of(set);
    std::map<int, ValueId, std::greater<>> others; // the latest first, each with a shared tensor
    for (ValueId tensor : tensors)
      for (int other : llvm::ArrayRef(readers[tensor]).take_back(kMostTries))
        if (partition_.sets()[other].live && partition_.sets()[other].prepare == own.prepare)
          others.try_emplace(other, tensor);
    int tries = 0;
    const bool joined =
        static_cast<size_t>(set) >= first && llvm::any_of(others, [&](const auto& other) {
          return ++tries <= kMostTries && join_pair(other.first, set, other.second);
        });
    // A joined set comes again, at the end.
    if (!joined)
      for (ValueId tensor : tensors) readers[tensor].push_back(set);
  }
}

} // namespace

void join_siblings(Partition& partition, const SetJudge& judge) {
  Siblings(partition, judge).run();
}

std::optional<Reason> siblings_apart(const Partition& partition, const SetJudge& judge, int first,
                                     int second, ValueId shared) {
  const Graph& graph = partition.graph();
  for (int set : {first, second})
    if (partition.sets()[set].stored) return moves_alone(graph, shared);
  auto of_both = kernel_of(partition, {first, second});
  auto of_first = kernel_of(partition, {first}), of_second = kernel_of(partition, {second});
  const Group *both = std::get_if<Group>(&of_both), *a = std::get_if<Group>(&of_first),
              *b = std::get_if<Group>(&of_second);
  if (!a || !b) return std::get<Refusal>(a ? of_second : of_first);
  if (!a->matmuls.empty() || !b->matmuls.empty()) return products_beside(graph, shared, *a, *b);
  if (!both) {
    const Refusal& refusal = std::get<Refusal>(of_both);
    return refusal.of_axes ? axes_apart(graph, shared, *a, *b) : Reason(refusal);
  }
  const OpSet ops = partition.ops_of({first, second});
  if (auto reason = judge.obstacle(ops, *both)) return reason;
  if (auto refusal = judge.refused_storing(ops, partition.merges_of({first, second}), *both))
    return refusal;
  if (points_of(*a) == points_of(*both) && points_of(*b) == points_of(*both)) return std::nullopt;
  return points_apart(graph, *a, *b, points_of(*both));
}

} // namespace ingot
