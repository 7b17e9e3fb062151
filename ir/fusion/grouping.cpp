// SPDX-License-Identifier: Apache-2.0
// See grouping.h. Greedy in topological order: an op joins all groups that its operands come from,
// else the latest that takes it, else it starts a group of its own.
#include "ir/fusion/grouping.h"

#include "ir/fusion/prologues.h"
#include "ir/fusion/refusals.h"
#include "ir/fusion/step_cost.h"
#include "ir/fusion/stores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/iterator_range.h"

namespace ingot {
namespace {

class Grouping {
public:
  Grouping(const Graph& graph, const FusionLimits& limits, const std::set<OpId>& reduced_where_read,
           const std::set<OpId>& judged)
      : graph_(graph), limits_(limits), judged_(judged),
        partition_(graph, limits, reduced_where_read) {}

  llvm::Expected<FusionPlan> run() {
    for (uint32_t index = 0; index < graph_.ops().size(); ++index) {
      const Op& op = graph_.op(OpId{index});
      if (!partition_.needed(OpId{index})) continue;
      if (op.kind == OpKind::concat) partition_.store(op.results[0]);
      if (!is_compute(op)) continue;
      if (auto error = place(OpId{index})) return error;
    }
    for (std::set<OpId>* ops : {&kept_apart_, &drop_columns_})
      std::erase_if(*ops, [&](OpId op) { return !is_operand_stored(op); });
    absorb_prologues(partition_, apart_);
    join_siblings(0);
    // Which partials one kernel leaves is known only now.
    const size_t known = partition_.sets().size();
    merge_returned();
    join_siblings(known);
    return plan_stores(std::move(partition_), std::move(apart_), refused_);
  }

  /// Reductions of segments that a matmul's kernel begins though what they reduce is stored all the
  /// same, and that keep other ops apart, or tiles from being filled. Known once run() is done.
  const std::set<OpId>& kept_apart() const { return kept_apart_; }
  const std::set<OpId>& drop_columns() const { return drop_columns_; }
  /// Ops of a set that is no kernel with what it has to store; none where run() yields a plan.
  const OpSet& refused() const { return refused_; }

private:
  llvm::Error place(OpId op);
  void note_kept_apart(const OpSet& ops);
  bool is_operand_stored(OpId reduction) const;
  bool cure(OpId op, const Refusal& refusal);
  void merge_returned();
  void join_siblings(size_t first);
  std::optional<Dim> points_of_sets(llvm::ArrayRef<int> sets) const;
  bool join_pair(int first, int second);
  std::set<ValueId> tensors_of(int set) const;
  std::optional<Reason> barrier(OpId op, int set) const;
  const Reduction* global_read(OpId op, int set) const;
  bool is_of_merged_size(const Group& group, llvm::ArrayRef<OpId> merges) const;
  bool try_join(OpId op, const std::vector<int>& sets);
  std::optional<Reason> excess(const Group& group, size_t results) const;
  std::optional<Reason> obstacle(const OpSet& ops, const Group& group) const;
  void note_apart(OpId op, llvm::ArrayRef<int> sets, const Reason& reason);
  std::vector<StoreTarget> stored_values(const OpSet& ops) const;
  std::variant<Group, Refusal> analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                               const Group& group) const;
  std::optional<Refusal> refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                         const Group& group) const;

