// SPDX-License-Identifier: Apache-2.0
// See boundaries.h.
#include "ir/fusion/boundaries.h"

#include "ir/fusion/refusals.h"
#include "ir/fusion/siblings.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Boundaries {
public:
  Boundaries(const Partition& partition, const SetJudge& judge, llvm::ArrayRef<Apart> apart,
             llvm::ArrayRef<int> sets, FusionPlan& plan)
      : partition_(partition), judge_(judge), apart_(apart), sets_(sets), plan_(plan) {}

  void run();

private:
  void find_makers();
  void add_boundary(uint32_t consumer, const Read& read);
  bool exchange(uint32_t first, uint32_t second) const;
  void add_neighbours();
  Reason reason_of(const Group& consumer, const Read& read) const;
  const Graph& graph() const { return partition_.graph(); }

  const Partition& partition_;
  const SetJudge& judge_;
  const llvm::ArrayRef<Apart> apart_;
  const llvm::ArrayRef<int> sets_;
  FusionPlan& plan_;
  std::map<ValueId, std::set<uint32_t>> makers_;      ///< groups that store a value
  std::map<OpId, uint32_t> partial_;                  ///< the group that stores partials
  std::map<std::pair<OpId, ValueId>, Apart> reasons_; ///< the last noted; see Apart::says_least
  std::set<std::tuple<uint32_t, uint32_t, ValueId>> known_; ///< producer, consumer, value
};

/// The reason why `consumer` did not compute the value that it reads: the last noted one, because
/// by then the ops before it were placed. One that says more than that ops run between comes first.
Reason Boundaries::reason_of(const Group& consumer, const Read& read) const {
  const ValueId value = read.access.value;
  // A noted reason about partials does not hold for results that another kernel now merges, nor for
  // a reduction that now lies inside a tile.
  const ValueId root = root_of(graph(), value);
  const OpId source = graph().value(value).op;
  const Reduction* reduction = partition_.global(source);
  std::vector<OpId> readers(consumer.ops.rbegin(), consumer.ops.rend());
  for (const Write& write : consumer.writes) readers.push_back(graph().value(write.value).op);
  for (bool says_least : {false, true})
    for (OpId op : readers) {
      auto noted = reasons_.find({op, value});
      if (noted == reasons_.end()) noted = reasons_.find({op, root}); // a view is stored for it
      if (noted == reasons_.end() || noted->second.says_least != says_least) continue;
      const std::optional<OpId> crossing = noted->second.reason.crossing;
      if (!crossing || (partition_.global(*crossing) && (*crossing != source || read.combine)))
        return noted->second.reason;
    }
  if (reduction)
    return read.combine ? refusals::crosses_tiles(graph(), *reduction)
                        : refusals::merged_before(graph(), reduction->op);
  if (consumer.ops.empty())
    return {"a kernel that copies a value to its place in memory does nothing else", kNoChange};
  return {"the second reads a result of the first, and holds ops that run later",
          "use the value where it is made"};
}

/// Finds the groups that store a value, and those that store the partials of a reduction.
void Boundaries::find_makers() {
  for (uint32_t g = 0; g < plan_.groups.size(); ++g) {
    for (const Write& write : plan_.groups[g].writes) makers_[write.value].insert(g);
    for (const Reduction& reduction : plan_.groups[g].reductions)
      if (reduction.global) partial_[reduction.op] = g;
  }
  for (const Apart& apart : apart_) {
    const auto [known, added] = reasons_.try_emplace({apart.consumer, apart.value}, apart);
    if (!added && !apart.says_least) known->second = apart;
  }
}

void Boundaries::add_boundary(uint32_t consumer, const Read& read) {
  const ValueId value = read.access.value;
  if (graph().producer(value).kind == OpKind::input) return; // a returned input is copied
  const std::set<uint32_t> producers =
      read.combine ? std::set<uint32_t>{partial_.at(graph().value(value).op)} : makers_[value];
  for (uint32_t producer : producers)
    if (producer != consumer && known_.insert({producer, consumer, value}).second)
      plan_.boundaries.push_back(
          {producer, consumer, value, reason_of(plan_.groups[consumer], read)});
}

bool Boundaries::exchange(uint32_t first, uint32_t second) const {
  const auto at = known_.lower_bound({first, second, ValueId{0}});
  return at != known_.end() && std::get<0>(*at) == first && std::get<1>(*at) == second;
}

/// Adds boundaries between kernels that exchange nothing: successive readers of one tensor, and
/// successive kernels.
void Boundaries::add_neighbours() {
  std::map<std::pair<uint32_t, uint32_t>, std::optional<ValueId>> pairs; // the shared tensor
  std::map<std::pair<ProgramKind, ValueId>, uint32_t> readers;           // the last of a tensor
  for (uint32_t group = 0; group < plan_.groups.size(); ++group) {
    if (group > 0) pairs.try_emplace({group - 1, group});
    for (const Read* read : memory_reads(plan_.groups[group])) {
      const ValueId value = read->access.value;
      if (is_computed_source(graph().producer(value).kind)) continue;
      const auto [last, added] = readers.try_emplace({plan_.groups[group].program, value}, group);
      if (!added && last->second != group) pairs[{last->second, group}] = value;
      last->second = group;
    }
  }
  for (const auto& [pair, shared] : pairs) {
    const auto [first, second] = pair;
    const std::vector<int> sets = {sets_[first], sets_[second]};
    if (exchange(first, second) || plan_.groups[first].program != plan_.groups[second].program ||
        (sets[0] != sets[1] && partition_.between(partition_.ops_of(sets), sets)))
      continue;
    Reason reason{"they share no tensor: one kernel would move no byte less", kNoChange};
    if (sets[0] == sets[1]) {
      reason = {"each writes another part of one concat, and they read different tensors",
                kNoChange};
    } else if (shared) {
      auto apart = siblings_apart(partition_, judge_, sets[0], sets[1], *shared);
      reason = apart ? *apart
                     : Reason{fmt::format("{} has too many readers to try each pair",
                                          refusals::named(graph(), *shared)),
                              kNoChange};
    }
    plan_.boundaries.push_back({first, second, std::nullopt, std::move(reason)});
  }
}

void Boundaries::run() {
  find_makers();
  for (uint32_t consumer = 0; consumer < plan_.groups.size(); ++consumer)
    for (const Read* read : memory_reads(plan_.groups[consumer])) add_boundary(consumer, *read);
  add_neighbours();
}

} // namespace

void add_boundaries(const Partition& partition, const SetJudge& judge, llvm::ArrayRef<Apart> apart,
                    llvm::ArrayRef<int> sets, FusionPlan& plan) {
  Boundaries(partition, judge, apart, sets, plan).run();
}

} // namespace ingot
