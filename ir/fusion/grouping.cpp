// SPDX-License-Identifier: Apache-2.0
// See grouping.h. Grouping is greedy. It tries some topological orders and takes the one that
// yields the fewest kernels. An op joins all groups of its operands, else all but one, else the
// group that it reads most of and that accepts it. Else it starts a group of its own.
#include "ir/fusion/grouping.h"

#include "ir/assumed_size.h"
#include "ir/fusion/computed_operands.h"
#include "ir/fusion/layouts.h"
#include "ir/fusion/op_orders.h"
#include "ir/fusion/prologues.h"
#include "ir/fusion/refusals.h"
#include "ir/fusion/siblings.h"
#include "ir/fusion/step_cost.h"
#include "ir/fusion/stores.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Grouping {
public:
  Grouping(const Graph& graph, const FusionLimits& limits,
           const std::map<OpId, Reason>& reduced_apart, const std::set<OpId>& judged)
      : graph_(graph), limits_(limits), partition_(graph, limits, &reduced_apart), judged_(judged),
        judge_(partition_, judged) {}

  llvm::Expected<FusionPlan> run(llvm::ArrayRef<OpId> order) {
    for (OpId id : order) {
      const Op& op = graph_.op(id);
      if (!partition_.needed(id)) continue;
      if (op.kind == OpKind::concat) partition_.store(op.results[0]);
      if (!is_compute(op)) continue;
      if (auto error = place(id)) return error;
    }
    for (auto* reductions : {&kept_apart_, &drop_columns_})
      std::erase_if(*reductions, [&](const auto& r) { return !is_operand_stored(r.first); });
    compute_operands(partition_, judge_, apart_);
    absorb_prologues(partition_, judge_, apart_);
    join_siblings(partition_, judge_);
    choose_layouts(partition_);
    return plan_stores(std::move(partition_), judged_, std::move(apart_), refused_);
  }

  /// Reductions of segments that a matmul's kernel begins although their operand is stored anyway.
  /// They keep other ops apart, or tiles from being filled. Known once run() is done.
  const std::map<OpId, Reason>& kept_apart() const { return kept_apart_; }
  const std::map<OpId, Reason>& drop_columns() const { return drop_columns_; }
  /// Empty if run() yields a plan.
  const Refused& refused() const { return refused_; }

private:
  llvm::Error place(OpId op);
  void note_kept_apart(const OpSet& ops);
  bool is_operand_stored(OpId reduction) const;
  bool cure(OpId op, const Refusal& refusal);
  std::optional<Reason> barrier(OpId op, int set) const;
  double size_read(OpId op, int set) const;
  const Reduction* global_read(OpId op, int set) const;
  bool is_of_merged_size(const Group& group, llvm::ArrayRef<OpId> merges) const;
  bool try_join(OpId op, const std::vector<int>& sets);
  BoundOps bound_before(OpId op, const std::vector<int>& sets) const;
  void add_globals(const Group& group);
  void note_apart(OpId op, llvm::ArrayRef<int> sets, const Reason& reason);

  const Graph& graph_;
  const FusionLimits& limits_;
  Partition partition_;
  const std::set<OpId>& judged_;
  SetJudge judge_;
  std::vector<Apart> apart_;
  std::map<OpId, Reason> kept_apart_, drop_columns_; ///< reasons for GroupContext::reduced_apart
  Refused refused_;

  /// The bound ops of a set, and the context_version() of their context.
  struct Bound {
    BoundOps ops;
    int version;
  };
  std::map<int, Bound> bound_; ///< by the set
};

/// A global reduction that `set` computes and whose result `op` needs; null: none.
const Reduction* Grouping::global_read(OpId op, int set) const {
  for (ValueId operand : graph_.op(op).operands) {
    const OpId producer = graph_.value(partition_.reached(op, operand)).op;
    if (const Reduction* reduction = partition_.global(producer);
        reduction && partition_.set_of(producer) == set)
      return reduction;
  }
  return nullptr;
}

