// SPDX-License-Identifier: Apache-2.0
// See stage_list.h.
#include "codegen/stage_list.h"

#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace ingot {

namespace {

/// The first read that brings the same tensor in the same way.
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
  StagePlanner(const Graph& graph, const Group& group) : graph_(graph), group_(group) {}

  StageList run();

private:
  using Targets = std::set<TileValue>;

  /// The tile-wide things that evaluating `targets` reaches, not looking behind `stops`.
  Targets reached(llvm::ArrayRef<TileValue> targets, llvm::ArrayRef<TileValue> stops) const;
  void reach(TileValue target, llvm::ArrayRef<TileValue> stops, Targets& out,
             std::set<TileValue>& seen) const;
  std::vector<TileValue> later_targets(size_t reduction) const;
  void hold(TileValue target, const Targets& needed_later);
  void push(Stage stage) {
    stage.slots = slots_;
    list_.stages.push_back(std::move(stage));
  }

  const Graph& graph_;
  const Group& group_;
  StageList list_;
  std::vector<TileValue> slots_;
};

void StagePlanner::reach(TileValue target, llvm::ArrayRef<TileValue> stops, Targets& out,
                         std::set<TileValue>& seen) const {
  if (!seen.insert(target).second) return;
  const bool stop = llvm::is_contained(stops, target);
  if (target.is_read) {
    if (stop || is_wide_read(group_, group_.reads[target.index])) out.insert(target);
    return;
  }
  if (stop) {
    out.insert(target);
    return;
  }
  const OpId id = graph_.value(target.id()).op;
  const Op& op = graph_.op(id);
  // Results of reductions are per row, not tile-wide; what a matmul yields is the source.
  if (op.kind == OpKind::matmul) out.insert(target);
  const OpClass op_class = info(op.kind).op_class;
  if (op_class != OpClass::elementwise && op_class != OpClass::gather) return;
  for (uint32_t k = 0; k < op.operands.size(); ++k)
    if (!reads_memory(op, k)) reach(source_of(graph_, group_, id, k), stops, out, seen);
}

StagePlanner::Targets StagePlanner::reached(llvm::ArrayRef<TileValue> targets,
                                            llvm::ArrayRef<TileValue> stops) const {
  Targets out, seen;
  for (TileValue target : targets) reach(target, stops, out, seen);
  return out;
}

std::vector<TileValue> StagePlanner::later_targets(size_t reduction) const {
  std::vector<TileValue> targets;
  for (size_t r = reduction + 1; r < group_.reductions.size(); ++r)
    targets.push_back(source_of(graph_, group_, group_.reductions[r].op, 0));
  for (const Write& write : group_.writes)
    targets.push_back(write.read ? TileValue::read(canonical_read(group_, *write.read))
                                 : TileValue::value(write.source));
  return targets;
}

/// Puts `target` into a slot, dropping what nothing later needs; not when all slots are taken.
void StagePlanner::hold(TileValue target, const Targets& needed_later) {
  const size_t most = group_.matmuls.empty() ? 4 : 2;
  size_t place = 0;
  while (place < slots_.size() && needed_later.count(slots_[place])) ++place;
  if (place >= most) return;
  Stage stage{StageKind::map, target, static_cast<int>(place), {}, 0, {}};
  push(stage);
  if (place == slots_.size())
    slots_.push_back(target);
  else
    slots_[place] = target;
  list_.slots = std::max(list_.slots, static_cast<int>(slots_.size()));
}

StageList StagePlanner::run() {
  std::set<OpId> combined;
  for (const Read& read : group_.reads)
    if (read.combine && combined.insert(graph_.value(read.access.value).op).second)
      push({read.at_points ? StageKind::merge_at_points : StageKind::combine,
            {},
            0,
            graph_.value(read.access.value).op,
            0,
            {}});
  for (const Matmul& matmul : group_.matmuls)
    slots_.push_back(TileValue::value(graph_.op(matmul.op).results[0]));
  list_.slots = static_cast<int>(slots_.size());

  for (size_t r = 0; r < group_.reductions.size(); ++r) {
    const Reduction& reduction = group_.reductions[r];
    const TileValue target = source_of(graph_, group_, reduction.op, 0);
    const std::vector<TileValue> later = later_targets(r);
    std::vector<TileValue> stops = slots_;
    stops.push_back(target);
    Targets needed = reached(later, stops);
    const bool wide = !reached({target}, slots_).empty();
    const bool is_float_value = is_float(graph_.type(graph_.op(reduction.op).operands[0]).dtype);
    if (wide && is_float_value && needed.count(target) && !llvm::is_contained(slots_, target)) {
      // What is read now and again later is read once.
      if (group_.matmuls.empty())
        for (TileValue leaf : reached({target}, slots_))
          if (leaf.is_read && leaf != target && needed.count(leaf) &&
              is_float(graph_.type(group_.reads[leaf.index].access.value).dtype))
            hold(leaf, needed);
      hold(target, needed);
    }
    push({StageKind::reduce, target, 0, reduction.op, 0, {}});
    if (reduction.global) push({StageKind::store_partial, {}, 0, reduction.op, 0, {}});
  }
  if (group_.scan)
    push({StageKind::scan, source_of(graph_, group_, *group_.scan, 0), 0, *group_.scan, 0, {}});
  const std::vector<TileValue> stores = later_targets(group_.reductions.size());
  for (size_t w = 0; w < group_.writes.size(); ++w)
    push({StageKind::store, stores[w], 0, {}, w, {}});
  return std::move(list_);
}

} // namespace

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
