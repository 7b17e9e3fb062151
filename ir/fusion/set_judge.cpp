// SPDX-License-Identifier: Apache-2.0
// See set_judge.h.
#include "ir/fusion/set_judge.h"

#include "ir/assumed_size.h"
#include "ir/fusion/prologue_cost.h"
#include "ir/fusion/refusals.h"
#include "ir/fusion/step_cost.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

/// Two kernels are preferred if together they take less than this share of the predicted time of
/// one. The rest covers errors of predictions.
constexpr double kClearlySlower = 0.9;

SetJudge::SetJudge(const Partition& partition, const std::set<OpId>& judged)
    : partition_(partition), graph_(partition.graph()), limits_(partition.limits()),
      judged_(judged) {
  for (const GraphOutput& output : graph_.outputs())
    if (auto& moved = returned_[root_of(graph_, output.value)];
        !llvm::is_contained(moved, output.value))
      moved.push_back(output.value);
}

std::vector<StoreTarget> SetJudge::stored_values(const OpSet& ops) const {
  std::vector<StoreTarget> result;
  auto inside = [&](OpId op) { return std::binary_search(ops.begin(), ops.end(), op); };
  for (OpId op : ops)
    for (ValueId value : graph_.op(op).results) {
      const auto returned = returned_.find(value);
      std::vector<StoreTarget> moved = parts(value);
      if (returned != returned_.end())
        for (ValueId output : returned->second) moved.push_back(StoreTarget::whole(output));
      if (llvm::any_of(partition_.users(value),
                       [&](OpId user) {
                         const bool takes_part =
                             graph_.op(user).kind == OpKind::concat &&
                             partition_.prepared(user) == partition_.prepared(op);
                         return partition_.needed(user) && !inside(user) && !takes_part;
                       }) &&
          !llvm::is_contained(moved, StoreTarget::whole(value)))
        result.push_back(StoreTarget::whole(value));
      llvm::append_range(result, moved);
    }
  return result;
}

/// The slices of concats that a value fills, moved or not.
std::vector<StoreTarget> SetJudge::parts(ValueId value) const {
  std::vector<StoreTarget> targets;
  std::optional<OpId> last; // a concat uses a repeated operand twice
  for (OpId user : partition_.users(value)) {
    const Op& op = graph_.op(user);
    if (user == last || op.kind != OpKind::concat || !partition_.needed(user) ||
        partition_.prepared(user) != partition_.prepared(graph_.value(value).op))
      continue;
    last = user;
    for (uint32_t part = 0; part < op.operands.size(); ++part)
      if (partition_.reached(user, op.operands[part]) == value)
        targets.push_back({op.operands[part], op.results[0], part});
  }
  return targets;
}

/// The reason why a group with so many results would not fit into registers or parameters.
std::optional<Reason> SetJudge::excess(const Group& group, size_t results) const {
  const auto live = static_cast<int64_t>(results), ops = static_cast<int64_t>(group.ops.size());
  if (live > limits_.most_live || live * ops > limits_.most_evaluations)
    return refusals::too_many_results(results, group.ops.size(), limits_);
  std::set<ValueId> read;
  for (const Read* r : memory_reads(group)) read.insert(r->access.value);
  const size_t tensors = read.size() + results;
  if (static_cast<int64_t>(tensors) > limits_.most_tensors)
    return refusals::too_many_tensors(tensors, limits_.most_tensors);
  return std::nullopt;
}

std::vector<StoreTarget> SetJudge::stored_values(const OpSet& ops, const Group& group) const {
  std::vector<StoreTarget> stored = stored_values(ops);
  llvm::erase_if(stored, [&](const StoreTarget& target) {
    const OpId op = graph_.value(root_of(graph_, target.value)).op;
    return llvm::any_of(group.reductions,
                        [&](const Reduction& r) { return r.global && r.op == op; });
  });
  return stored;
}

/// The kernel of `ops`, which without stores is `group`, with all the stores that it would have
/// now.
std::variant<Group, Refusal>
SetJudge::analyze_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges, const Group& group) const {
  return analyze_group(partition_.context_for(ops, merges), ops, stored_values(ops, group));
}

bool SetJudge::is_judged(const OpSet& ops) const {
  return llvm::any_of(ops, [&](OpId op) { return judged_.count(op) != 0; });
}

std::optional<Refusal> SetJudge::refused_storing(const OpSet& ops, llvm::ArrayRef<OpId> merges,
                                                 const Group& group) const {
  if (ops.size() == 1 || !is_judged(ops)) return std::nullopt;
  auto storing = analyze_storing(ops, merges, group);
  auto* refusal = std::get_if<Refusal>(&storing);
  return refusal ? std::optional(*refusal) : std::nullopt;
}

/// The seconds that `ops`, all or some of those of `group`, take as one kernel with their stores.
std::optional<double> SetJudge::seconds(const OpSet& ops, const Group& group) const {
  auto storing = analyze_storing(ops, {}, group);
  const Group* whole = std::get_if<Group>(&storing);
  return whole ? limits_.seconds(*whole) : std::nullopt;
}

