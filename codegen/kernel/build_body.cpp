// SPDX-License-Identifier: Apache-2.0
// See build_body.h.
#include "codegen/kernel/build_body.h"

#include "codegen/kernel/admitted.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/ownership.h"
#include "codegen/kernel/point_builder.h"
#include "codegen/kernel/point_steps.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// Orders the ops of a group into the stages of its body. Decides which values the tile's slots
/// hold and which values each reduction and each store evaluates.
class StageBuilder {
public:
  StageBuilder(const GroupSite& site, const BodyParameters& parameters, const TileValues& values,
               TileBody& body)
      : graph_(site.graph), group_(site.group), parameters_(parameters), values_(values),
        body_(body),
        sources_{site.graph, site.ranges, site.group, values, parameters.reads, results_},
        points_(sources_, body.frame, stage_coordinates(site.group)) {}

  void run();
  /// Builds the stages of a tile that is computed along K. Returns the expression of `element`, and
  /// in `admits` the points where it is not 0.
  PointExpr run_streamed(ValueId element, std::vector<Condition>& admits);
  /// Builds the stages of a tile with all of K. Returns the expressions of its values.
  std::vector<PointExpr> run_resident(llvm::ArrayRef<ValueId> values);
  /// The stage that yields the results of each reduction.
  const std::map<OpId, uint32_t>& results() const { return results_; }
  /// Adds the results of the reductions of a computed operand, and applies its row factors.
  /// `stages`: those of the tile.
  void take_operand(const std::map<OpId, uint32_t>& stages);

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
  /// The tile-wide values that the evaluation of `targets` reaches. The walk ends at `stops`.
  Targets reached(llvm::ArrayRef<TileValue> targets, llvm::ArrayRef<TileValue> stops);
  /// Puts the products and the values of earlier tiles into slots.
  void begin();
  /// The target of each write.
  std::vector<TileValue> stored_targets() const;
  /// Adds the stages of the reductions. `after`: the values that later stages evaluate.
  void add_reductions(const std::vector<TileValue>& after);
  void hold(TileValue target, const Targets& needed_later);
  void hold_for_later(const Reduction& reduction, TileValue target,
                      llvm::ArrayRef<TileValue> later);
  void add_merges();
  void add_reduction(const Reduction& reduction, TileValue target);
  void add_scan(OpId op);
  void add_store(size_t write, TileValue target);
  /// Adds a stage with the results of `op`.
  void add_results(OpId op, decltype(Stage::step) step) {
    results_[op] = static_cast<uint32_t>(body_.stages.size());
    body_.stages.push_back({std::move(step), op_line(graph_, graph_.op(op))});
  }
  PointExpr evaluated(TileValue target) { return points_.build(target, slots_); }
  Expr dense(const AtomShape& dims) const {
    return dense_index(group_, dims, stage_coordinates(group_));
  }

  const Graph& graph_;
  const Group& group_;
  const BodyParameters& parameters_;
  const TileValues& values_;
  TileBody& body_;
  std::map<OpId, uint32_t> results_; ///< the stage that yields the results of an op
  const PointSources sources_;
  PointBuilder points_;
  std::map<TileValue, uint32_t> numbers_; ///< numbers of nodes
  std::vector<Node> nodes_;
  uint32_t walks_ = 0;
  std::vector<TileValue> slots_; ///< the value in each slot
};

uint32_t StageBuilder::node_of(TileValue value) {
  auto [entry, added] = numbers_.try_emplace(value, static_cast<uint32_t>(nodes_.size()));
  if (added) {
    // Results of reductions are per row, not tile-wide. The result of a matmul is the source.
    const bool is_wide = value.is_read ? ingot::is_wide(group_, group_.reads[value.index])
                                       : is_product(group_, graph_, value.id());
    nodes_.push_back({value, is_wide, {}});
  }
  return entry->second;
}

void StageBuilder::expand(uint32_t node) {
  if (nodes_[node].is_expanded) return;
  nodes_[node].is_expanded = true;
  for (TileValue operand : values_.operands(nodes_[node].value)) {
    const uint32_t number = node_of(operand);
    nodes_[node].operands.push_back(number);
  }
}

