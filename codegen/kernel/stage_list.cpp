// SPDX-License-Identifier: Apache-2.0
// See stage_list.h.
#include "codegen/kernel/stage_list.h"

#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace ingot {

namespace {

/// The first read of the same tensor with the same access.
size_t canonical_read(const Group& group, size_t index) {
  const Access& access = group.reads[index].access;
  for (size_t r = 0; r < index; ++r) {
    const Access& other = group.reads[r].access;
    if (!(other.value == access.value) || other.dims.size() != access.dims.size() ||
        other.ranges != access.ranges || !(other.shape == access.shape))
      continue;
    bool same = true;
    for (size_t d = 0; d < access.dims.size(); ++d)
      same = same && group.space.leaves(other.dims[d]) == group.space.leaves(access.dims[d]);
    if (same) return r;
  }
  return index;
}

class StagePlanner {
public:
  StagePlanner(const Graph& graph, const Group& group) : graph_(graph), group_(group) {
    for (size_t r = 0; r < group.reads.size(); ++r)
      reads_.try_emplace({group.reads[r].op.index, group.reads[r].operand}, r);
  }

  StageList run();

private:
  /// Targets in order, without duplicates.
  using Targets = std::vector<TileValue>;

  /// A value or a read, and the operands that are evaluated before it.
  struct Node {
    TileValue value;
    bool is_wide; ///< a value of the whole tile
    llvm::SmallVector<uint32_t, 3> operands;
    bool is_expanded = false;
    uint32_t seen = 0; ///< the last walk that reached it
  };

  uint32_t node_of(TileValue value);
  void expand(uint32_t node);
  TileValue source(OpId op, uint32_t operand) const;
  /// The tile-wide values that the evaluation of `targets` reaches. The walk ends at `stops`.
  Targets reached(llvm::ArrayRef<TileValue> targets, llvm::ArrayRef<TileValue> stops);
  /// The target of each reduction, then of each write.
  std::vector<TileValue> all_targets() const;
  void push_combines();
  void hold(TileValue target, const Targets& needed_later);
  void push(StageEntry stage) {
    stage.slots = slots_;
    list_.stages.push_back(std::move(stage));
  }

  const Graph& graph_;
  const Group& group_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> reads_; // by op and operand
  std::unordered_map<uint64_t, uint32_t> numbers_;        // numbers of nodes, by value or read
  std::vector<Node> nodes_;
  uint32_t walks_ = 0;
  StageList list_;
  std::vector<TileValue> slots_;
};

TileValue StagePlanner::source(OpId op, uint32_t operand) const {
  if (auto read = reads_.find({op.index, operand}); read != reads_.end())
    return TileValue::read(canonical_read(group_, read->second));
  return TileValue::value(root_of(graph_, graph_.op(op).operands[operand]));
}

uint32_t StagePlanner::node_of(TileValue value) {
  const uint64_t key = uint64_t{value.index} * 2 + (value.is_read ? 1 : 0);
  auto [entry, added] = numbers_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (added) {
    // Results of reductions are per row, not tile-wide. The result of a matmul is the source.
    const bool is_wide = value.is_read ? is_wide_read(group_, group_.reads[value.index])
                                       : graph_.producer(value.id()).kind == OpKind::matmul;
    nodes_.push_back({value, is_wide, {}});
  }
  return entry->second;
}

void StagePlanner::expand(uint32_t node) {
  if (nodes_[node].is_expanded) return;
  nodes_[node].is_expanded = true;
  if (nodes_[node].value.is_read) return;
  const OpId id = graph_.value(nodes_[node].value.id()).op;
  const Op& op = graph_.op(id);
  const OpClass op_class = info(op.kind).op_class;
  if (op_class != OpClass::elementwise && op_class != OpClass::gather) return;
  for (uint32_t k = 0; k < op.operands.size(); ++k) {
    if (reads_memory(op, k)) continue;
    const uint32_t operand = node_of(source(id, k));
    nodes_[node].operands.push_back(operand);
  }
}

StagePlanner::Targets StagePlanner::reached(llvm::ArrayRef<TileValue> targets,
                                            llvm::ArrayRef<TileValue> stops) {
  ++walks_;
  Targets out;
  std::vector<uint32_t> open;
  const auto visit = [&](uint32_t node) {
    if (nodes_[node].seen == walks_) return;
    nodes_[node].seen = walks_;
    const bool stop = llvm::is_contained(stops, nodes_[node].value);
    if (stop || nodes_[node].is_wide) out.push_back(nodes_[node].value);
    if (!stop) open.push_back(node);
  };
  for (TileValue target : targets) visit(node_of(target));
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    expand(node);
    for (uint32_t operand : nodes_[node].operands) visit(operand);
  }
  llvm::sort(out);
  return out;
}

