// SPDX-License-Identifier: Apache-2.0
// See build_body.h.
#include "codegen/kernel/build_body.h"

#include "codegen/kernel/halves.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/ownership.h"
#include "codegen/kernel/point_builder.h"
#include "codegen/kernel/widths.h"
#include "codegen/kernel/names.h"
#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {
namespace {

class BodyBuilder {
public:
  BodyBuilder(const KernelSite& site, const BodyParameters& parameters)
      : site_(site), graph_(site.graph), group_(site.group), parameters_(parameters),
        sources_{site.graph, site.ranges, site.group, parameters.reads, stages_},
        points_(sources_, body_.frame, stage_coordinates(site.group)) {}

  TileBody run();

private:
  void add_mainloops();
  void add_stage(const StageEntry& entry);
  ReduceStage reduce(const StageEntry& entry);
  StoreStatesStage store_states(OpId op) const;
  MergeStage merge(OpId op) const;
  StoreStage store(const StageEntry& entry);
  Reducer reducer(OpId op) const {
    return {graph_.op(op).kind, graph_.type(graph_.op(op).operands[0]).dtype};
  }
  Expr slot(const Reduction& r, const Cuts& cuts) const;
  std::vector<Expr> positions(const Reduction& r) const;
  Expr dense(const AtomShape& dims) const {
    return dense_index(group_, dims, stage_coordinates(group_));
  }
  const Reduction& reduction(OpId op) const {
    return *llvm::find_if(group_.reductions, [&](const Reduction& r) { return r.op == op; });
  }
  Expr extent(const AtomList& factors) const { return dim_expr(group_.space.extent(factors)); }

  const KernelSite& site_;
  const Graph& graph_;
  const Group& group_;
  const BodyParameters& parameters_;
  TileBody body_;
  std::map<OpId, uint32_t> stages_; ///< that yield the results of an op
  const PointSources sources_;
  PointBuilder points_;
};

void BodyBuilder::add_mainloops() {
  for (size_t m = 0; m < group_.matmuls.size(); ++m) {
    Mainloop& mainloop = body_.mainloops.emplace_back();
    for (uint32_t side : {0u, 1u})
      mainloop.operands[side] = build_operand(site_, parameters_, {m, side});
    mainloop.depth = extent(group_.matmuls[m].contraction);
  }
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

/// Where a tile begins along each extent that is cut.
std::vector<Expr> BodyBuilder::positions(const Reduction& r) const {
  const Expr row = Expr::coordinate("row"), col = Expr::coordinate("col");
  switch (r.span) {
  case ReduceSpan::row: return {col};
  case ReduceSpan::segment: return {col % dim_expr(r.extent)};
  case ReduceSpan::column: return {row};
  case ReduceSpan::matrix: break;
  }
  const AtomList batch = reduced_batch(group_, r);
  if (batch.empty()) return {row, col};
  return {dense({batch}), row, col};
}

/// The number of the tile's part among those of its result.
Expr BodyBuilder::slot(const Reduction& r, const Cuts& cuts) const {
  Expr number;
  for (const auto& [cut, position] : llvm::zip_equal(cuts, positions(r)))
    number =
        number * part_count(cut.extent, cut.parts) + position / part_width(cut.extent, cut.parts);
  return number;
}

StoreStatesStage BodyBuilder::store_states(OpId op) const {
  const Reduction& r = reduction(op);
  const Cuts& cuts = site_.buffers.cuts.at(op);
  return {stages_.at(op), parameters_.states.at(op), part_count(cuts), dense(r.kept),
          slot(r, cuts)};
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
          part_count(site_.buffers.cuts.at(op)),
          parameters_.states.at(op),
          index_map(group_, read->access, stage_coordinates(group_)).index,
          read->at_points};
}

StoreStage BodyBuilder::store(const StageEntry& entry) {
  const Write& write = group_.writes[entry.write];
  return {points_.build(entry.target, entry.slots), parameters_.writes[entry.write],
          store_map(group_, write.access),          is_whole(group_, write),
          dim_expr(stored_elements(group_, write)), owning_points(group_, write.access),
          reaching_columns(group_, write.access)};
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
  body_.slots = std::max(list.slots, 1);
  for (const StageEntry& entry : list.stages) add_stage(entry);
  return std::move(body_);
}

} // namespace

TileBody build_body(const KernelSite& site, const BodyParameters& parameters) {
  return BodyBuilder(site, parameters).run();
}

MatrixOperand build_operand(const KernelSite& site, const BodyParameters& parameters,
                            MatmulSide of) {
  const Graph& graph = site.graph;
  const Group& group = site.group;
  const Matmul& matmul = group.matmuls[of.matmul];
  const MatmulOperand& operand = matmul.operands[of.side];
  const Read& fetched = group.reads[operand.read];
  const auto coordinates = operand_coordinates(group, matmul, of.side);
  MatrixOperand result;
  result.from = {parameters.reads.at(fetched.access.value),
                 index_map(group, fetched.access, coordinates)};
  if (!operand.prologue.empty()) {
    const std::map<OpId, uint32_t> no_stages;
    const PointSources sources{graph, site.ranges, group, parameters.reads, no_stages};
    PointBuilder points(sources, result.frame, coordinates);
    result.prologue = points.build(source_of(graph, group, matmul.op, of.side),
                                   {source_of(graph, group, fetched.op, fetched.operand)});
    for (OpId op : operand.prologue) result.notes.push_back(op_line(graph, graph.op(op)));
  }
  if (const auto halves = parameters.halves.find(of.index()); halves != parameters.halves.end()) {
    result.halves = halves->second;
    result.extents = halves_extents(graph, group, of);
  }
  return result;
}

} // namespace ingot