  const Graph& graph_;
  const FusionLimits& limits_;
  const std::set<OpId>& judged_; ///< their sets are judged with what they store at every join
  Partition partition_;
  std::vector<Apart> apart_;
  std::set<OpId> kept_apart_, drop_columns_;
  OpSet refused_;
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

/// The results of `ops` that others read or the graph returns.
std::vector<StoreTarget> Grouping::stored_values(const OpSet& ops) const {
  std::vector<StoreTarget> result;
  auto inside = [&](OpId op) { return std::binary_search(ops.begin(), ops.end(), op); };
  for (OpId op : ops)
    for (ValueId value : graph_.op(op).results) {
      const bool output = llvm::any_of(graph_.outputs(), [&](const GraphOutput& o) {
        return root_of(graph_, o.value) == value;
      });
      const bool used = llvm::any_of(partition_.users(value), [&](OpId user) {
        return partition_.needed(user) && !inside(user);
      });
      if (output || used) result.push_back(StoreTarget::whole(value));
    }
  return result;
}

void Grouping::note_apart(OpId op, llvm::ArrayRef<int> sets, const Reason& reason) {
  for (ValueId operand : graph_.op(op).operands) {
    const ValueId value = partition_.reached(op, operand);
    if (llvm::is_contained(sets, partition_.maker(op, value)))
      apart_.push_back({op, value, reason});
  }
}

/// Notes the segments whose partials `ops` would combine.
void Grouping::note_kept_apart(const OpSet& ops) {
  for (OpId op : ops)
    for (ValueId operand : graph_.op(op).operands) {
      const Reduction* reduction =
          partition_.global(graph_.value(partition_.reached(op, operand)).op);
      if (reduction && reduction->span == ReduceSpan::segment) kept_apart_.insert(reduction->op);
    }
}

/// True when the kernel that begins `reduction` stores something as large as what it reduces.
bool Grouping::is_operand_stored(OpId reduction) const {
  const Dim points = element_count(graph_.type(graph_.op(reduction).operands[0]).shape);
  return llvm::any_of(stored_values(partition_.sets()[partition_.set_of(reduction)].ops),
                      [&](const StoreTarget& target) {
                        return element_count(graph_.type(target.value).shape) == points;
                      });
}

/// Why a group with so many results would not fit into registers or parameters.
std::optional<Reason> Grouping::excess(const Group& group, size_t results) const {
  const auto live = static_cast<int64_t>(results), ops = static_cast<int64_t>(group.ops.size());
  if (live > limits_.most_live || live * ops > limits_.most_evaluations)
    return refusals::too_many_results(results, group.ops.size(), limits_);
  std::set<ValueId> read;
  for (const Read& r : group.reads) read.insert(r.access.value);
  const size_t tensors = read.size() + results;
  if (static_cast<int64_t>(tensors) > limits_.most_tensors)
    return refusals::too_many_tensors(tensors, limits_.most_tensors);
  return std::nullopt;
}

/// The kernel of `ops`, which without stores is `group`, with all that it would store now.
std::variant<Group, Refusal>
Grouping::analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges, const Group& group) const {
  std::vector<StoreTarget> stored;
  for (const StoreTarget& target : stored_values(ops))
    if (llvm::none_of(group.reductions, [&](const Reduction& r) {
          return r.global && r.op == graph_.value(target.value).op;
        }))
      stored.push_back(target);
  return analyze_group(partition_.context_for(ops, merges), ops, stored);
}

/// Why `ops` are no kernel with what they store, though they are one without; empty: they are, or
/// are not to be judged. Most of what is stored now is not once its readers have joined, so that
/// only sets are judged that turned out to be refused.
std::optional<Refusal> Grouping::refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                                 const Group& group) const {
  if (ops.size() == 1 || llvm::none_of(ops, [&](OpId op) { return judged_.count(op) != 0; }))
    return std::nullopt;
  auto storing = analyze_storing(ops, merges, group);
  auto* refusal = std::get_if<Refusal>(&storing);
  return refusal ? std::optional(*refusal) : std::nullopt;
}

/// Why the machine cannot run `group` with all that it would store now; empty: it can. An op alone
/// has no other kernel to be in.
std::optional<Reason> Grouping::obstacle(const OpSet& ops, const Group& group) const {
  if (ops.size() == 1) return std::nullopt;
  const std::vector<StoreTarget> results = stored_values(ops);
  if (auto reason = excess(group, results.size())) return reason;
  if (auto reason = costly_step(graph_, group, limits_)) return reason;
  if (!limits_.obstacle || group.reductions.empty()) return std::nullopt;
  auto storing = analyze_storing(ops, {}, group);
  const Group* whole = std::get_if<Group>(&storing);
  return limits_.obstacle(whole ? *whole : group);
}