std::vector<TileValue> StagePlanner::all_targets() const {
  std::vector<TileValue> targets;
  targets.reserve(group_.reductions.size() + group_.writes.size());
  for (const Reduction& reduction : group_.reductions) targets.push_back(source(reduction.op, 0));
  for (const Write& write : group_.writes)
    targets.push_back(write.read ? TileValue::read(canonical_read(group_, *write.read))
                                 : TileValue::value(write.source));
  return targets;
}

/// Puts `target` into a slot unless all are taken. It may replace a value that is not needed later.
void StagePlanner::hold(TileValue target, const Targets& needed_later) {
  const size_t most = group_.matmuls.empty() ? 4 : 2;
  size_t place = 0;
  while (place < slots_.size() && llvm::is_contained(needed_later, slots_[place])) ++place;
  if (place >= most) return;
  StageEntry stage{StageKind::map, target, static_cast<int>(place), {}, 0, {}};
  push(stage);
  if (place == slots_.size())
    slots_.push_back(target);
  else
    slots_[place] = target;
  list_.slots = std::max(list_.slots, static_cast<int>(slots_.size()));
}

void StagePlanner::push_combines() {
  std::set<OpId> combined;
  for (const Read& read : group_.reads)
    if (read.combine && combined.insert(graph_.value(read.access.value).op).second)
      push({read.at_points ? StageKind::merge_at_points : StageKind::combine,
            {},
            0,
            graph_.value(read.access.value).op,
            0,
            {}});
}

StageList StagePlanner::run() {
  push_combines();
  for (const Matmul& matmul : group_.matmuls)
    slots_.push_back(TileValue::value(graph_.op(matmul.op).results[0]));
  list_.slots = static_cast<int>(slots_.size());

  const std::vector<TileValue> targets = all_targets();
  for (size_t r = 0; r < group_.reductions.size(); ++r) {
    const Reduction& reduction = group_.reductions[r];
    const TileValue target = targets[r];
    std::vector<TileValue> stops = slots_;
    stops.push_back(target);
    const Targets needed = reached(llvm::ArrayRef(targets).drop_front(r + 1), stops);
    const bool wide = !reached({target}, slots_).empty();
    const bool is_float_value = is_float(graph_.type(graph_.op(reduction.op).operands[0]).dtype);
    if (wide && is_float_value && llvm::is_contained(needed, target) &&
        !llvm::is_contained(slots_, target)) {
      // A value that is read now and again later is held, so that it is read once.
      if (group_.matmuls.empty())
        for (TileValue leaf : reached({target}, slots_))
          if (leaf.is_read && leaf != target && llvm::is_contained(needed, leaf) &&
              is_float(graph_.type(group_.reads[leaf.index].access.value).dtype))
            hold(leaf, needed);
      hold(target, needed);
    }
    push({StageKind::reduce, target, 0, reduction.op, 0, {}});
    if (reduction.global) push({StageKind::store_partial, {}, 0, reduction.op, 0, {}});
  }
  if (group_.scan) push({StageKind::scan, source(*group_.scan, 0), 0, *group_.scan, 0, {}});
  for (size_t w = 0; w < group_.writes.size(); ++w)
    push({StageKind::store, targets[group_.reductions.size() + w], 0, {}, w, {}});
  return std::move(list_);
}

} // namespace

bool is_computed_iota(const Graph& graph, const Read& read) {
  return graph.producer(read.access.value).kind == OpKind::iota &&
         !reads_memory(graph.op(read.op), read.operand);
}

bool is_wide_read(const Group& group, const Read& read) {
  if (read.combine && !read.at_points) return false;
  const AtomList own = group.space.leaves(read.access.dims);
  auto any = [&](const AtomList& factors) {
    return llvm::any_of(factors, [&](Atom atom) { return llvm::is_contained(own, atom); });
  };
  return any(group.domain.columns) && (any(group.domain.rows) || group.domain.rows.empty());
}

TileValue source_of(const Graph& graph, const Group& group, OpId op, uint32_t operand) {
  for (size_t r = 0; r < group.reads.size(); ++r)
    if (group.reads[r].op == op && group.reads[r].operand == operand)
      return TileValue::read(canonical_read(group, r));
  return TileValue::value(root_of(graph, graph.op(op).operands[operand]));
}

StageList plan_stages(const Graph& graph, const Group& group) {
  return StagePlanner(graph, group).run();
}

} // namespace ingot
