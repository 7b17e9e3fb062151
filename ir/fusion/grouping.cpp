// SPDX-License-Identifier: Apache-2.0
// See grouping.h. Greedy in topological order: an op joins all groups that its operands come from,
// else the latest that takes it, else it starts a group of its own.
#include "ir/fusion/grouping.h"

#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace ingot {
namespace {

using OpSet = std::vector<OpId>; // sorted

class Grouping {
public:
  Grouping(const Graph& graph, const FusionLimits& limits)
      : graph_(graph), context_{graph, limits, {}}, set_of_(graph.ops().size(), -1),
        needed_(graph.ops().size(), false), param_only_(graph.ops().size(), false),
        users_(graph.values().size()) {}

  llvm::Expected<FusionPlan> run() {
    scan();
    for (uint32_t index = 0; index < graph_.ops().size(); ++index)
      if (needed_[index] && is_compute(graph_.op(OpId{index})))
        if (auto error = place(OpId{index})) return error;
    return finish();
  }

private:
  struct Set {
    OpSet ops;
    bool prepare = false;
    bool live = true;
  };

  void scan();
  llvm::Error place(OpId op);
  const char* barrier(OpId op, int set) const;
  bool try_join(OpId op, const std::vector<int>& sets);
  std::string obstacle(const OpSet& ops, const Group& group) const;
  void note_boundary(OpId op, llvm::ArrayRef<int> sets, const std::string& rule);
  void finish_reduction(OpId op);
  llvm::Error add_finishing(FusionPlan& plan, const OpSet& ops);
  bool cyclic(const OpSet& ops, llvm::ArrayRef<int> sets) const;
  std::vector<ValueId> stored_values(const OpSet& ops) const;
  std::vector<int> operand_sets(OpId op) const;
  bool reads_global(OpId op, int set) const;
  bool is_global(OpId op) const {
    return context_.global_reductions.count(op) != 0 || finished_.count(op) != 0;
  }
  llvm::Expected<FusionPlan> finish();
  llvm::Error add_moved_outputs(FusionPlan& plan);
  std::vector<int> ordered_sets() const;
  GroupContext context_for(const OpSet& ops) const;

