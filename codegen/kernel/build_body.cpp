// SPDX-License-Identifier: Apache-2.0
// See build_body.h.
#include "codegen/kernel/build_body.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/ownership.h"
#include "codegen/kernel/point_builder.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class BodyBuilder {
public:
  BodyBuilder(const GroupSite& site, const BodyParameters& parameters)
      : site_(site), graph_(site.graph), group_(site.group), parameters_(parameters),
        sources_{site.graph, site.ranges, site.group, parameters.reads, stages_},
        points_(sources_, body_.frame, stage_coordinates(site.group)) {}

  TileBody run();

private:
  void add_mainloops();
  MatrixOperand operand(const Matmul& matmul, uint32_t side) const;
  void add_stage(const StageEntry& entry);
  ReduceStage reduce(const StageEntry& entry);
  StoreStatesStage store_states(OpId op) const;
  MergeStage merge(OpId op) const;
  StoreStage store(const StageEntry& entry);
  /// True if each point of the domain stores an element of its own.
  bool is_whole(const Access& access) const;
  Reducer reducer(OpId op) const { return reducer_of(graph_, op); }
  Expr dense(const AtomShape& dims) const {
    return dense_index(group_, dims, stage_coordinates(group_));
  }
  const Reduction& reduction(OpId op) const {
    return *llvm::find_if(group_.reductions, [&](const Reduction& r) { return r.op == op; });
  }
  Expr extent(const AtomList& factors) const { return dim_expr(group_.space.extent(factors)); }

  const GroupSite& site_;
  const Graph& graph_;
  const Group& group_;
  const BodyParameters& parameters_;
  TileBody body_;
  std::map<OpId, uint32_t> stages_; ///< the stage that yields the results of an op
  const PointSources sources_;
  PointBuilder points_;
};

void BodyBuilder::add_mainloops() {
  for (const Matmul& matmul : group_.matmuls)
    body_.mainloops.push_back(
        {{operand(matmul, 0), operand(matmul, 1)}, extent(matmul.contraction)});
}

MatrixOperand BodyBuilder::operand(const Matmul& matmul, uint32_t side) const {
  const Read& fetched = group_.reads[matmul.operands[side].read];
  const auto coordinates = operand_coordinates(group_, matmul, side);
  MatrixOperand result;
  result.from = {parameters_.reads.at(fetched.access.value),
                 index_map(group_, fetched.access, coordinates),
                 dim_expr(reached_elements(group_, fetched.access))};
  const std::vector<OpId>& prologue = matmul.operands[side].prologue;
  if (prologue.empty()) return result;
  const std::map<OpId, uint32_t> no_stages;
  const PointSources sources{graph_, site_.ranges, group_, parameters_.reads, no_stages};
  PointBuilder points(sources, result.frame, coordinates);
  result.prologue = points.build(source_of(graph_, group_, matmul.op, side),
                                 {source_of(graph_, group_, fetched.op, fetched.operand)});
  for (OpId op : prologue) result.notes.push_back(op_line(graph_, graph_.op(op)));
  return result;
}

ReduceStage BodyBuilder::reduce(const StageEntry& entry) {
  const Reduction& r = reduction(entry.reduction);
  const ReduceSpan span = r.span_in_tile();
  return {reducer(r.op),
          span,
          span == ReduceSpan::segment ? r.extent.fixed() : 0,
          dim_expr(r.extent),
          dense(r.reduced),
          points_.build(entry.target, entry.slots)};
}

StoreStatesStage BodyBuilder::store_states(OpId op) const {
  return {stages_.at(op), parameters_.states.at(op), {}, dense(reduction(op).kept), {}};
}

MergeStage BodyBuilder::merge(OpId op) const {
  const Op& node = graph_.op(op);
  const auto read = llvm::find_if(group_.reads, [&](const Read& r) {
    return r.combine && graph_.value(r.access.value).op == op;
  });
  Dim count = 1;
  for (int64_t axis : graph_.attributes<ReduceAttributes>(node).axes)
    count = count * graph_.type(node.operands[0]).shape[axis];
  return {reducer(op),
          dim_expr(count),
          {},
          parameters_.states.at(op),
          index_map(group_, read->access, stage_coordinates(group_)).index,
          read->at_points};
}

StoreStage BodyBuilder::store(const StageEntry& entry) {
  const Access& access = group_.writes[entry.write].access;
  return {points_.build(entry.target, entry.slots),
          parameters_.writes[entry.write],
          store_map(group_, access),
          is_whole(access),
          dim_expr(reached_elements(group_, access)),
          owning_points(group_, access),
          reaching_columns(group_, access)};
}

bool BodyBuilder::is_whole(const Access& access) const {
  const AtomList own = group_.space.leaves(access.dims);
  const auto& [batch, rows, columns] = group_.domain;
  return !columns.empty() && contains_all(own, rows) && contains_all(own, columns);
}

void BodyBuilder::add_stage(const StageEntry& entry) {
  const auto number = static_cast<uint32_t>(body_.stages.size());
  Stage stage;
  if (entry.reduction.index != UINT32_MAX) stage.note = op_line(graph_, graph_.op(entry.reduction));
  switch (entry.kind) {
  case StageKind::map:
    stage.step = MapStage{entry.slot, points_.build(entry.target, entry.slots)};
    break;
  case StageKind::reduce: stage.step = reduce(entry); break;
  case StageKind::store_partial: stage.step = store_states(entry.reduction); break;
  case StageKind::combine:
  case StageKind::merge_at_points: stage.step = merge(entry.reduction); break;
  case StageKind::scan: {
    const auto& scan = graph_.attributes<ScanAttributes>(graph_.op(entry.reduction));
    stage.step = ScanStage{reducer(entry.reduction), scan.exclusive, scan.reverse,
                           points_.build(entry.target, entry.slots)};
    break;
  }
  case StageKind::store: {
    const ValueId value = group_.writes[entry.write].value;
    stage.note = value_name(graph_, value) + ": " + stored_text(graph_, value);
    stage.step = store(entry);
    break;
  }
  }
  body_.stages.push_back(std::move(stage));
  if (entry.kind != StageKind::store_partial && entry.kind != StageKind::map &&
      entry.kind != StageKind::store)
    stages_[entry.reduction] = number;
}

TileBody BodyBuilder::run() {
  const auto& [batch, rows, columns] = group_.domain;
  body_.batch = extent(batch);
  body_.rows = extent(rows);
  body_.columns = extent(columns);
  add_mainloops();
  const StageList list = plan_stages(graph_, group_);
  body_.slots = list.slots;
  for (const StageEntry& entry : list.stages) add_stage(entry);
  return std::move(body_);
}

} // namespace

Reducer reducer_of(const Graph& graph, OpId op) {
  return {graph.op(op).kind, graph.type(graph.op(op).operands[0]).dtype};
}

TileBody build_body(const GroupSite& site, const BodyParameters& parameters) {
  return BodyBuilder(site, parameters).run();
}

} // namespace ingot
