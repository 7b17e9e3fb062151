// SPDX-License-Identifier: Apache-2.0
// See legality.h.
#include "ir/fusion/legality.h"

#include "ir/fusion/group_binder.h"
#include "ir/fusion/loaded_domain.h"
#include "ir/fusion/operand_tile.h"
#include "ir/fusion/operands.h"
#include "ir/fusion/product_sum.h"
#include "ir/fusion/refusals.h"

#include <algorithm>

namespace ingot {
namespace {

/// One analysis of a set of bound ops. Each step returns false and sets `refusal_` if a rule is
/// broken.
class Analysis : GroupBinder {
public:
  explicit Analysis(GroupBinder bound) : GroupBinder(std::move(bound)) {}

  std::variant<Group, Refusal> run(const std::vector<StoreTarget>& targets) {
    for (const StoreTarget& target : targets)
      if (!bind_target(target)) return refusal_;
    if (!check_scan() || !tie_reduced_axes() || !bind_factors()) return refusal_;
    if (group_.matmuls.empty())
      choose_loaded_domain(graph_, bindings_, scanned_, group_);
    else if (!choose_matmul_domain() || !check_tile())
      return refusal_;
    if (!check_points() || !check_diagonals() || !check_scanned_rows() || !classify_reductions() ||
        !check_domain())
      return refusal_;
    if (context_.limits.reassociates && !context_.part.operand && !context_.part.is_tile)
      group_.sum = find_sum(graph_, bindings_, group_);
    group_.space = bindings_.space;
    return std::move(group_);
  }

private:
  bool bind_factors();
  bool check_tile();
  bool check_points();
  bool check_scan();
  bool tie_reduced_axes();
  bool tie_reduced_axes(size_t reduction, const AtomShape& other);
  bool check_scanned_rows();
  bool refuse_repeated(OpId op, llvm::ArrayRef<Atom> own);
  bool check_diagonals();
  bool choose_matmul_domain();
  bool classify_reductions();
  bool classify(Reduction& reduction, llvm::ArrayRef<Atom> reduced, llvm::ArrayRef<Atom> operand);
  bool share_rows();
  bool check_running();
  bool check_widths();
  bool check_domain();
  bool has_own_points(const AtomList& results) const;
  Dim reduced_by(OpId reduction) const;

