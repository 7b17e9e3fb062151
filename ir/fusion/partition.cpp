// SPDX-License-Identifier: Apache-2.0
// See partition.h.
#include "ir/fusion/partition.h"

#include "ir/fusion/refusals.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

Partition::Partition(const Graph& graph, const FusionLimits& limits,
                     const std::map<OpId, Reason>* reduced_apart)
    : context_{graph, limits, {}, {}, {}, reduced_apart}, set_of_(graph.ops().size(), kNone),
      needed_(graph.ops().size(), false), prepared_(graph.ops().size(), false),
      users_(graph.values().size()) {
  find_sources();
  find_needed();
}

void Partition::find_sources() {
  enum Source : uint8_t { none = 0, from_param = 1, from_input = 2 };
  const Graph& graph = context_.graph;
  std::vector<uint8_t> sources(graph.ops().size(), none);
  const LaunchSizes sizes(graph);
  // Launch computes the values that the graph returns, whatever they depend on.
  for (const GraphOutput& output : graph.outputs()) {
    const ValueId root = root_of(graph, output.value);
    for (ValueId value = output.value;; value = graph.producer(value).operands[0]) {
      const bool number = info(graph.producer(value).kind).op_class == OpClass::source;
      if (!number || value == output.value) sources[graph.value(value).op.index] = from_input;
      if (value == root) break;
    }
  }
  for (uint32_t index = 0; index < graph.ops().size(); ++index) {
    const Op& op = graph.op(OpId{index});
    if (sizes.appear_in(graph, op)) sources[index] = from_input;
    if (op.kind == OpKind::input) // returned or not, it exists before prepare
      sources[index] = graph.attributes<InputAttributes>(op).role == InputAttributes::Role::param
                           ? from_param
                           : from_input;
    for (ValueId operand : op.operands) {
      sources[index] |= sources[graph.value(operand).op.index];
      if (is_compute(op) || op.kind == OpKind::concat)
        users_[root_of(graph, operand).index].push_back(OpId{index});
    }
  }
  // Prepare computes the numbers that it needs.
  for (size_t index = graph.ops().size(); index-- > 0;)
    if (sources[index] == from_param)
      for (ValueId operand : graph.ops()[index].operands)
        if (uint8_t& source = sources[graph.value(operand).op.index]; source == none)
          source = from_param;
  for (size_t index = 0; index < graph.ops().size(); ++index)
    prepared_[index] = sources[index] == from_param;
}

void Partition::find_needed() {
  const Graph& graph = context_.graph;
  std::vector<ValueId> pending;
  for (const GraphOutput& output : graph.outputs()) pending.push_back(output.value);
  while (!pending.empty()) {
    const OpId op = graph.value(pending.back()).op;
    pending.pop_back();
    if (needed_[op.index]) continue;
    needed_[op.index] = true;
    for (ValueId operand : graph.op(op).operands) pending.push_back(operand);
  }
}

int Partition::storing(ValueId value) const {
  auto found = storing_.find(value);
  return found == storing_.end() ? kNone : found->second;
}

int Partition::maker(OpId reader, ValueId reached) const {
  const OpId op = graph().value(reached).op;
  const bool moved =
      graph().op(op).kind == OpKind::concat || context_.in_memory.count({reader, reached}) != 0;
  if (moved) return storing(reached);
  auto merged = finished_.find(op);
  return merged == finished_.end() ? set_of_[op.index] : merged->second;
}

std::vector<int> Partition::before(OpId op) const {
  std::vector<int> sets;
  for (ValueId operand : graph().op(op).operands) {
    const int set = maker(op, reached(op, operand));
    if (set != kNone && !llvm::is_contained(sets, set)) sets.push_back(set);
  }
  llvm::sort(sets);
  return sets;
}

std::vector<int> Partition::before(int set) const {
  const Set& own = sets_[set];
  std::vector<int> result;
  auto add = [&](int earlier) {
    if (earlier != kNone && earlier != set && !llvm::is_contained(result, earlier))
      result.push_back(earlier);
  };
  for (OpId op : own.merges) add(set_of_[op.index]);
  for (OpId op : own.ops) {
    if (own.stored && graph().op(op).kind != OpKind::concat)
      add(maker(op, reached(op, *own.stored)));
    else
      llvm::for_each(before(op), add);
  }
  return result;
}

std::optional<Reason> Partition::made_before(int set, bool prepare) const {
  const Set& own = sets_[set];
  if (own.stored && graph().producer(*own.stored).kind == OpKind::concat)
    return refusals::parts_meet(graph(), graph().value(*own.stored).op);
  if (own.stored) return refusals::rearranged_before();
  if (own.prepare != prepare) return refusals::prepared_before();
  return std::nullopt;
}