void Grouping::note_apart(OpId op, llvm::ArrayRef<int> sets, const Reason& reason) {
  for (ValueId operand : graph_.op(op).operands) {
    const ValueId value = partition_.reached(op, operand);
    if (llvm::is_contained(sets, partition_.maker(op, value)))
      apart_.push_back({op, value, reason});
  }
}

/// The elements of the largest value that `op` reads from a set. A named size counts as large.
double Grouping::size_read(OpId op, int set) const {
  double largest = 0;
  for (ValueId operand : graph_.op(op).operands) {
    const ValueId value = partition_.reached(op, operand);
    if (partition_.maker(op, value) != set) continue;
    largest = std::max(largest, likely_count(element_count(graph_.type(value).shape)));
  }
  return largest;
}

/// Notes the segments whose partials `ops` would combine.
void Grouping::note_kept_apart(const OpSet& ops) {
  for (OpId op : ops)
    for (ValueId operand : graph_.op(op).operands) {
      const Reduction* reduction =
          partition_.global(graph_.value(partition_.reached(op, operand)).op);
      if (reduction && reduction->span == ReduceSpan::segment)
        kept_apart_.emplace(reduction->op, refusals::reduced_where_read(graph_, *reduction));
    }
}

/// True if the kernel that begins `reduction` stores a value as large as the reduction's operand.
bool Grouping::is_operand_stored(OpId reduction) const {
  const Dim points = element_count(graph_.type(graph_.op(reduction).operands[0]).shape);
  return llvm::any_of(judge_.stored_values(partition_.sets()[partition_.set_of(reduction)].ops),
                      [&](const StoreTarget& target) {
                        return element_count(graph_.type(target.value).shape) == points;
                      });
}

/// True if a kernel that merges partials has one point for each result.
bool Grouping::is_of_merged_size(const Group& group, llvm::ArrayRef<OpId> merges) const {
  return llvm::all_of(merges, [&](OpId op) {
    return points_of(group) == element_count(graph_.type(graph_.op(op).results[0]).shape);
  });
}

/// True if a reduced matrix has many rows of tiles: to merge their states again for each of its
/// rows would cost as much as to read the row. No tile holds rows of two matrices.
bool has_many_tiles(const Group& group, const Reduction& reduction) {
  constexpr int64_t kMostRowsOfTiles = 32, kTileRows = 64;
  const auto& [batch, all_rows, columns] = group.domain;
  AtomList of_batch, of_rows;
  for (Atom atom : group.space.leaves(reduction.reduced))
    if (!llvm::is_contained(columns, atom))
      (llvm::is_contained(batch, atom) ? of_batch : of_rows).push_back(atom);
  const Dim rows = group.space.extent(of_rows), matrices = group.space.extent(of_batch);
  if (!rows.is_fixed() || !matrices.is_fixed()) return true;
  const int64_t of_one = (rows.fixed() + kTileRows - 1) / kTileRows;
  return of_one > kMostRowsOfTiles ||
         matrices.fixed() > kMostRowsOfTiles / std::max<int64_t>(of_one, 1);
}

/// The bound ops of the set that `op` would join; null: of more sets, or they must be bound again.
BoundOps Grouping::bound_before(OpId op, const std::vector<int>& sets) const {
  if (sets.size() != 1) return nullptr;
  const OpSet& ops = partition_.sets()[sets.front()].ops;
  const auto found = bound_.find(sets.front());
  const bool is_last = ops.empty() || ops.back() < op;
  return is_last && found != bound_.end() && found->second.version == partition_.context_version()
             ? found->second.ops
             : nullptr;
}