  const Graph& graph_;
  GroupContext context_;
  std::vector<int> set_of_;
  std::vector<bool> needed_, param_only_;
  std::vector<std::vector<OpId>> users_; ///< compute ops that read a value, through movement
  std::vector<Set> sets_;
  std::set<OpId> finished_; ///< global reductions whose partials a kernel of its own merges
  struct PendingBoundary {
    OpId producer, consumer;
    ValueId value;
    std::string rule;
  };
  std::vector<PendingBoundary> pending_;
};

void Grouping::scan() {
  // An op is hoisted when params reach it and nothing else but constants does.
  enum Source : uint8_t { none = 0, from_param = 1, from_input = 2 };
  std::vector<uint8_t> sources(graph_.ops().size(), none);
  for (uint32_t index = 0; index < graph_.ops().size(); ++index) {
    const Op& op = graph_.op(OpId{index});
    if (op.kind == OpKind::input)
      sources[index] = graph_.attributes<InputAttributes>(op).role == InputAttributes::Role::param
                           ? from_param
                           : from_input;
    for (ValueId operand : op.operands) {
      sources[index] |= sources[graph_.value(operand).op.index];
      if (is_compute(op)) users_[root_of(graph_, operand).index].push_back(OpId{index});
    }
    // What the graph returns is made by launch, whatever it depends on.
    if (llvm::any_of(graph_.outputs(), [&](const GraphOutput& output) {
          return graph_.value(root_of(graph_, output.value)).op == OpId{index};
        }))
      sources[index] |= from_input;
    param_only_[index] = sources[index] == from_param && is_compute(op);
  }
  std::vector<ValueId> pending;
  for (const GraphOutput& output : graph_.outputs()) pending.push_back(output.value);
  while (!pending.empty()) {
    const OpId op = graph_.value(pending.back()).op;
    pending.pop_back();
    if (needed_[op.index]) continue;
    needed_[op.index] = true;
    for (ValueId operand : graph_.op(op).operands) pending.push_back(operand);
  }
}

std::vector<int> Grouping::operand_sets(OpId op) const {
  std::vector<int> sets;
  for (ValueId operand : graph_.op(op).operands) {
    const OpId producer = graph_.value(root_of(graph_, operand)).op;
    const int set = set_of_[producer.index];
    if (set >= 0 && !llvm::is_contained(sets, set)) sets.push_back(set);
  }
  llvm::sort(sets);
  return sets;
}

/// True when `op` needs the result of a global reduction that `set` computes.
bool Grouping::reads_global(OpId op, int set) const {
  return llvm::any_of(graph_.op(op).operands, [&](ValueId operand) {
    const OpId producer = graph_.value(root_of(graph_, operand)).op;
    return set_of_[producer.index] == set && is_global(producer);
  });
}

std::vector<ValueId> Grouping::stored_values(const OpSet& ops) const {
  std::vector<ValueId> result;
  auto inside = [&](OpId op) { return std::binary_search(ops.begin(), ops.end(), op); };
  for (OpId op : ops)
    for (ValueId value : graph_.op(op).results) {
      const bool output = llvm::any_of(graph_.outputs(), [&](const GraphOutput& o) {
        return root_of(graph_, o.value) == value;
      });
      const bool used = llvm::any_of(
          users_[value.index], [&](OpId user) { return needed_[user.index] && !inside(user); });
      if (output || used) result.push_back(value);
    }
  return result;
}

/// Would the ops, taken as one kernel, both feed and read some other kernel? Walks backwards from
/// what they read outside of `sets`, and looks for a way back in.
bool Grouping::cyclic(const OpSet& ops, llvm::ArrayRef<int> sets) const {
  std::vector<bool> seen(sets_.size(), false);
  std::vector<int> pending;
  auto visit = [&](OpId op) {
    for (int set : operand_sets(op))
      if (!llvm::is_contained(sets, set) && !seen[set]) {
        seen[set] = true;
        pending.push_back(set);
      }
  };
  for (OpId op : ops) visit(op);
  while (!pending.empty()) {
    const int set = pending.back();
    pending.pop_back();
    for (OpId op : sets_[set].ops) {
      for (int before : operand_sets(op))
        if (llvm::is_contained(sets, before)) return true;
      visit(op);
    }
  }
  return false;
}

GroupContext Grouping::context_for(const OpSet& ops) const {
  GroupContext context{graph_, context_.limits, {}};
  for (OpId op : context_.global_reductions)
    if (!std::binary_search(ops.begin(), ops.end(), op)) context.global_reductions.insert(op);
  return context;
}

void Grouping::note_boundary(OpId op, llvm::ArrayRef<int> sets, const std::string& rule) {
  for (ValueId operand : graph_.op(op).operands) {
    const ValueId root = root_of(graph_, operand);
    const OpId producer = graph_.value(root).op;
    if (llvm::is_contained(sets, set_of_[producer.index]))
      pending_.push_back({producer, op, root, rule});
  }
}

/// From now on a kernel of its own merges the partials of `op`, if it is a global reduction.
void Grouping::finish_reduction(OpId op) {
  if (context_.global_reductions.erase(op)) finished_.insert(op);
}

/// Why the machine cannot run `group` with all that it would store now; empty: it can. An op alone
/// has no other kernel to be in.
std::string Grouping::obstacle(const OpSet& ops, const Group& group) const {
  if (!context_.limits.obstacle || ops.size() == 1 || group.reductions.empty()) return "";
  std::vector<ValueId> stored;
  for (ValueId value : stored_values(ops))
    if (llvm::none_of(group.reductions, [&](const Reduction& r) {
          return r.global && r.op == graph_.value(value).op;
        }))
      stored.push_back(value);
  auto storing = analyze_group(context_for(ops), ops, stored);
  const Group* whole = std::get_if<Group>(&storing);
  return context_.limits.obstacle(whole ? *whole : group);
}

bool Grouping::try_join(OpId op, const std::vector<int>& sets) {
  OpSet ops{op};
  for (int set : sets) ops.insert(ops.end(), sets_[set].ops.begin(), sets_[set].ops.end());
  llvm::sort(ops);
  if (cyclic(ops, sets)) {
    note_boundary(op, sets, "an op in between would have to run in the middle of the kernel");
    return false;
  }
  auto result = analyze_group(context_for(ops), ops, {});
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    note_boundary(op, sets, refusal->rule);
    return false;
  }
  if (std::string rule = obstacle(ops, std::get<Group>(result)); !rule.empty()) {
    note_boundary(op, sets, rule);
    return false;
  }
  for (int set : sets) sets_[set].live = false;
  for (OpId member : ops) set_of_[member.index] = static_cast<int>(sets_.size());
  sets_.push_back({ops, param_only_[op.index], true});
  for (const Reduction& reduction : std::get<Group>(result).reductions)
    if (reduction.global && !finished_.count(reduction.op)) {
      context_.global_reductions.insert(reduction.op);
      if (reduction.span != ReduceSpan::row) finish_reduction(reduction.op);
    }
  return true;
}

/// What keeps `op` out of a set whatever else joins; empty: nothing.
const char* Grouping::barrier(OpId op, int set) const {
  if (sets_[set].prepare != param_only_[op.index])
    return "the producer depends on params alone and runs once, in prepare";
  if (reads_global(op, set))
    return "the reduction crosses tiles: its result exists only after the whole grid";
  return nullptr;
}

llvm::Error Grouping::place(OpId op) {
  std::vector<int> sets;
  for (int set : operand_sets(op)) {
    if (const char* rule = barrier(op, set))
      note_boundary(op, {set}, rule);
    else
      sets.push_back(set);
  }
  if (sets.size() > 1 && try_join(op, sets)) return llvm::Error::success();
  for (int set : llvm::reverse(sets))
    if (try_join(op, {set})) return llvm::Error::success();
  if (try_join(op, {})) return llvm::Error::success();
  auto alone = analyze_group(context_for({op}), {op}, {});
  if (std::get<Refusal>(alone).rule == kCombineAlongColumns) {
    for (ValueId operand : graph_.op(op).operands)
      finish_reduction(graph_.value(root_of(graph_, operand)).op);
    return place(op);
  }
  const Op& node = graph_.op(op);
  const std::string rule = std::get<Refusal>(alone).rule;
  return llvm::make_error<LocatedError>(
      ErrorCode::unsupported,
      fmt::format("{}: no kernel for this op: {}", info(node.kind).name.str(), rule),
      node.location);
}

