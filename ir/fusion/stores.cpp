// SPDX-License-Identifier: Apache-2.0
// See stores.h.
#include "ir/fusion/stores.h"

#include "ir/fusion/boundaries.h"
#include "ir/fusion/refusals.h"
#include "ir/fusion/set_judge.h"
#include "ir/fusion/storage.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

namespace ingot {
namespace {

class Stores {
public:
  Stores(Partition partition, const std::set<OpId>& judged, std::vector<Apart> apart)
      : partition_(std::move(partition)), judge_(partition_, judged), apart_(std::move(apart)) {}

  llvm::Expected<FusionPlan> run();
  const Refused& refused() const { return refused_; }

private:
  void want_outputs();
  llvm::Error settle(int set);
  llvm::Error settle(int set, const StoreTarget& target);
  llvm::Error check_move(const StoreTarget& target);
  bool stored_by_maker(int set, const StoreTarget& target);
  bool moved_by_reader(int set, const StoreTarget& target);
  bool moved_by_mover(const StoreTarget& target);
  bool is_returned_input(const StoreTarget& target) const;
  void return_to_sets();
  bool reads(int set, ValueId value) const;
  std::vector<StoreTarget> targets_of(int set) const;
  bool read_from_memory(ValueId value, int maker) const;
  llvm::Error emit(int set);
  llvm::Error emit_moves(int set);
  bool fit_together(const std::vector<StoreTarget>& targets, const StoreTarget& target,
                    const std::vector<StoreTarget>& more) const;
  llvm::Error add_group(int set, std::variant<Group, Refusal> result);
  void read_returned();
  void read_unconverted();
  void read_instead(const std::map<ValueId, ValueId>& others);
  bool is_returned(ValueId value) const {
    return llvm::any_of(graph().outputs(), [&](const GraphOutput& o) { return o.value == value; });
  }

  const Graph& graph() const { return partition_.graph(); }
  /// Analyses a set of compute ops that also stores `targets`.
  std::variant<Group, Refusal> analyze(int set, const std::vector<StoreTarget>& targets) const {
    const auto& [ops, prepare, live, stored, merges] = partition_.sets()[set];
    return analyze_group(partition_.context_for(ops, merges), ops, targets);
  }
  /// Analyses a kernel that only moves data.
  std::variant<Group, Refusal> analyze_moves(const std::vector<StoreTarget>& targets) const {
    return analyze_group(partition_.context_for({}), {}, targets);
  }
  OpId reader_of(const StoreTarget& target) const { return graph().value(target.into).op; }
  ValueId reached(const StoreTarget& target) const {
    return partition_.reached(reader_of(target), target.value);
  }