/// Points of the domain.
Dim points_of(const Group& group) {
  Dim points = 1;
  for (const AtomList* atoms : {&group.domain.batch, &group.domain.rows, &group.domain.columns})
    for (Atom atom : *atoms) points = points * group.space.extent(atom);
  return points;
}

/// True when a kernel that merges partials has a point for each result, and no more.
bool Grouping::is_of_merged_size(const Group& group, llvm::ArrayRef<OpId> merges) const {
  return llvm::all_of(merges, [&](OpId op) {
    return points_of(group) == element_count(graph_.type(graph_.op(op).results[0]).shape);
  });
}

bool Grouping::try_join(OpId op, const std::vector<int>& sets) {
  OpSet ops{op};
  for (int set : sets) llvm::append_range(ops, partition_.sets()[set].ops);
  llvm::sort(ops);
  if (partition_.cyclic(ops, sets)) {
    note_apart(op, sets,
               {"an op in between would have to run in the middle of the kernel",
                "none: it reads what the kernel stores, and the kernel reads its result"});
    return false;
  }
  const std::vector<OpId> merges = partition_.merges_of(sets);
  auto result = analyze_group(partition_.context_for(ops, merges), ops, {});
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
  if (auto reason = obstacle(ops, std::get<Group>(result))) {
    note_apart(op, sets, *reason);
    return false;
  }
  if (auto refusal = refused_storing(ops, merges, std::get<Group>(result))) {
    note_apart(op, sets, *refusal);
    return false;
  }
  partition_.join(ops, sets, partition_.prepared(op));
  const double lost = columns_lost(std::get<Group>(result), limits_);
  for (const Reduction& reduction : std::get<Group>(result).reductions) {
    if (!reduction.global) continue;
    partition_.add_global(reduction);
    if (reduction.span == ReduceSpan::column) partition_.finish(reduction.op);
    if (reduction.span == ReduceSpan::segment && lost > 0) drop_columns_.insert(reduction.op);
  }
  return true;
}

/// What keeps `op` out of a set whatever else joins; empty: nothing.
std::optional<Reason> Grouping::barrier(OpId op, int set) const {
  const Partition::Set& other = partition_.sets()[set];
  if (other.stored && graph_.producer(*other.stored).kind == OpKind::concat)
    return refusals::parts_meet();
  if (other.stored) return refusals::rearranged_before();
  if (other.prepare != partition_.prepared(op)) return refusals::prepared_before();
  if (const Reduction* reduction = global_read(op, set))
    return refusals::crosses_tiles(graph_, *reduction);
  return std::nullopt;
}

/// Lets kernels of their own do what `op` cannot have done where it reads. False: all is done.
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

/// Partials that are merged for the graph's outputs alone get a set that merges them, which others
/// of their kernel may join. One on its own is merged where it is stored.
void Grouping::merge_returned() {
  std::map<int, std::set<ValueId>> returned; // by the set that leaves the partials
  for (const GraphOutput& output : graph_.outputs()) {
    const ValueId value = root_of(graph_, output.value);
    const OpId op = graph_.value(value).op;
    const bool is_used = llvm::any_of(graph_.op(op).results, [&](ValueId result) {
      return llvm::any_of(partition_.users(result),
                          [&](OpId user) { return partition_.needed(user); });
    });
    if (partition_.global(op) && !is_used) returned[partition_.set_of(op)].insert(value);
  }
  for (const auto& [set, values] : returned)
    for (ValueId value : values)
      if (values.size() > 1) partition_.finish(graph_.value(value).op);
}