/// Live sets in an order in which each reads only what earlier ones store.
std::vector<int> Grouping::ordered_sets() const {
  std::vector<int> order;
  std::vector<int> state(sets_.size(), 0);
  auto visit = [&](auto&& self, int set) -> void {
    if (state[set]) return;
    state[set] = 1;
    for (OpId op : sets_[set].ops)
      for (int before : operand_sets(op))
        if (before != set) self(self, before);
    order.push_back(set);
  };
  for (size_t set = 0; set < sets_.size(); ++set)
    if (sets_[set].live) visit(visit, static_cast<int>(set));
  return order;
}

llvm::Expected<FusionPlan> Grouping::finish() {
  FusionPlan plan;
  std::vector<int> position(sets_.size(), -1);
  for (int set : ordered_sets()) {
    const OpSet& ops = sets_[set].ops;
    std::vector<ValueId> roots;
    for (ValueId value : stored_values(ops))
      if (!is_global(graph_.value(value).op)) roots.push_back(value);
    // Prefer to store an output in the shape that the graph returns it in.
    std::vector<ValueId> stored;
    for (ValueId value : roots) {
      bool own = llvm::any_of(users_[value.index], [&](OpId user) {
        return needed_[user.index] && set_of_[user.index] != set;
      });
      for (const GraphOutput& output : graph_.outputs()) {
        if (!(root_of(graph_, output.value) == value) || llvm::is_contained(stored, output.value))
          continue;
        auto moved = analyze_group(context_for(ops), ops, {output.value});
        if (std::holds_alternative<Group>(moved))
          stored.push_back(output.value);
        else
          own = true;
      }
      if (own && !llvm::is_contained(stored, value)) stored.push_back(value);
    }
    auto result = analyze_group(context_for(ops), ops, stored);
    if (auto* refusal = std::get_if<Refusal>(&result))
      return make_error(ErrorCode::internal, "a planned kernel is not legal: {}", refusal->rule);
    Group group = std::get<Group>(std::move(result));
    group.program = sets_[set].prepare ? ProgramKind::prepare : ProgramKind::launch;
    position[set] = static_cast<int>(plan.groups.size());
    plan.groups.push_back(std::move(group));
    if (auto error = add_finishing(plan, ops)) return error;
  }
  if (auto error = add_moved_outputs(plan)) return error;
  for (const PendingBoundary& p : pending_) {
    const int producer = position[set_of_[p.producer.index]];
    const int consumer = position[set_of_[p.consumer.index]];
    if (producer == consumer) continue;
    Boundary boundary{static_cast<uint32_t>(producer), static_cast<uint32_t>(consumer), p.value,
                      p.rule};
    if (llvm::none_of(plan.boundaries, [&](const Boundary& b) {
          return b.producer == boundary.producer && b.consumer == boundary.consumer &&
                 b.value == boundary.value;
        }))
      plan.boundaries.push_back(std::move(boundary));
  }
  return plan;
}

/// Kernels that merge the partials which `ops` leave behind and store the results.
llvm::Error Grouping::add_finishing(FusionPlan& plan, const OpSet& ops) {
  for (OpId op : ops) {
    if (!finished_.count(op)) continue;
    GroupContext context = context_for({});
    context.global_reductions.insert(op);
    std::vector<ValueId> results;
    for (ValueId value : graph_.op(op).results)
      if (llvm::is_contained(stored_values(ops), value)) results.push_back(value);
    auto result = analyze_group(context, {}, results);
    if (auto* refusal = std::get_if<Refusal>(&result))
      return make_error(ErrorCode::internal, "partials cannot be merged: {}", refusal->rule);
    Group group = std::get<Group>(std::move(result));
    group.program = plan.groups.back().program;
    plan.groups.push_back(std::move(group));
  }
  return llvm::Error::success();
}

/// Outputs that no group stores - inputs passed on, moved values, bare global reductions - get a
/// group that only moves data.
llvm::Error Grouping::add_moved_outputs(FusionPlan& plan) {
  for (const GraphOutput& output : graph_.outputs()) {
    const bool stored = llvm::any_of(plan.groups, [&](const Group& group) {
      return llvm::any_of(group.writes, [&](const Write& w) { return w.value == output.value; });
    });
    if (stored) continue;
    auto result = analyze_group(context_for({}), {}, {output.value});
    if (auto* refusal = std::get_if<Refusal>(&result))
      return make_error(ErrorCode::unsupported, "output '{}': no kernel moves it: {}", output.name,
                        refusal->rule);
    plan.groups.push_back(std::get<Group>(std::move(result)));
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<FusionPlan> plan_fusion(const Graph& graph, const FusionLimits& limits) {
  return Grouping(graph, limits).run();
}

} // namespace ingot
