// SPDX-License-Identifier: Apache-2.0
// See stores.h.
#include "ir/fusion/stores.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Stores {
public:
  Stores(Partition partition, std::vector<Apart> apart)
      : partition_(std::move(partition)), apart_(std::move(apart)) {}

  llvm::Expected<FusionPlan> run();

private:
  void want_outputs();
  llvm::Error settle(int set);
  llvm::Error settle(int set, const StoreTarget& target);
  llvm::Error check_move(const StoreTarget& target);
  bool stored_by_maker(int set, const StoreTarget& target);
  bool read_from_memory(ValueId value, int maker) const;
  llvm::Error emit(int set);
  llvm::Error emit_moves(int set);
  llvm::Error emit_finishing(const OpSet& ops);
  llvm::Error add_group(int set, const OpSet& ops, const std::vector<StoreTarget>& targets);
  void add_boundaries();
  std::vector<uint32_t> groups_of(OpId op) const;

  const Graph& graph() const { return partition_.graph(); }
  std::variant<Group, Refusal> analyze(const OpSet& ops,
                                       const std::vector<StoreTarget>& targets) const {
    return analyze_group(partition_.context_for(ops), ops, targets);
  }
  OpId reader_of(const StoreTarget& target) const { return graph().value(target.into).op; }
  ValueId reached(const StoreTarget& target) const {
    return partition_.reached(reader_of(target), target.value);
  }

  Partition partition_;
  std::vector<Apart> apart_;
  std::map<int, std::vector<StoreTarget>> direct_; ///< what a set of compute ops stores for others
  std::map<int, std::vector<StoreTarget>> moves_;  ///< what is left to the set that moves
  FusionPlan plan_;
  std::vector<int> set_of_group_;
};

/// Each output is stored as the graph returns it: by what makes it, or by moving.
void Stores::want_outputs() {
  for (const GraphOutput& output : graph().outputs()) partition_.store(output.value);
}

/// True when what makes `target` stores it too.
bool Stores::stored_by_maker(int set, const StoreTarget& target) {
  const ValueId source = reached(target);
  const OpId op = graph().value(source).op;
  const int maker = partition_.maker(reader_of(target), source);
  if (maker == Partition::kNone || partition_.sets()[maker].stored) return false;
  if (partition_.is_finished(op)) return source == target.into; // where partials are merged
  if (partition_.sets()[maker].prepare != partition_.sets()[set].prepare ||
      partition_.is_global(op))
    return false;
  std::vector<StoreTarget>& targets = direct_[maker];
  targets.push_back(target);
  auto group = analyze(partition_.sets()[maker].ops, targets);
  if (std::holds_alternative<Group>(group)) return true;
  targets.pop_back();
  apart_.push_back({reader_of(target), source, std::get<Refusal>(group).rule});
  return false;
}

/// Makes sure that a kernel moves `target`: puts what is in the way into memory first.
llvm::Error Stores::check_move(const StoreTarget& target) {
  for (;;) {
    auto moved = analyze({}, {target});
    auto* refusal = std::get_if<Refusal>(&moved);
    if (!refusal) return llvm::Error::success();
    const OpId reader = reader_of(target);
    if (refusal->rule == kCombineAlongColumns &&
        partition_.finish(graph().value(reached(target)).op))
      continue;
    if (!refusal->store || partition_.reached(reader, *refusal->store) == *refusal->store)
      return llvm::make_error<LocatedError>(ErrorCode::unsupported,
                                            fmt::format("{}: no kernel moves it: {}",
                                                        info(graph().op(reader).kind).name.str(),
                                                        refusal->rule),
                                            graph().op(reader).location);
    partition_.read_stored(reader, *refusal->store);
  }
}

llvm::Error Stores::settle(int set, const StoreTarget& target) {
  if (stored_by_maker(set, target)) return llvm::Error::success();
  moves_[set].push_back(target);
  return check_move(target);
}

llvm::Error Stores::settle(int set) {
  const ValueId value = *partition_.sets()[set].stored;
  const Op& op = graph().producer(value);
  if (op.kind != OpKind::concat) return settle(set, StoreTarget::whole(value));
  for (uint32_t part = 0; part < op.operands.size(); ++part)
    if (auto error = settle(set, {op.operands[part], value, part})) return error;
  return llvm::Error::success();
}

/// True when a kernel other than `maker` reads `value` as it is.
bool Stores::read_from_memory(ValueId value, int maker) const {
  for (const auto& [set, targets] : moves_)
    if (llvm::any_of(targets, [&](const StoreTarget& t) { return reached(t) == value; }))
      return true;
  return llvm::any_of(partition_.users(value), [&](OpId user) {
    return partition_.needed(user) && is_compute(graph().op(user)) &&
           partition_.set_of(user) != maker &&
           llvm::any_of(graph().op(user).operands, [&](ValueId operand) {
             return partition_.reached(user, operand) == value;
           });
  });
}