StageBuilder::Targets StageBuilder::reached(llvm::ArrayRef<TileValue> targets,
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

void StageBuilder::begin() {
  if (group_.sum)
    slots_.push_back(TileValue::value(group_.sum->value));
  else
    for (const Matmul& matmul : group_.matmuls)
      slots_.push_back(TileValue::value(graph_.op(matmul.op).results[0]));
  for (size_t r = 0; r < group_.reads.size(); ++r) {
    const Read& read = group_.reads[r];
    if (!read.tile || llvm::is_contained(slots_, values_.read(r))) continue;
    const auto& values = tiles_of(group_)[*read.tile]->writes;
    const auto value =
        llvm::find_if(values, [&](const Write& write) { return write.value == read.access.value; });
    body_.earlier.push_back({static_cast<int>(slots_.size()), *read.tile,
                             static_cast<uint32_t>(value - values.begin())});
    slots_.push_back(values_.read(r));
  }
  body_.tile_slots = static_cast<int>(slots_.size());
}

std::vector<TileValue> StageBuilder::stored_targets() const {
  std::vector<TileValue> targets;
  targets.reserve(group_.writes.size());
  for (const Write& write : group_.writes)
    targets.push_back(write.read ? values_.read(*write.read) : TileValue::value(write.source));
  return targets;
}

/// Puts `target` into a slot unless all are taken. It may replace a value that is not needed later.
void StageBuilder::hold(TileValue target, const Targets& needed_later) {
  const size_t most = group_.matmuls.empty() ? 4 : 2;
  size_t place = 0;
  while (place < slots_.size() && llvm::is_contained(needed_later, slots_[place])) ++place;
  if (place >= most) return;
  body_.stages.push_back({MapStage{static_cast<int>(place), evaluated(target)}, ""});
  if (place == slots_.size())
    slots_.push_back(target);
  else
    slots_[place] = target;
  body_.tile_slots = std::max(body_.tile_slots, static_cast<int>(slots_.size()));
}

/// Holds the target of a reduction if the `later` targets need it again.
void StageBuilder::hold_for_later(const Reduction& reduction, TileValue target,
                                  llvm::ArrayRef<TileValue> later) {
  std::vector<TileValue> stops = slots_;
  stops.push_back(target);
  const Targets needed = reached(later, stops);
  const Targets leaves = reached({target}, slots_);
  if (leaves.empty() || !is_float(reducer_of(graph_, reduction.op).dtype) ||
      !llvm::is_contained(needed, target) || llvm::is_contained(slots_, target))
    return;
  // A value that is read now and again later is held, so that it is read once.
  if (group_.matmuls.empty())
    for (TileValue leaf : leaves)
      if (leaf.is_read && leaf != target && llvm::is_contained(needed, leaf) &&
          is_float(graph_.type(group_.reads[leaf.index].access.value).dtype))
        hold(leaf, needed);
  hold(target, needed);
}

/// Adds a stage for each op whose states are merged.
void StageBuilder::add_merges() {
  for (const Read& read : group_.reads) {
    const OpId op = graph_.value(read.access.value).op;
    if (!read.combine || results_.count(op)) continue;
    const Op& node = graph_.op(op);
    Dim count = 1;
    for (int64_t axis : graph_.attributes<ReduceAttributes>(node).axes)
      count = count * graph_.type(node.operands[0]).shape[axis];
    add_results(op, MergeStage{reducer_of(graph_, op),
                               dim_expr(count),
                               {},
                               parameters_.states.at(op),
                               index_map(group_, read.access, stage_coordinates(group_)).index,
                               read.at_points});
  }
}

void StageBuilder::add_reduction(const Reduction& r, TileValue target) {
  const ReduceSpan span = r.span_in_tile();
  add_results(r.op, ReduceStage{reducer_of(graph_, r.op), span,
                                span == ReduceSpan::segment ? r.extent.fixed() : 0,
                                dim_expr(r.extent), dense(r.reduced), evaluated(target)});
  if (!r.global) return;
  body_.stages.push_back(
      {StoreStatesStage{results_.at(r.op), parameters_.states.at(r.op), {}, dense(r.kept), {}},
       op_line(graph_, graph_.op(r.op))});
}

std::vector<PointExpr> StageBuilder::run_resident(llvm::ArrayRef<ValueId> values) {
  begin();
  std::vector<TileValue> targets;
  for (ValueId value : values) targets.push_back(TileValue::value(value));
  add_reductions(targets);
  std::vector<PointExpr> results;
  for (TileValue target : targets) results.push_back(evaluated(target));
  return results;
}

PointExpr StageBuilder::run_streamed(ValueId element, std::vector<Condition>& admits) {
  begin();
  for (const Reduction& r : group_.reductions) {
    const TileValue target = values_.source(r.op, 0);
    PointExpr value = evaluated(target);
    const float scale = take_positive_factor(value);
    AdmittedPoints admitted = admitted_points(value);
    admits = std::move(admitted.conditions);
    if (!is_slot(value))
      body_.stages.push_back({MapStage{0, std::move(value), std::move(admitted.within)}, ""});
    slots_.front() = target;
    add_results(r.op, ReduceStage{reducer_of(graph_, r.op), ReduceSpan::row, 0, dim_expr(r.extent),
                                  dense(r.reduced), evaluated(target), 0, scale});
    slots_.front() = TileValue::value(element);
  }
  return evaluated(TileValue::value(element));
}

void StageBuilder::take_operand(const std::map<OpId, uint32_t>& stages) {
  const ComputedOperand& operand = *group_.computed;
  for (const auto& [op, stage] : stages) add_results(op, CarriedStage{stage});
  if (operand.factors.empty()) return;
  const Matmul& matmul = group_.matmuls.front();
  const DType dtype = graph_.type(graph_.op(matmul.op).results[0]).dtype;
  body_.stages.push_back(
      {MapStage{0, points_.build_factors(dtype, operand.factors,
                                         group_.space.extent(matmul.contraction))},
       ""});
}

void StageBuilder::add_scan(OpId op) {
  const auto& scan = graph_.attributes<ScanAttributes>(graph_.op(op));
  add_results(op, ScanStage{reducer_of(graph_, op), scan.exclusive, scan.reverse,
                            evaluated(values_.source(op, 0))});
}

void StageBuilder::add_store(size_t write, TileValue target) {
  const ValueId value = group_.writes[write].value;
  const Access& access = group_.writes[write].access;
  const AtomList own = group_.space.leaves(access.dims);
  const auto& [batch, rows, columns] = group_.domain;
  const bool is_whole = !columns.empty() && contains_all(own, rows) && contains_all(own, columns);
  body_.stages.push_back(
      {StoreStage{evaluated(target), parameters_.writes[write], store_map(group_, access), is_whole,
                  dim_expr(reached_elements(group_, access)), owning_points(group_, access),
                  reaching_columns(group_, access)},
       value_name(graph_, value) + ": " + stored_text(graph_, value)});
}

void StageBuilder::add_reductions(const std::vector<TileValue>& after) {
  std::vector<TileValue> targets;
  for (const Reduction& reduction : group_.reductions)
    targets.push_back(values_.source(reduction.op, 0));
  llvm::append_range(targets, after);
  auto later = llvm::ArrayRef(targets);
  for (const Reduction& reduction : group_.reductions) {
    const TileValue target = later.front();
    later = later.drop_front();
    hold_for_later(reduction, target, later);
    add_reduction(reduction, target);
  }
}

void StageBuilder::run() {
  add_merges();
  begin();
  const std::vector<TileValue> stored = stored_targets();
  add_reductions(stored);
  if (group_.scan) add_scan(*group_.scan);
  for (const auto& [write, target] : llvm::enumerate(stored)) add_store(write, target);
}

MatrixOperand matrix_operand(const GroupSite& site, const BodyParameters& parameters,
                             const TileValues& values, MatmulSide of) {
  const auto& [graph, ranges, group] = site;
  const Matmul& matmul = group.matmuls[of.matmul];
  const Read& fetched = group.reads[matmul.operands[of.side].read];
  const auto coordinates = operand_coordinates(group, matmul, of.side);
  MatrixOperand result;
  result.from = {parameters.reads.at(fetched.access.value),
                 index_map(group, fetched.access, coordinates),
                 dim_expr(reached_elements(group, fetched.access))};
  // A vector along K is a matrix of one line.
  IndexMap& map = result.from.map;
  const bool is_line = (of.side == 0 ? group.domain.rows : group.domain.columns).empty();
  if (is_line && map.contiguous == Coordinate::k)
    map.strides[Coordinate::mn] = group.space.extent(matmul.contraction);
  const std::vector<OpId>& prologue = matmul.operands[of.side].prologue;
  if (prologue.empty()) return result;
  const std::map<OpId, uint32_t> no_results;
  const PointSources sources{graph, ranges, group, values, parameters.reads, no_results};
  PointBuilder points(sources, result.frame, coordinates);
  result.prologue =
      points.build(values.source(matmul.op, of.side), {values.source(fetched.op, fetched.operand)});
  for (OpId op : prologue) result.notes.push_back(op_line(graph, graph.op(op)));
  return result;
}

} // namespace