bool Grouping::try_join(OpId op, const std::vector<int>& sets) {
  OpSet ops{op};
  for (int set : sets) llvm::append_range(ops, partition_.sets()[set].ops);
  llvm::sort(ops);
  if (const auto op_between = partition_.between(ops, sets)) {
    const size_t noted = apart_.size();
    note_apart(op, sets, refusals::runs_between(graph_, *op_between));
    for (Apart& apart : llvm::MutableArrayRef(apart_).drop_front(noted)) apart.says_least = true;
    return false;
  }
  const std::vector<OpId> merges = partition_.merges_of(sets);
  BoundOps bound = bound_before(op, sets);
  const int version = partition_.context_version();
  auto result = analyze_group(partition_.context_for(ops, merges), ops, {}, &bound);
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    note_apart(op, sets, *refusal);
    if (refusal->merge) note_kept_apart(ops);
    return false;
  }
  if (!merges.empty() && !is_of_merged_size(std::get<Group>(result), merges)) {
    note_apart(op, sets, refusals::crosses_tiles(graph_, *partition_.global(merges.front())));
    return false;
  }
  if (has_prologue(std::get<Group>(result))) {
    note_apart(op, sets, refusals::operand_computed(graph_, op));
    return false;
  }
  if (auto reason = judge_.obstacle(ops, std::get<Group>(result))) {
    note_apart(op, sets, *reason);
    return false;
  }
  if (auto reason = judge_.recomputes(op, sets, ops, std::get<Group>(result))) {
    note_apart(op, sets, *reason);
    return false;
  }
  if (auto refusal = judge_.refused_storing(ops, merges, std::get<Group>(result))) {
    note_apart(op, sets, *refusal);
    return false;
  }
  const Group& group = std::get<Group>(result);
  partition_.join(ops, sets, partition_.prepared(op));
  for (int set : sets) bound_.erase(set);
  bound_[partition_.set_of(op)] = {std::move(bound), version};
  add_globals(group);
  return true;
}

/// Notes the reductions of a set that others merge, and those that a kernel of its own merges.
void Grouping::add_globals(const Group& group) {
  const double lost = columns_lost(group, limits_);
  for (const Reduction& reduction : group.reductions) {
    if (!reduction.global) continue;
    partition_.add_global(reduction);
    const bool by_itself =
        reduction.span == ReduceSpan::column ||
        (reduction.span == ReduceSpan::matrix && has_many_tiles(group, reduction));
    if (by_itself) partition_.finish(reduction.op);
    if (reduction.span == ReduceSpan::segment && lost > 0)
      drop_columns_.emplace(reduction.op, refusals::reduced_where_read(graph_, reduction));
  }
}

/// The reason that keeps `op` out of a set with any other ops; empty: none.
std::optional<Reason> Grouping::barrier(OpId op, int set) const {
  if (auto reason = partition_.made_before(set, partition_.prepared(op))) return reason;
  if (const Reduction* reduction = global_read(op, set))
    return refusals::crosses_tiles(graph_, *reduction);
  return std::nullopt;
}

/// Gives work that `op` cannot do where it reads to kernels of their own. Returns false if all of
/// it is already done.
bool Grouping::cure(OpId op, const Refusal& refusal) {
  bool changed = false;
  auto store = [&](ValueId value) {
    const OpKind kind = graph_.producer(value).kind;
    if (kind == OpKind::concat || partition_.maker(op, value) != Partition::kNone) return;
    partition_.read_stored(op, value);
    changed = true;
  };
  if (refusal.merge) {
    for (ValueId operand : graph_.op(op).operands)
      changed |= partition_.finish(graph_.value(partition_.reached(op, operand)).op);
  } else if (refusal.store) {
    store(*refusal.store);
  } else {
    for (ValueId operand : graph_.op(op).operands)
      if (info(graph_.producer(operand).kind).op_class == OpClass::movement) store(operand);
  }
  return changed;
}