std::optional<double> SetJudge::seconds(const OpSet& ops) const {
  auto alone = analyze_group(partition_.context_for(ops), ops, {});
  const Group* group = std::get_if<Group>(&alone);
  return group ? seconds(ops, *group) : std::nullopt;
}

/// The reason why no schedule computes the operand of a product where it is multiplied.
Reason SetJudge::unscheduled(const Group& joined) const {
  const Matmul& matmul = joined.matmuls.front();
  const Dim columns = joined.space.extent(joined.domain.columns);
  const int64_t widest = limits_.widest_segment;
  const bool fits = columns.is_fixed() && columns.fixed() <= widest;
  if (fits || !is_16_bit(graph_.type(graph_.op(matmul.op).operands[0]).dtype)) {
    const auto reason = limits_.obstacle ? limits_.obstacle(joined) : std::nullopt;
    return {reason ? reason->rule : "no schedule computes an operand of this product in its kernel",
            kNoChange};
  }
  return {fmt::format("{} has {} columns: a kernel that computes an operand has a tile of all "
                      "columns of the result",
                      refusals::named(graph_, matmul.op), columns.text()),
          fmt::format("multiply by at most {} columns", widest)};
}

std::optional<Reason> SetJudge::slower(const Group& joined, ValueId value, llvm::ArrayRef<int> sets,
                                       llvm::ArrayRef<OpSet> shared) const {
  if (!limits_.seconds) return std::nullopt;
  auto together = limits_.seconds(joined);
  if (!together) return unscheduled(joined);
  for (const OpSet& ops : shared) {
    const auto beside = seconds(ops);
    if (!beside) return refusals::stored_for_others(graph_, value, ops.back());
    *together += *beside;
  }
  double apart = 0;
  for (int set : sets) apart += seconds(partition_.sets()[set].ops).value_or(0);
  if (apart == 0 || *together < apart) return std::nullopt;
  return Reason{
      fmt::format("to compute {} where it is multiplied takes {:.0f} us, and in kernels of their "
                  "own {:.0f} us{}",
                  refusals::named(graph_, value), *together * 1e6, apart * 1e6,
                  usual_sizes(graph_)),
      kNoChange};
}

/// The reason why one of several products should be a kernel of its own: the accumulators of all
/// share the registers, so that tiles get smaller and read each operand more often. Short products
/// gain, because nothing is stored between them.
std::optional<Reason> SetJudge::slower_joined(const OpSet& ops, const Group& group) const {
  if (group.matmuls.size() < 2 || !limits_.seconds) return std::nullopt;
  const std::optional<double> joined = seconds(ops, group);
  if (!joined) return std::nullopt;
  for (const Matmul& matmul : group.matmuls) {
    OpSet rest = ops;
    llvm::erase(rest, matmul.op);
    const auto alone = seconds({matmul.op}, group), others = seconds(rest, group);
    if (alone && others && *alone + *others < *joined)
      return Reason{fmt::format("two products in one kernel would share its registers: that takes "
                                "{:.0f} us, and two kernels {:.0f} us{}",
                                *joined * 1e6, (*alone + *others) * 1e6, usual_sizes(graph_)),
                    kNoChange};
  }
  return std::nullopt;
}

/// The ops of `ops` from the first reduction of rows on; empty: there is none.
OpSet SetJudge::reducing_rows(const OpSet& ops, const Group& group) const {
  OpSet behind;
  const auto is_behind = [&](ValueId value) {
    const Value& from = graph_.value(value);
    return std::binary_search(behind.begin(), behind.end(), from.op);
  };
  for (OpId op : ops) {
    const bool reduces = llvm::any_of(group.reductions, [&](const Reduction& r) {
      return r.op == op && !r.global && r.span == ReduceSpan::row;
    });
    if (reduces || llvm::any_of(graph_.op(op).operands, [&](ValueId operand) {
          return is_behind(partition_.reached(op, operand));
        }))
      behind.push_back(op);
  }
  return behind;
}

/// True if a kernel without products reduces along an axis that is not the last one in memory, and
/// stores a value as large as the reduction's operand. Its blocks have few columns and all rows.
/// They read short pieces of memory, and read them twice if a column is long.
bool SetJudge::stores_beside_columns(const OpSet& ops, const Group& group) const {
  double largest = 0;
  for (const Reduction& r : group.reductions) {
    const Op& op = graph_.op(r.op);
    const Shape& shape = graph_.type(op.operands[0]).shape;
    const auto& axes = graph_.attributes<ReduceAttributes>(op).axes;
    if (!llvm::is_contained(axes, static_cast<int64_t>(shape.size()) - 1))
      largest = std::max(largest, likely_count(element_count(shape)));
  }
  return largest > 0 && llvm::any_of(stored_values(ops), [&](const StoreTarget& target) {
           return likely_count(element_count(graph_.type(target.value).shape)) >= largest;
         });
}