  AtomShape tile_dims_; ///< of the computed operand
};

/// Checks that a scan's kernel is legal. A scan needs loaded rows from end to end.
bool Analysis::check_scan() {
  if (!group_.scan) return true;
  if (!group_.matmuls.empty() || !group_.reductions.empty())
    return refuse(refusals::scan_shares_nothing(graph_, *group_.scan));
  for (const Read& read : group_.reads)
    if (read.combine)
      return refuse(
          refusals::scan_merges_nothing(graph_, *group_.scan, graph_.value(read.access.value).op));
  return true;
}

/// A reduction does not determine the place of its reduced axes. They become those of another value
/// that has the same shape and the kept axes, so that both are columns of one kernel.
bool Analysis::tie_reduced_axes() {
  if (!group_.matmuls.empty()) return true;
  if (group_.reductions.empty()) return true;
  // Most values of a chain have the same axes, and are tied once.
  std::set<AtomShape> known;
  std::vector<AtomShape> others;
  for (const auto& [value, dims] : bindings_.defined()) {
    AtomShape leaves;
    for (const AtomList& dim : dims) leaves.push_back(bindings_.space.leaves(dim));
    if (known.insert(leaves).second) others.push_back(std::move(leaves));
  }
  for (size_t r = 0; r < group_.reductions.size(); ++r) {
    for (const AtomShape& reduced : llvm::ArrayRef(reduced_values_).take_front(r))
      if (!tie_reduced_axes(r, reduced)) return false;
    for (const AtomShape& other : others)
      if (!tie_reduced_axes(r, other)) return false;
  }
  return true;
}

bool Analysis::tie_reduced_axes(size_t reduction, const AtomShape& other) {
  AxisSpace& space = bindings_.space;
  const AtomShape& own = reduced_values_[reduction];
  if (own.size() != other.size()) return true;
  const auto& axes =
      graph_.attributes<ReduceAttributes>(graph_.op(group_.reductions[reduction].op)).axes;
  AtomShape mine, theirs;
  for (size_t d = 0; d < own.size(); ++d) {
    const AtomList a = space.leaves(own[d]), b = space.leaves(other[d]);
    if (!llvm::is_contained(axes, static_cast<int64_t>(d))) {
      if (a != b) return true;
      continue;
    }
    if (llvm::any_of(a, [&](Atom atom) { return contains(b, atom); })) return true;
    if (!(space.extent(a) == space.extent(b))) return true;
    mine.push_back(a);
    theirs.push_back(b);
  }
  return equate(mine, theirs, group_.reductions[reduction].op);
}

/// Refuses an op that lacks some of the rows, and names a value that has them.
bool Analysis::refuse_repeated(OpId op, llvm::ArrayRef<Atom> own) {
  std::optional<ValueId> other;
  for (const auto& [value, dims] : bindings_.defined())
    for (Atom atom : bindings_.space.leaves(dims))
      if (contains(group_.domain.rows, atom) && !contains(own, atom)) other = value;
  return refuse(refusals::repeated_for_rows(graph_, op, other));
}

bool Analysis::check_scanned_rows() {
  if (!group_.scan) return true;
  const ValueId result = graph_.op(*group_.scan).results[0];
  if (!contains_all(bindings_.space.leaves(bindings_.defined().at(result)), group_.domain.rows))
    return refuse_repeated(*group_.scan, bindings_.space.leaves(bindings_.defined().at(result)));
  return true;
}

/// The joint domain can overflow int64 even if no single value does.
bool Analysis::check_points() {
  std::optional<Dim> points = Dim(1);
  for (const AtomList* atoms : {&group_.domain.batch, &group_.domain.rows, &group_.domain.columns})
    for (Atom atom : *atoms)
      if (points) points = checked_multiply(*points, bindings_.space.extent(atom));
  return points || refuse(refusals::too_many_points());
}

bool Analysis::check_diagonals() {
  auto distinct = [&](const AtomShape& shape) {
    AtomList leaves = bindings_.space.leaves(shape);
    llvm::sort(leaves);
    return std::adjacent_find(leaves.begin(), leaves.end()) == leaves.end();
  };
  for (const auto& [value, dims] : bindings_.defined())
    if (!distinct(dims)) return refuse(refusals::diagonal(graph_, value));
  for (const Read& read : group_.reads)
    if (!distinct(read.access.dims)) return refuse(refusals::diagonal(graph_, read.access.value));
  return true;
}

bool Analysis::choose_matmul_domain() {
  auto refusal = span_matmuls(graph_, bindings_, matmuls_, group_);
  if (!refusal) refusal = find_operands(context_, bindings_, group_);
  if (refusal) refusal_ = *refusal;
  return !refusal;
}

/// Binds the row factors of a computed operand to its rows. They apply to the product.
bool Analysis::bind_factors() {
  const OperandTile* operand = context_.part.operand;
  if (!operand) return true;
  const OpId matmul = group_.matmuls.front().op;
  const auto bound = bindings_.bind(matmul, operand->value); // as the matmul reads it
  tile_dims_ = std::get<Bound>(bound).dims;
  return llvm::all_of(operand->factors, [&](const RowFactor& factor) {
    return bind_others(factor.op, factor.element, tile_dims_);
  });
}

/// Checks that the operand's tile has the kernel's points.
bool Analysis::check_tile() {
  const Group* tile = context_.part.tile;
  if (!tile) return true;
  const OpId matmul = group_.matmuls.front().op;
  if (group_.matmuls.size() > 1) return refuse(refusals::third_matmul(graph_, matmul));
  return place_tile(graph_, *tile, bindings_.space, bindings_.space.leaves(tile_dims_), group_) ||
         refuse(refusals::operand_at_other_points(graph_, matmul));
}

bool Analysis::classify_reductions() {
  const AxisSpace& space = bindings_.space;
  for (size_t r = 0; r < group_.reductions.size(); ++r)
    if (!classify(group_.reductions[r], space.leaves(group_.reductions[r].reduced),
                  space.leaves(reduced_values_[r])))
      return false;
  if (!check_widths() || !share_rows() || !check_running()) return false;
  // A result that exists only after the whole grid has run is for later kernels.
  for (OpId id : group_.ops)
    for (ValueId operand : graph_.op(id).operands) {
      const ValueId root = root_of(graph_, operand);
      for (const Reduction& reduction : group_.reductions)
        if (reduction.global && graph_.value(root).op == reduction.op)
          return refuse(refusals::crosses_tiles(graph_, reduction));
    }
  return true;
}

/// Checks that the reductions of a computed operand's tile are of its rows. Where the tile does not
/// have all of K, they keep their states along it.
bool Analysis::check_running() {
  const auto& [is_tile, is_resident, operand, tile] = context_.part;
  if (!is_tile) return true;
  for (const Reduction& reduction : group_.reductions) {
    const bool runs =
        info(graph_.op(reduction.op).kind).rescales() && group_.reductions.size() == 1;
    if (reduction.span != ReduceSpan::row || !(is_resident || runs))
      return refuse(refusals::cannot_run(graph_, reduction.op, context_.limits));
  }
  return true;
}

bool Analysis::classify(Reduction& reduction, llvm::ArrayRef<Atom> reduced,
                        llvm::ArrayRef<Atom> operand) {
  const Domain& domain = group_.domain;
  const auto columns = llvm::ArrayRef<Atom>(domain.columns);
  const bool matmul = !group_.matmuls.empty();
  const bool holds_rows = contains_all(operand, domain.rows) && contains_all(operand, domain.batch);
  const bool holds_columns = contains_all(operand, columns);
  auto same = [&](llvm::ArrayRef<Atom> a) {
    return a.size() == reduced.size() && contains_all(a, reduced);
  };
  if (reduced.size() <= columns.size() && same(columns.take_back(reduced.size())) &&
      holds_columns) {
    reduction.span = reduced.size() == columns.size() ? ReduceSpan::row : ReduceSpan::segment;
    const bool fits =
        reduction.extent.is_fixed() && reduction.extent.fixed() <= context_.limits.widest_segment;
    reduction.global = matmul && !fits && !context_.part.is_tile;
    reduction.longest_local = reduction.global ? context_.limits.widest_segment : 0;
    if (matmul && context_.reduced_apart)
      if (const auto apart = context_.reduced_apart->find(reduction.op);
          apart != context_.reduced_apart->end())
        return refuse(Refusal{apart->second});
    if (!matmul && !holds_rows) return refuse_repeated(reduction.op, operand);
    if (reduction.global && !holds_rows)
      return refuse(refusals::constant_along_rows(graph_, reduction.op));
    if (!reduction.global || reduction.span != ReduceSpan::segment) return true;
    return reduction.extent.is_fixed() ||
           refuse(refusals::segment_of_unknown_width(graph_, reduction));
  }
  if (matmul && holds_rows && holds_columns) {
    AtomList matrix = domain.rows;
    matrix.append(columns.begin(), columns.end());
    const bool whole = contains_all(reduced, matrix);
    if (whole || (same(domain.rows) && domain.batch.empty())) {
      reduction.span = whole ? ReduceSpan::matrix : ReduceSpan::column;
      reduction.global = true;
      return true;
    }
  }
  const bool in_rows = contains_all(columns, reduced);
  const bool across =
      !in_rows && llvm::any_of(reduced, [&](Atom a) { return contains(columns, a); });
  const auto spread = in_rows  ? refusals::Spread::in_rows
                      : across ? refusals::Spread::across
                               : refusals::Spread::in_columns;
  return refuse(refusals::other_axes(graph_, reduction.op, group_, spread));
}

/// Segments need the whole loaded row in registers. The segments of a tile are nested: each is a
/// run of innermost factors. Wider ones after a matmul are whole tiles of one step.
bool Analysis::check_widths() {
  if (!group_.matmuls.empty()) {
    const StepDemand demand = step_demand(group_.reductions);
    const int64_t widest = context_.limits.widest_segment;
    return demand.divides == 0 || tile_columns(demand, widest) ||
           refuse(refusals::segments_without_tile(demand, widest));
  }
  const Dim columns = bindings_.space.extent(group_.domain.columns);
  for (const Reduction& reduction : group_.reductions) {
    if (reduction.span != ReduceSpan::segment) continue;
    const int64_t widest = context_.limits.widest_held_row;
    if (!columns.is_fixed())
      return refuse(refusals::segment_of_unknown_row(graph_, reduction.op, columns, widest));
    if (columns.fixed() > widest)
      return refuse(refusals::segment_of_long_row(graph_, reduction.op, columns, widest));
  }
  return true;
}

/// Blocks share loaded rows that are too few to fill the machine, and store the states of their
/// parts. Then all reductions of the kernel are global.
bool Analysis::share_rows() {
  if (!group_.matmuls.empty()) return true;
  std::optional<OpId> global;
  bool local = false;
  for (const Reduction& r : group_.reductions) {
    local |= r.span != ReduceSpan::row;
    const auto settled = context_.settled.find(r.op);
    if (settled == context_.settled.end()) continue;
    local |= !settled->second;
    if (settled->second) global = r.op;
  }
  // A warp takes rows together if they are neighbours in memory. Otherwise a block takes one row,
  // or a cluster of blocks does, which is not counted here.
  const Dim rows = bindings_.space.extent(group_.domain.rows),
            columns = bindings_.space.extent(group_.domain.columns);
  const int64_t row_step = rows_are_adjacent(group_, bindings_.space) ? kRowsOfAWarp : 1;
  const int64_t tile_rows = rows.is_fixed() ? std::min(rows.fixed(), row_step) : row_step;
  const int64_t longest = context_.limits.widest_held_row / tile_rows;
  const bool is_long = !columns.is_fixed() || columns.fixed() > longest;
  const bool few =
      rows.is_fixed() && 2 * ((rows.fixed() - 1) / row_step + 1) <= context_.limits.blocks_to_fill;
  if (!global && (local || !is_long || !few)) return true;
  if (local) return refuse(refusals::shared_rows(graph_, *global));
  for (Reduction& reduction : group_.reductions) {
    reduction.global = true;
    reduction.longest_local = longest;
  }
  return true;
}

/// True if each point of loaded rows has its own element of `results`, so that each is read once.
/// If a result also has few partials, merging them there costs no more than a separate kernel.
bool Analysis::has_own_points(const AtomList& results) const {
  const Domain& domain = group_.domain;
  return group_.matmuls.empty() && !group_.reductions.empty() && !domain.columns.empty() &&
         contains_all(results, domain.rows) && contains_all(results, domain.columns);
}

Dim Analysis::reduced_by(OpId reduction) const {
  const Op& op = graph_.op(reduction);
  Dim reduced = 1;
  for (int64_t axis : graph_.attributes<ReduceAttributes>(op).axes)
    reduced = reduced * graph_.type(op.operands[0]).shape[axis];
  return reduced;
}

bool Analysis::check_domain() {
  const Domain& domain = group_.domain;
  AtomList all = domain.batch;
  all.append(domain.rows);
  all.append(domain.columns);
  for (const auto& [value, dims] : bindings_.defined())
    if (!in_prologue(group_, graph_.value(value).op) &&
        !contains_all(all, bindings_.space.leaves(dims)))
      return refuse(refusals::axis_outside(graph_, value));
  for (Read& read : group_.reads) {
    const AtomList indexed = bindings_.space.leaves(read.indexed);
    AtomList own = bindings_.space.leaves(read.access.dims);
    llvm::erase_if(own, [&](Atom atom) { return contains(indexed, atom); });
    if (graph_.op(read.op).kind == OpKind::matmul || in_prologue(group_, read.op)) continue;
    if (!contains_all(all, own)) return refuse(refusals::axis_outside(graph_, read.access.value));
    if (!read.combine) continue;
    const OpId combined = graph_.value(read.access.value).op;
    if (has_own_points(own)) {
      const Dim reduced = reduced_by(combined);
      read.at_points = reduced.is_fixed() && reduced.fixed() <= kMostMergedAtPoint;
      if (!read.at_points)
        return refuse(refusals::partials_too_many(graph_, combined, reduced, kMostMergedAtPoint));
    }
    if (!read.at_points && !contains_all(domain.rows, own))
      return refuse(refusals::partials_elsewhere(graph_, combined));
    for (const Read& other : group_.reads)
      if (other.combine && graph_.value(other.access.value).op == combined &&
          bindings_.space.leaves(other.access.dims) != own)
        return refuse(refusals::partials_elsewhere(graph_, combined));
  }
  for (const Write& write : group_.writes) {
    AtomList own = bindings_.space.leaves(write.access.dims);
    AtomList source = bindings_.defines(write.source)
                          ? bindings_.space.leaves(bindings_.defined().at(write.source))
                          : own;
    if (!contains_all(all, own) || !contains_all(own, source))
      return refuse(refusals::spread_outside(graph_, write.value));
    // Without rows there is no tile; without columns there is one.
    for (const AtomList* atoms : {&domain.batch, &domain.rows})
      for (Atom atom : *atoms)
        if (const Dim& extent = bindings_.space.extent(atom);
            !extent.is_fixed() && !contains(own, atom))
          return refuse(refusals::lost_without_rows(graph_, write.value, extent));
    for (const Reduction& reduction : group_.reductions)
      if (reduction.global && graph_.value(write.source).op == reduction.op)
        return refuse(refusals::crosses_tiles(graph_, reduction));
  }
  return true;
}

} // namespace

ValueId before_reshapes(const Graph& graph, ValueId value) {
  while (graph.producer(value).kind == OpKind::reshape) value = graph.producer(value).operands[0];
  return value;
}

ValueId reached_from(const GroupContext& context, OpId reader, ValueId value) {
  const Op* op = &context.graph.producer(value);
  while (is_view(op->kind) && !context.in_memory.count({reader, value})) {
    value = op->operands[0];
    op = &context.graph.producer(value);
  }
  return value;
}

bool reads_memory(const Op& op, uint32_t operand) {
  const OpClass op_class = info(op.kind).op_class;
  return op_class == OpClass::matmul || (op_class == OpClass::gather && operand == 0);
}

Dim points_of(const Group& group) {
  const auto& [batch, rows, columns] = group.domain;
  return group.space.extent(batch) * group.space.extent(rows) * group.space.extent(columns);
}

Dim reached_elements(const Group& group, const Access& access) {
  Dim result = 1;
  for (size_t d = 0; d < access.dims.size(); ++d) {
    const AxisRange range = access.ranges.empty() ? AxisRange() : access.ranges[d];
    const AtomList leaves = group.space.leaves(access.dims[d]);
    result = result * (range.is_part() ? range.within : group.space.extent(leaves));
  }
  return result;
}

bool is_compute(const Op& op) {
  const OpClass op_class = info(op.kind).op_class;
  return op_class != OpClass::source && op_class != OpClass::movement;
}

std::variant<Group, Refusal> analyze_group(const GroupContext& context,
                                           const std::vector<OpId>& ops,
                                           const std::vector<StoreTarget>& targets,
                                           BoundOps* bound) {
  if (static_cast<int64_t>(ops.size()) > context.limits.most_ops)
    return refusals::too_many_ops(context.limits.most_ops);
  // The last product is the outermost: its tile has the others.
  if (!context.tiles.empty())
    for (OpId op : llvm::reverse(ops))
      if (context.tiles.count(op)) return analyze_computing(context, ops, targets, op);
  auto analyze = [&](GroupBinder binder, BoundOps* kept) -> std::variant<Group, Refusal> {
    if (!binder.bind_ops(ops)) return binder.refusal();
    if (kept) *kept = std::make_shared<const GroupBinder>(binder);
    return Analysis(std::move(binder)).run(targets);
  };
  auto shared = analyze(bound && *bound ? GroupBinder(**bound, context)
                                        : GroupBinder(context, ReadSharing::shared),
                        bound);
  if (std::holds_alternative<Group>(shared)) return shared;
  auto independent = analyze(GroupBinder(context, ReadSharing::independent), nullptr);
  // A refusal that a separate kernel lifts is the one to report.
  auto* refusal = std::get_if<Refusal>(&independent);
  return !refusal || refusal->merge ? independent : shared;
}

} // namespace ingot