Reducer reducer_of(const Graph& graph, OpId op) {
  return {graph.op(op).kind, graph.type(graph.op(op).operands[0]).dtype};
}

namespace {

/// The extents of a group's domain.
void set_domain(const Group& group, TileBody& body) {
  const auto extent = [&](const AtomList& factors) {
    return dim_expr(group.space.extent(factors));
  };
  body.batch = extent(group.domain.batch);
  body.rows = extent(group.domain.rows);
  body.columns = extent(group.domain.columns);
}

/// The tile of a computed operand. `stages`: as of add_operands.
ComputedTile build_tile(const GroupSite& site, const BodyParameters& parameters,
                        std::map<OpId, uint32_t>& stages);

/// Adds the operands of matmul `number` and its K. `stages` receives the stages whose results a
/// computed operand carries along K.
void add_operands(const GroupSite& site, const BodyParameters& parameters, const TileValues& values,
                  size_t number, Mainloop& mainloop, std::map<OpId, uint32_t>& stages) {
  const Group& group = site.group;
  INGOT_ASSERT(!group.computed || group.matmuls.size() == 1);
  if (group.computed)
    mainloop.a = std::make_shared<ComputedTile>(build_tile(site, parameters, stages));
  else
    mainloop.operands[0] = matrix_operand(site, parameters, values, {number, 0});
  mainloop.operands[1] = matrix_operand(site, parameters, values, {number, 1});
  mainloop.depth = dim_expr(group.space.extent(group.matmuls[number].contraction));
}

ComputedTile build_tile(const GroupSite& site, const BodyParameters& parameters,
                        std::map<OpId, uint32_t>& stages) {
  const ComputedOperand& operand = *site.group.computed;
  const Group& group = *operand.tile;
  const GroupSite inner = {site.graph, site.ranges, group};
  const TileValues values(site.graph, group);
  ComputedTile tile;
  set_domain(group, tile.body);
  tile.resident = operand.resident;
  Mainloop& mainloop = tile.body.mainloops.emplace_back();
  add_operands(inner, parameters, values, 0, mainloop, stages);
  StageBuilder builder(inner, parameters, values, tile.body);
  if (!operand.resident) {
    tile.element = builder.run_streamed(operand.element, tile.admits);
    stages = builder.results();
    return tile;
  }
  std::vector<ValueId> targets = {operand.element};
  llvm::append_range(targets, operand.kept);
  tile.kept = builder.run_resident(targets);
  tile.element = std::move(tile.kept.front());
  tile.kept.erase(tile.kept.begin());
  return tile;
}

} // namespace

TileBody build_body(const GroupSite& site, const BodyParameters& parameters) {
  const auto& [graph, ranges, group] = site;
  const TileValues values(graph, group);
  TileBody body;
  set_domain(group, body);
  std::map<OpId, uint32_t> carried;
  for (size_t number = 0; number < group.matmuls.size(); ++number)
    add_operands(site, parameters, values, number, body.mainloops.emplace_back(), carried);
  if (group.sum) body.sum_factor = static_cast<float>(group.sum->factor);
  StageBuilder builder(site, parameters, values, body);
  if (group.computed) builder.take_operand(carried);
  builder.run();
  return body;
}

} // namespace ingot