/// The seconds of `ops` as one kernel and as two, of which the second one begins with the
/// reductions of rows. None if two are not clearly faster.
std::optional<SetJudge::TwoKernels> SetJudge::slower_reducing(const OpSet& ops,
                                                              const Group& group) const {
  const OpSet behind = reducing_rows(ops, group);
  if (behind.empty() || !limits_.seconds) return std::nullopt;
  OpSet before;
  llvm::copy_if(ops, std::back_inserter(before),
                [&](OpId op) { return !llvm::is_contained(behind, op); });
  const auto joined = seconds(ops, group), first = seconds(before, group),
             rest = seconds(behind, group);
  if (!joined || !first || !rest || *first + *rest >= kClearlySlower * *joined) return std::nullopt;
  return TwoKernels{*joined, *first + *rest};
}

/// The reason why an axis that is not the last should be reduced by a kernel of its own.
std::optional<Reason> SetJudge::slower_storing(const OpSet& ops, const Group& group) const {
  if (!group.matmuls.empty() || !stores_beside_columns(ops, group)) return std::nullopt;
  const auto slower = slower_reducing(ops, group);
  if (!slower) return std::nullopt;
  return Reason{fmt::format("to reduce along an axis that is not the last, and to store a value "
                            "that large, takes {:.0f} us in one kernel, and {:.0f} us in two{}",
                            slower->joined * 1e6, slower->apart * 1e6, usual_sizes(graph_)),
                kNoChange};
}

/// Tiles must be as wide as a row. If these are few, SMs stay idle; and the code of the stages is
/// long, which takes time where it runs only once.
std::map<OpId, Reason> SetJudge::better_apart(const Group& group) const {
  std::map<OpId, Reason> result;
  if (group.matmuls.size() != 1 || group.computed) return result;
  const auto slower = slower_reducing(group.ops, group);
  if (!slower) return result;
  const Reason reason{
      fmt::format("to reduce the rows of {} in its kernel, tiles must be as wide as a row: that "
                  "takes {:.0f} us, and two kernels {:.0f} us{}",
                  refusals::named(graph_, group.matmuls.front().op), slower->joined * 1e6,
                  slower->apart * 1e6, usual_sizes(graph_)),
      kNoChange};
  for (const Reduction& reduction : group.reductions)
    if (!reduction.global && reduction.span == ReduceSpan::row)
      result.emplace(reduction.op, reason);
  return result;
}

std::optional<Reason> SetJudge::recomputes(OpId op, llvm::ArrayRef<int> sets, const OpSet& ops,
                                           const Group& group) const {
  if (!limits_.seconds) return std::nullopt;
  double most = 0;
  const auto note = [&](ValueId value) {
    most = std::max(most, likely_count(element_count(graph_.type(value).shape)));
  };
  for (OpId member : ops) {
    llvm::for_each(graph_.op(member).operands, note);
    llvm::for_each(graph_.op(member).results, note);
  }
  const Dim points = points_of(group);
  if (likely_count(points) <= most) return std::nullopt;
  const auto predicted = seconds(ops, group);
  if (!predicted) return std::nullopt;
  double alone = 0;
  std::vector<OpSet> apart{{op}};
  for (int set : sets) apart.push_back(partition_.sets()[set].ops);
  for (const OpSet& own : apart) {
    const auto part = seconds(own);
    if (!part) return std::nullopt;
    alone += *part;
  }
  // The prediction counts one read of each tensor. Points that no value needs read them again from
  // caches, and are counted at the rate of memory. On an H200 a kernel of 67 million such points
  // took 1.33 ms, where 0.11 ms were predicted.
  double bytes = 0;
  for (const Read* read : memory_reads(group))
    bytes += static_cast<double>(size_of(graph_.type(read->access.value).dtype));
  const double again = (likely_count(points) - most) * bytes / limits_.rates.bytes_per_second;
  const double together = *predicted + again;
  if (together <= alone) return std::nullopt;
  return Reason{fmt::format("one kernel would have {} points, and no value of it has as many: to "
                            "compute values again takes {:.0f} us, and kernels of their own "
                            "{:.0f} us{}",
                            points.text(), together * 1e6, alone * 1e6, usual_sizes(graph_)),
                kNoChange};
}

std::optional<Reason> SetJudge::obstacle(const OpSet& ops, const Group& group) const {
  if (ops.size() == 1) return std::nullopt;
  const std::vector<StoreTarget> results = stored_values(ops);
  if (auto reason = excess(group, results.size())) return reason;
  if (auto reason = costly_step(graph_, group, limits_)) return reason;
  if (auto reason = slower_joined(ops, group)) return reason;
  if (!limits_.obstacle || group.reductions.empty() || !is_judged(ops)) return std::nullopt;
  if (auto reason = slower_storing(ops, group)) return reason;
  auto storing = analyze_storing(ops, {}, group);
  const Group* whole = std::get_if<Group>(&storing);
  return limits_.obstacle(whole ? *whole : group);
}

bool SetJudge::refused_by_machine(const Group& group) const {
  const bool is_open = llvm::any_of(group.ops, [&](OpId op) { return judged_.count(op) == 0; });
  return limits_.obstacle && group.ops.size() > 1 && !group.reductions.empty() && is_open &&
         (limits_.obstacle(group) || slower_storing(group.ops, group));
}

} // namespace ingot