  Partition partition_;
  SetJudge judge_;
  std::vector<Apart> apart_;
  std::map<int, std::vector<StoreTarget>> direct_; ///< stores of a set of compute ops for others
  std::map<int, std::vector<StoreTarget>> moves_;  ///< stores that are left to the set that moves
  std::map<int, std::vector<StoreTarget>> beside_; ///< values that a set reads anyway and moves
  FusionPlan plan_;
  std::vector<int> sets_; ///< the set of each group of the plan
  Refused refused_;
};

/// Each output is stored in the shape that the graph returns: by its producer, or by moving.
void Stores::want_outputs() {
  for (const GraphOutput& output : graph().outputs()) partition_.store(output.value);
}

/// True if the set that yields `target` stores it too.
bool Stores::stored_by_maker(int set, const StoreTarget& target) {
  const ValueId source = reached(target);
  const OpId op = graph().value(source).op;
  const int maker = partition_.maker(reader_of(target), source);
  if (maker == Partition::kNone || partition_.sets()[maker].stored) return false;
  const bool partials = partition_.global(op) && !partition_.is_finished(op);
  if (partials || partition_.sets()[maker].prepare != partition_.sets()[set].prepare) return false;
  std::vector<StoreTarget>& targets = direct_[maker];
  targets.push_back(target);
  // A merged value may also have to be stored unchanged.
  std::vector<StoreTarget> all = targets;
  for (OpId merged : partition_.sets()[maker].merges)
    for (ValueId value : graph().op(merged).results) all.push_back(StoreTarget::whole(value));
  auto group = analyze(maker, all);
  if (std::holds_alternative<Group>(group)) return true;
  targets.pop_back();
  apart_.push_back({reader_of(target), source, std::get<Refusal>(group)});
  return false;
}

/// True if `target` is an unchanged input that is returned and that no kernel reads. Any kernel may
/// then store it.
bool Stores::is_returned_input(const StoreTarget& target) const {
  return target.into == target.value && is_returned(target.value) &&
         !partition_.is_read_stored(target.value) &&
         graph().producer(before_reshapes(graph(), target.value)).kind == OpKind::input;
}

/// Gives stores back to their own sets if a kernel reads them since another one took them. The
/// reader comes after the own set.
void Stores::return_to_sets() {
  std::vector<StoreTarget> back;
  for (auto* taken : {&beside_, &moves_})
    for (auto& [set, targets] : *taken)
      llvm::erase_if(targets, [&, set = set](const StoreTarget& target) {
        const bool is_late = target.into == target.value &&
                             partition_.storing(target.value) != set &&
                             partition_.is_read_stored(target.value);
        if (is_late) back.push_back(target);
        return is_late;
      });
  for (const StoreTarget& target : back) moves_[partition_.storing(target.value)].push_back(target);
}

bool Stores::reads(int set, ValueId value) const {
  return llvm::any_of(partition_.sets()[set].ops, [&](OpId op) {
    return llvm::any_of(graph().op(op).operands,
                        [&](ValueId operand) { return partition_.reached(op, operand) == value; });
  });
}

/// True if both are kernels, and neither computes more points than the other.
bool have_same_points(const std::variant<Group, Refusal>& a,
                      const std::variant<Group, Refusal>& b) {
  const Group *first = std::get_if<Group>(&a), *second = std::get_if<Group>(&b);
  return first && second && points_of(*first) == points_of(*second);
}

/// True if a kernel that reads the tensor that `target` moves stores it at its own points.
bool Stores::moved_by_reader(int set, const StoreTarget& target) {
  constexpr int kMostTries = 8; // for one target, so that the time stays linear
  const ValueId source = reached(target);
  if (!is_returned_input(target)) return false;
  int tries = 0;
  for (int other = 0; other < static_cast<int>(partition_.sets().size()); ++other) {
    const Partition::Set& own = partition_.sets()[other];
    if (!own.live || own.stored || own.prepare != partition_.sets()[set].prepare ||
        !reads(other, source))
      continue;
    if (++tries > kMostTries) return false;
    std::vector<StoreTarget> targets = targets_of(other);
    const auto without = analyze(other, targets);
    targets.push_back(target);
    const auto with = analyze(other, targets);
    if (!have_same_points(without, with) || !std::get<Group>(with).matmuls.empty()) continue;
    beside_[other].push_back(target);
    return true;
  }
  return false;
}

/// True if a kernel that moves the same tensor to another place stores `target` too.
bool Stores::moved_by_mover(const StoreTarget& target) {
  const ValueId source = reached(target);
  if (!is_returned_input(target)) return false;
  for (auto& [mover, targets] : moves_) {
    if (!llvm::all_of(targets, [&](const StoreTarget& t) { return reached(t) == source; }))
      continue;
    std::vector<StoreTarget> more = targets;
    const auto without = analyze_moves(more);
    more.push_back(target);
    const auto with = analyze_moves(more);
    if (!have_same_points(without, with)) continue;
    targets = std::move(more);
    return true;
  }
  return false;
}

/// Makes sure that a kernel moves `target`: first stores the values that prevent it in memory.
llvm::Error Stores::check_move(const StoreTarget& target) {
  for (;;) {
    auto moved = analyze_moves({target});
    auto* refusal = std::get_if<Refusal>(&moved);
    if (!refusal) return llvm::Error::success();
    const OpId reader = reader_of(target);
    if (refusal->merge && partition_.finish(graph().value(reached(target)).op)) continue;
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
  if (stored_by_maker(set, target) || moved_by_reader(set, target) || moved_by_mover(target))
    return llvm::Error::success();
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

/// True if a kernel other than `maker` reads `value` unchanged.
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

llvm::Error Stores::add_group(int set, std::variant<Group, Refusal> result) {
  if (auto* refusal = std::get_if<Refusal>(&result)) {
    llvm::append_range(refused_.ops, partition_.sets()[set].ops);
    return make_error(ErrorCode::internal, "a planned kernel is not legal: {}", refusal->rule);
  }
  Group group = std::get<Group>(std::move(result));
  if (judge_.refused_by_machine(group)) llvm::append_range(refused_.ops, group.ops);
  refused_.reductions.merge(judge_.better_apart(group));
  group.program = partition_.sets()[set].prepare ? ProgramKind::prepare : ProgramKind::launch;
  plan_.groups.push_back(std::move(group));
  sets_.push_back(set);
  return llvm::Error::success();
}

/// The known stores of a set of compute ops for others.
std::vector<StoreTarget> Stores::targets_of(int set) const {
  const Partition::Set& own = partition_.sets()[set];
  std::vector<StoreTarget> targets;
  for (const auto* known : {&direct_, &beside_})
    if (const auto found = known->find(set); found != known->end())
      llvm::append_range(targets, found->second);
  auto store_results = [&](OpId op) {
    for (ValueId value : graph().op(op).results)
      if (read_from_memory(value, set) && !llvm::is_contained(targets, StoreTarget::whole(value)))
        targets.push_back(StoreTarget::whole(value));
  };
  llvm::for_each(own.merges, store_results);
  for (OpId op : own.ops)
    if (!partition_.global(op)) store_results(op);
  return targets;
}

llvm::Error Stores::emit(int set) {
  if (partition_.sets()[set].stored) return emit_moves(set);
  auto group = analyze(set, targets_of(set));
  const std::vector<StoreTarget> beside = std::exchange(beside_[set], {});
  if (std::holds_alternative<Group>(group) || beside.empty())
    return add_group(set, std::move(group));
  // More of its stores became known: it moves nothing else.
  if (auto error = add_group(set, analyze(set, targets_of(set)))) return error;
  for (const StoreTarget& target : beside)
    if (auto error = add_group(partition_.storing(target.value), analyze_moves({target})))
      return error;
  return llvm::Error::success();
}

/// Slices that read the same tensor are stored by one kernel, if it has no more points than the
/// largest of them needs. Slices along other axes would get the product of their points.
llvm::Error Stores::emit_moves(int set) {
  std::vector<StoreTarget> together;
  for (const StoreTarget& target : moves_[set]) {
    std::vector<StoreTarget> more = together;
    more.push_back(target);
    const bool fits = !together.empty() && reached(together.front()) == reached(target) &&
                      fit_together(together, target, more);
    if (!fits && !together.empty())
      if (auto error = add_group(set, analyze_moves(together))) return error;
    together = fits ? std::move(more) : std::vector<StoreTarget>{target};
  }
  return together.empty() ? llvm::Error::success() : add_group(set, analyze_moves(together));
}

/// True if one kernel moves `more`, which are `targets` and `target`, at the points of either.
bool Stores::fit_together(const std::vector<StoreTarget>& targets, const StoreTarget& target,
                          const std::vector<StoreTarget>& more) const {
  const auto all = analyze_moves(more);
  return have_same_points(analyze_moves(targets), all) ||
         have_same_points(analyze_moves({target}), all);
}

/// A value that a kernel returns in another shape is dense in memory: others read it there.
void Stores::read_returned() {
  std::map<ValueId, ValueId> returned;
  for (const Group& group : plan_.groups)
    for (const Write& output : group.writes)
      for (const Write& own : group.writes)
        if (is_returned(output.value) && !is_returned(own.value) && !own.read &&
            own.value == own.source && before_reshapes(graph(), output.value) == own.value)
          returned[own.value] = output.value;
  for (Group& group : plan_.groups)
    llvm::erase_if(group.writes, [&](const Write& write) { return returned.count(write.value); });
  read_instead(returned);
}

/// The value that `value` is a conversion of, from 16 bits and without a change of its numbers.
std::optional<ValueId> before_conversions(const Graph& graph, ValueId value) {
  ValueId from = value;
  while (graph.producer(from).kind == OpKind::cast) from = graph.producer(from).operands[0];
  const DType own = graph.type(from).dtype;
  if (from == value || !is_16_bit(own) || !is_float(own)) return std::nullopt;
  for (ValueId v = value; v != from; v = graph.producer(v).operands[0]) {
    const DType to = graph.type(v).dtype;
    if (to != own && (!is_float(to) || is_16_bit(to))) return std::nullopt;
  }
  return from;
}

/// True if the group computes the op at its own points, and no tile of it does.
bool is_made_behind_tiles(const Group& group, OpId op) {
  return llvm::is_contained(group.ops, op) &&
         llvm::none_of(tiles_of(group),
                       [&](const Group* tile) { return llvm::is_contained(tile->ops, op); });
}

/// Values that a kernel converts from 16 bits are stored as they were. Their readers' loads convert
/// them. A product's operand has the type in which it is multiplied.
void Stores::read_unconverted() {
  std::set<ValueId> fixed = fetched(plan_);
  for (const Group& group : plan_.groups)
    for (const Write& write : group.writes)
      if (write.read) fixed.insert(group.reads[*write.read].access.value); // it is only moved
  std::map<ValueId, ValueId> converted;
  for (Group& group : plan_.groups) {
    for (Write& write : group.writes) {
      const auto from = before_conversions(graph(), write.value);
      if (!from || !is_made_behind_tiles(group, graph().value(*from).op) ||
          write.value != write.source || is_returned(write.value) || fixed.count(write.value))
        continue;
      converted[write.value] = *from;
      write.value = write.source = write.access.value = *from;
    }
    std::set<ValueId> seen; // the value may be stored for others already
    llvm::erase_if(group.writes, [&](const Write& write) {
      return write.value == write.source && !seen.insert(write.value).second;
    });
  }
  read_instead(converted);
}

/// Lets kernels, and boundaries, read other values than those that are the keys.
void Stores::read_instead(const std::map<ValueId, ValueId>& others) {
  for (Group& group : plan_.groups)
    for (Read* read : memory_reads(group))
      if (auto found = others.find(read->access.value); found != others.end() && !read->combine)
        read->access.value = found->second;
  for (Boundary& boundary : plan_.boundaries)
    if (boundary.value)
      if (auto found = others.find(*boundary.value); found != others.end())
        boundary.value = found->second;
}

llvm::Expected<FusionPlan> Stores::run() {
  want_outputs();
  // Settling may add sets that store more in memory.
  for (size_t set = 0; set < partition_.sets().size(); ++set)
    if (partition_.sets()[set].stored)
      if (auto error = settle(static_cast<int>(set))) return error;
  return_to_sets();
  for (int set : partition_.order())
    if (auto error = emit(set)) return error;
  if (!refused_.empty())
    return make_error(ErrorCode::internal,
                      "a complete kernel was refused: its group must be planned again");
  add_boundaries(partition_, judge_, apart_, sets_, plan_);
  read_unconverted();
  read_returned();
  return std::move(plan_);
}

} // namespace

llvm::Expected<FusionPlan> plan_stores(Partition partition, const std::set<OpId>& judged,
                                       std::vector<Apart> apart, Refused& refused) {
  Stores stores(std::move(partition), judged, std::move(apart));
  auto plan = stores.run();
  refused = stores.refused();
  return plan;
}

} // namespace ingot