/// Walks backwards from the values that the ops read outside of `sets`, and looks for a way back
/// in. A set whose ops all come before those of `sets` reads none of them.
std::optional<OpId> Partition::between(const OpSet& ops, llvm::ArrayRef<int> sets) const {
  // Ops and merges are sorted, and each set has at least one of them.
  auto first_of = [](const Set& set) {
    if (set.ops.empty() || set.merges.empty())
      return set.ops.empty() ? set.merges.front() : set.ops.front();
    return std::min(set.ops.front(), set.merges.front());
  };
  auto last_of = [](const Set& set) {
    if (set.ops.empty() || set.merges.empty())
      return set.ops.empty() ? set.merges.back() : set.ops.back();
    return std::max(set.ops.back(), set.merges.back());
  };
  OpId first{UINT32_MAX};
  for (int set : sets) first = std::min(first, first_of(sets_[set]));
  std::set<int> seen;
  std::vector<int> pending;
  auto visit = [&](int set) {
    if (last_of(sets_[set]) < first || llvm::is_contained(sets, set) || !seen.insert(set).second)
      return;
    pending.push_back(set);
  };
  for (OpId op : ops) llvm::for_each(before(op), visit);
  for (int set : sets)
    for (OpId merged : sets_[set].merges) visit(set_of_[merged.index]);
  while (!pending.empty()) {
    const int set = pending.back();
    pending.pop_back();
    for (int earlier : before(set)) {
      if (llvm::is_contained(sets, earlier)) return first_of(sets_[set]);
      visit(earlier);
    }
  }
  return std::nullopt;
}

std::vector<int> Partition::order() const {
  std::vector<int> order;
  std::vector<bool> seen(sets_.size(), false);
  auto visit = [&](auto&& self, int set) -> void {
    if (seen[set]) return;
    seen[set] = true;
    for (int earlier : before(set)) self(self, earlier);
    order.push_back(set);
  };
  for (size_t set = 0; set < sets_.size(); ++set)
    if (sets_[set].live) visit(visit, static_cast<int>(set));
  return order;
}

void Partition::join(const OpSet& ops, llvm::ArrayRef<int> sets, bool prepare) {
  const int joined = static_cast<int>(sets_.size());
  const std::vector<OpId> merges = merges_of(sets);
  for (int set : sets) sets_[set].live = false;
  for (OpId member : ops) set_of_[member.index] = joined;
  for (OpId merged : merges) finished_[merged] = joined;
  sets_.push_back({ops, prepare, true, std::nullopt, merges});
}

int Partition::store(ValueId value) {
  const auto [entry, added] = storing_.try_emplace(value, static_cast<int>(sets_.size()));
  const OpId op = graph().value(value).op;
  const bool prepare = prepared(op) && graph().op(op).kind != OpKind::input;
  if (added) sets_.push_back({{op}, prepare, true, value});
  return entry->second;
}

void Partition::read_stored(OpId reader, ValueId value) {
  store(value);
  if (context_.in_memory.insert({reader, value}).second) ++context_version_;
}

void Partition::compute_operand(OpId matmul, OperandTile tile) {
  for (OpId op : tile.ops) {
    globals_.erase(op);
    context_.global_reductions.erase(op);
  }
  context_.tiles[matmul] = std::move(tile);
  ++context_version_;
}

std::map<OpId, OperandTile> Partition::tiles_with(OpId op) const {
  std::map<OpId, OperandTile> tiles;
  for (const auto& tile : context_.tiles)
    if (llvm::is_contained(tile.second.ops, op)) tiles.insert(tile);
  return tiles;
}

bool Partition::is_read_stored(ValueId value) const {
  return llvm::any_of(context_.in_memory, [&](const auto& read) { return read.second == value; });
}

OpSet Partition::ops_of(llvm::ArrayRef<int> sets) const {
  OpSet ops;
  for (int set : sets) llvm::append_range(ops, sets_[set].ops);
  llvm::sort(ops);
  return ops;
}

std::vector<OpId> Partition::merges_of(llvm::ArrayRef<int> sets) const {
  std::vector<OpId> merges;
  for (int set : sets) llvm::append_range(merges, sets_[set].merges);
  llvm::sort(merges);
  return merges;
}

GroupContext Partition::context_for(const OpSet& ops, llvm::ArrayRef<OpId> merges) const {
  GroupContext context{graph(),
                       limits(),
                       {merges.begin(), merges.end()},
                       context_.in_memory,
                       {},
                       context_.reduced_apart};
  for (OpId op : ops)
    if (const auto tile = context_.tiles.find(op); tile != context_.tiles.end())
      context.tiles.insert(*tile);
  for (OpId op : ops)
    if (set_of_[op.index] != kNone && info(graph().op(op).kind).op_class == OpClass::reduce)
      context.settled[op] = global(op) != nullptr;
  for (OpId op : context_.global_reductions)
    if (!std::binary_search(ops.begin(), ops.end(), op)) context.global_reductions.insert(op);
  return context;
}

void Partition::add_global(const Reduction& reduction) {
  globals_.insert_or_assign(reduction.op, reduction);
  if (!is_finished(reduction.op) && context_.global_reductions.insert(reduction.op).second)
    ++context_version_;
}

bool Partition::finish(OpId op) {
  if (!context_.global_reductions.erase(op)) return false;
  ++context_version_;
  finished_[op] = static_cast<int>(sets_.size());
  sets_.push_back({{}, prepared(op), true, std::nullopt, {op}});
  return true;
}

} // namespace ingot