llvm::Error Grouping::place(OpId op) {
  for (;;) {
    std::vector<int> sets;
    for (int set : partition_.before(op)) {
      if (auto reason = barrier(op, set))
        note_apart(op, {set}, *reason);
      else
        sets.push_back(set);
    }
    if (sets.size() > 1 && try_join(op, sets)) return llvm::Error::success();
    // A set that is left out stores the value that the op reads. The smallest is left out first,
    // and the earliest of equals.
    llvm::stable_sort(sets, [&](int a, int b) { return size_read(op, a) < size_read(op, b); });
    for (size_t out = 0; sets.size() > 2 && out < sets.size(); ++out) {
      std::vector<int> others = sets;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
      if (try_join(op, others)) return llvm::Error::success();
    }
    for (int set : llvm::reverse(sets))
      if (try_join(op, {set})) return llvm::Error::success();
    if (try_join(op, {})) return llvm::Error::success();
    auto alone = analyze_group(partition_.context_for({op}), {op}, {});
    const Refusal& refusal = std::get<Refusal>(alone);
    if (cure(op, refusal)) continue;
    const Op& node = graph_.op(op);
    return llvm::make_error<LocatedError>(
        ErrorCode::unsupported,
        fmt::format("{}: no kernel for this op: {}", info(node.kind).name.str(), refusal.rule),
        node.location);
  }
}

/// Groups ops that are placed in one order. Whatever a complete plan refuses is grouped again:
/// `judged` keeps ops whose sets are judged with their stores from then on, `apart` the reductions
/// that no matmul's kernel may begin. `grouping` is the last one, with its findings about
/// reductions.
llvm::Expected<FusionPlan> group_ops(const Graph& graph, const FusionLimits& limits,
                                     llvm::ArrayRef<OpId> order, std::map<OpId, Reason>& apart,
                                     std::set<OpId>& judged, std::optional<Grouping>& grouping) {
  for (;;) {
    grouping.emplace(graph, limits, apart, judged);
    auto plan = grouping->run(order);
    const size_t known = judged.size() + apart.size();
    judged.insert(grouping->refused().ops.begin(), grouping->refused().ops.end());
    apart.insert(grouping->refused().reductions.begin(), grouping->refused().reductions.end());
    if (plan || judged.size() + apart.size() == known) return plan;
    llvm::consumeError(plan.takeError());
  }
}

llvm::Expected<FusionPlan> plan_in_order(const Graph& graph, const FusionLimits& limits,
                                         llvm::ArrayRef<OpId> order) {
  std::set<OpId> judged;
  std::map<OpId, Reason> apart;
  std::optional<Grouping> grouping, again;
  auto plan = group_ops(graph, limits, order, apart, judged, grouping);
  std::map<OpId, Reason> reread = apart;
  reread.insert(grouping->kept_apart().begin(), grouping->kept_apart().end());
  reread.insert(grouping->drop_columns().begin(), grouping->drop_columns().end());
  if (!plan || reread.size() == apart.size()) return plan;
  auto other = group_ops(graph, limits, order, reread, judged, again);
  if (!other) {
    llvm::consumeError(other.takeError());
    return plan;
  }
  const size_t most = plan->groups.size() - (grouping->drop_columns().empty() ? 1 : 0);
  if (other->groups.size() <= most) return other;
  return plan;
}

} // namespace

llvm::Expected<FusionPlan> plan_fusion(const Graph& graph, const FusionLimits& limits) {
  constexpr size_t kMostOutputs = 64; // more would take three times the time of their plan
  const std::vector<OpId> written = order_written(graph);
  auto plan = plan_in_order(graph, limits, written);
  const size_t outputs = graph.outputs().size();
  if (outputs < 2 || outputs > kMostOutputs) return plan;
  for (const std::vector<OpId>& order : orders_by_output(graph)) {
    if (order == written) continue;
    if (!plan || plan->groups.size() < 2) break;
    auto other = plan_in_order(graph, limits, order);
    if (!other)
      llvm::consumeError(other.takeError());
    else if (other->groups.size() < plan->groups.size())
      plan = std::move(other);
  }
  return plan;
}

} // namespace ingot