/// What a set reads from memory; for partials stands a value of the kernel that leaves them.
std::set<ValueId> Grouping::tensors_of(int set) const {
  std::set<ValueId> tensors;
  for (OpId op : partition_.sets()[set].merges) {
    const OpId first = partition_.sets()[partition_.set_of(op)].ops.front();
    tensors.insert(graph_.op(first).results[0]);
  }
  for (OpId op : partition_.sets()[set].ops)
    for (ValueId operand : graph_.op(op).operands) {
      const ValueId value = partition_.reached(op, operand);
      const OpKind kind = graph_.producer(value).kind;
      if (partition_.maker(op, value) != set && !is_computed_source(kind)) tensors.insert(value);
    }
  return tensors;
}

/// The points of sets taken as one loaded kernel; none where they cannot be.
std::optional<Dim> Grouping::points_of_sets(llvm::ArrayRef<int> sets) const {
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
      (sets.size() > 1 && (obstacle(ops, *group) || refused_storing(ops, merges, *group))))
    return std::nullopt;
  return points_of(*group);
}

/// One kernel of two that do not feed each other, where neither then has a wider domain.
bool Grouping::join_pair(int first, int second) {
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
void Grouping::join_siblings(size_t first) {
  constexpr int kMostTries = 4;   // for one set, so that the time stays linear
  std::map<ValueId, int> readers; // the last set that reads a tensor
  for (int set = 0; set < static_cast<int>(partition_.sets().size()); ++set) {
    const Partition::Set& own = partition_.sets()[set];
    if (!own.live || own.stored) continue;
    const std::set<ValueId> tensors = tensors_of(set);
    std::set<int> others;
    for (ValueId tensor : tensors)
      if (auto found = readers.find(tensor); found != readers.end()) others.insert(found->second);
    const bool joined = static_cast<size_t>(set) >= first &&
                        llvm::any_of(llvm::make_range(others.rbegin(), others.rend()),
                                     [&, tries = 0](int other) mutable {
                                       const Partition::Set& earlier = partition_.sets()[other];
                                       return earlier.live && earlier.prepare == own.prepare &&
                                              ++tries <= kMostTries && join_pair(other, set);
                                     });
    // A joined set comes again, last.
    if (!joined)
      for (ValueId tensor : tensors) readers[tensor] = set;
  }
}

/// The plan of grouping with the reductions that no matmul's kernel shall begin, and what that
/// learned of others. Where a set is refused with its stores, its ops are grouped again and judged
/// with them; `judged` keeps them.
llvm::Expected<FusionPlan> group_ops(const Graph& graph, const FusionLimits& limits,
                                     const std::set<OpId>& reduced_where_read,
                                     std::set<OpId>& judged, std::optional<Grouping>& grouping) {
  for (;;) {
    grouping.emplace(graph, limits, reduced_where_read, judged);
    auto plan = grouping->run();
    const size_t known = judged.size();
    judged.insert(grouping->refused().begin(), grouping->refused().end());
    if (plan || judged.size() == known) return plan;
    llvm::consumeError(plan.takeError());
  }
}

} // namespace

llvm::Expected<FusionPlan> plan_fusion(const Graph& graph, const FusionLimits& limits) {
  std::set<OpId> judged;
  std::optional<Grouping> grouping, again;
  auto plan = group_ops(graph, limits, {}, judged, grouping);
  std::set<OpId> reread = grouping->kept_apart();
  reread.insert(grouping->drop_columns().begin(), grouping->drop_columns().end());
  if (!plan || reread.empty()) return plan;
  auto other = group_ops(graph, limits, reread, judged, again);
  if (!other) {
    llvm::consumeError(other.takeError());
    return plan;
  }
  const size_t most = plan->groups.size() - (grouping->drop_columns().empty() ? 1 : 0);
  if (other->groups.size() <= most) return other;
  return plan;
}

} // namespace ingot
