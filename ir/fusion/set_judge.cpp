// SPDX-License-Identifier: Apache-2.0
// See set_judge.h.
#include "ir/fusion/set_judge.h"

#include "ir/fusion/refusals.h"
#include "ir/fusion/step_cost.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

std::vector<StoreTarget> SetJudge::stored_values(const OpSet& ops) const {
  std::vector<StoreTarget> result;
  auto inside = [&](OpId op) { return std::binary_search(ops.begin(), ops.end(), op); };
  auto is_concat = [&](OpId op) { return graph_.op(op).kind == OpKind::concat; };
  for (OpId op : ops)
    for (ValueId value : graph_.op(op).results) {
      if (llvm::any_of(partition_.users(value), [&](OpId user) {
            return partition_.needed(user) && !inside(user) && !is_concat(user);
          }))
        result.push_back(StoreTarget::whole(value));
      add_moved(value, result);
    }
  return result;
}

/// What is returned, and each part of a concat, is stored as it is moved.
void SetJudge::add_moved(ValueId value, std::vector<StoreTarget>& targets) const {
  for (const GraphOutput& output : graph_.outputs()) {
    const StoreTarget target = StoreTarget::whole(output.value);
    if (root_of(graph_, output.value) == value && !llvm::is_contained(targets, target))
      targets.push_back(target);
  }
  for (OpId user : partition_.users(value)) {
    const Op& op = graph_.op(user);
    if (op.kind != OpKind::concat || !partition_.needed(user)) continue;
    for (uint32_t part = 0; part < op.operands.size(); ++part) {
      const StoreTarget target{op.operands[part], op.results[0], part};
      if (partition_.reached(user, target.value) == value && !llvm::is_contained(targets, target))
        targets.push_back(target);
    }
  }
}

/// Why a group with so many results would not fit into registers or parameters.
std::optional<Reason> SetJudge::excess(const Group& group, size_t results) const {
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
SetJudge::analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges, const Group& group) const {
  std::vector<StoreTarget> stored;
  for (const StoreTarget& target : stored_values(ops)) {
    const OpId op = graph_.value(root_of(graph_, target.value)).op;
    if (llvm::none_of(group.reductions, [&](const Reduction& r) { return r.global && r.op == op; }))
      stored.push_back(target);
  }
  return analyze_group(partition_.context_for(ops, merges), ops, stored);
}

std::optional<Refusal> SetJudge::refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                                 const Group& group) const {
  if (ops.size() == 1 || llvm::none_of(ops, [&](OpId op) { return judged_.count(op) != 0; }))
    return std::nullopt;
  auto storing = analyze_storing(ops, merges, group);
  auto* refusal = std::get_if<Refusal>(&storing);
  return refusal ? std::optional(*refusal) : std::nullopt;
}

std::optional<Reason> SetJudge::obstacle(const OpSet& ops, const Group& group) const {
  if (ops.size() == 1) return std::nullopt;
  const std::vector<StoreTarget> results = stored_values(ops);
  if (auto reason = excess(group, results.size())) return reason;
  if (auto reason = costly_step(graph_, group, limits_)) return reason;
  if (!limits_.obstacle || group.reductions.empty()) return std::nullopt;
  auto storing = analyze_storing(ops, {}, group);
  const Group* whole = std::get_if<Group>(&storing);
  return limits_.obstacle(whole ? *whole : group);
}

} // namespace ingot