llvm::Error Stores::add_group(int set, const OpSet& ops, const std::vector<StoreTarget>& targets) {
  auto result = analyze(ops, targets);
  if (auto* refusal = std::get_if<Refusal>(&result))
    return make_error(ErrorCode::internal, "a planned kernel is not legal: {}", refusal->rule);
  Group group = std::get<Group>(std::move(result));
  group.program = partition_.sets()[set].prepare ? ProgramKind::prepare : ProgramKind::launch;
  plan_.groups.push_back(std::move(group));
  set_of_group_.push_back(set);
  return llvm::Error::success();
}

llvm::Error Stores::emit(int set) {
  const OpSet& ops = partition_.sets()[set].ops;
  if (partition_.sets()[set].stored) return emit_moves(set);
  std::vector<StoreTarget> targets = direct_[set];
  for (OpId op : ops)
    for (ValueId value : graph().op(op).results)
      if (!partition_.is_global(op) && read_from_memory(value, set) &&
          !llvm::is_contained(targets, StoreTarget::whole(value)))
        targets.push_back(StoreTarget::whole(value));
  if (auto error = add_group(set, ops, targets)) return error;
  return emit_finishing(ops);
}

/// Parts that read the same are stored by one kernel.
llvm::Error Stores::emit_moves(int set) {
  std::vector<StoreTarget> together;
  for (const StoreTarget& target : moves_[set]) {
    const ValueId source = reached(target);
    if (source == target.into && partition_.is_finished(graph().value(source).op)) continue;
    std::vector<StoreTarget> more = together;
    more.push_back(target);
    const bool fits = !together.empty() && reached(together.front()) == source &&
                      std::holds_alternative<Group>(analyze({}, more));
    if (!fits && !together.empty())
      if (auto error = add_group(set, {}, together)) return error;
    together = fits ? std::move(more) : std::vector<StoreTarget>{target};
  }
  return together.empty() ? llvm::Error::success() : add_group(set, {}, together);
}

/// Kernels that merge the partials which `ops` leave behind and store the results.
llvm::Error Stores::emit_finishing(const OpSet& ops) {
  for (OpId op : ops) {
    if (!partition_.is_finished(op)) continue;
    std::vector<StoreTarget> results;
    for (ValueId value : graph().op(op).results)
      if (read_from_memory(value, partition_.set_of(op)) ||
          partition_.storing(value) != Partition::kNone)
        results.push_back(StoreTarget::whole(value));
    GroupContext context = partition_.context_for({});
    context.global_reductions.insert(op);
    auto result = analyze_group(context, {}, results);
    if (auto* refusal = std::get_if<Refusal>(&result))
      return make_error(ErrorCode::internal, "partials cannot be merged: {}", refusal->rule);
    Group group = std::get<Group>(std::move(result));
    group.program = plan_.groups.back().program;
    plan_.groups.push_back(std::move(group));
    set_of_group_.push_back(Partition::kNone);
  }
  return llvm::Error::success();
}

/// The kernels that hold `op` or, where it only moves data, store its result.
std::vector<uint32_t> Stores::groups_of(OpId op) const {
  std::vector<uint32_t> result;
  for (uint32_t g = 0; g < plan_.groups.size(); ++g) {
    const bool holds = llvm::is_contained(plan_.groups[g].ops, op);
    const bool stores =
        !is_compute(graph().op(op)) && llvm::any_of(plan_.groups[g].writes, [&](const Write& w) {
          return graph().value(w.value).op == op;
        });
    if (holds || stores) result.push_back(g);
  }
  return result;
}

void Stores::add_boundaries() {
  for (const Apart& apart : apart_)
    for (uint32_t producer : groups_of(graph().value(apart.value).op))
      for (uint32_t consumer : groups_of(apart.consumer)) {
        const bool known = llvm::any_of(plan_.boundaries, [&](const Boundary& b) {
          return b.producer == producer && b.consumer == consumer && b.value == apart.value;
        });
        if (producer != consumer && !known)
          plan_.boundaries.push_back({producer, consumer, apart.value, apart.rule});
      }
}

llvm::Expected<FusionPlan> Stores::run() {
  want_outputs();
  // Settling may add sets that put more into memory.
  for (size_t set = 0; set < partition_.sets().size(); ++set)
    if (partition_.sets()[set].stored)
      if (auto error = settle(static_cast<int>(set))) return error;
  for (int set : partition_.order())
    if (auto error = emit(set)) return error;
  add_boundaries();
  return std::move(plan_);
}

} // namespace

llvm::Expected<FusionPlan> plan_stores(Partition partition, std::vector<Apart> apart) {
  return Stores(std::move(partition), std::move(apart)).run();
}

} // namespace ingot
