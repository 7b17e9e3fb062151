// SPDX-License-Identifier: Apache-2.0
// Rewrites reductions to forms that keep every bit: over axes of extent 1, through movement, and
// maxima of monotone functions. A reduction may use any tree, so the order of its elements does not
// matter.
#include "ir/passes/dim_groups.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/reduction_axes.h"
#include "ir/passes/rewriter.h"
#include "ir/passes/two_step_reductions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// The candidate's reduction of `x` over `axes`, with the candidate's shape.
Replacement reduced(GraphRewriter& rewriter, const Candidate& candidate, ValueId x,
                    const Axes& axes) {
  Replacement results = rewriter.make_all(candidate.kind(), {x}, ReduceAttributes{axes});
  for (ValueId& value : results) value = rewriter.reshape(value, candidate.type.shape);
  return results;
}

/// A reduction of one element is that element. Its variance is 0, or NaN if the element is
/// infinite.
Replacement reduce_single(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId x = rewriter.reshape(candidate.operands[0], candidate.type.shape);
  if (candidate.kind() == OpKind::moments) return {x, rewriter.make(OpKind::sub, {x, x})};
  if (candidate.kind() == OpKind::max_sumexp) {
    return {x, rewriter.make(OpKind::exp, {rewriter.make(OpKind::sub, {x, x})})};
  }
  return {x};
}

Replacement drop_unit_axes(GraphRewriter& rewriter, const Candidate& candidate) {
  const Shape& shape = rewriter.type(candidate.operands[0]).shape;
  Shape kept_shape;
  Axes kept_axes;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    bool is_reduced = llvm::is_contained(reduced_axes(candidate.op), static_cast<int64_t>(axis));
    if (is_reduced && dim.is(1)) continue;
    if (is_reduced) kept_axes.push_back(static_cast<int64_t>(kept_shape.size()));
    kept_shape.push_back(dim);
  }
  if (kept_axes.size() == reduced_axes(candidate.op).size()) return {};
  if (kept_axes.empty()) return reduce_single(rewriter, candidate);
  return reduced(rewriter, candidate, rewriter.reshape(candidate.operands[0], kept_shape),
                 kept_axes);
}

/// Rewrites reduce(reshape(x)) to reshape(reduce(x)) if the reduced dims are whole dims of x.
Replacement hoist_reshape(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.kind(operand) != OpKind::reshape) return {};
  ValueId source = rewriter.operand(operand);
  auto groups = group_dims(rewriter.type(source).shape, rewriter.type(operand).shape);
  if (!groups) return {};
  Axes axes;
  for (const DimGroup& group : *groups) {
    auto is_reduced = [&](int64_t axis) {
      return llvm::is_contained(reduced_axes(candidate.op), axis);
    };
    auto dims = llvm::seq(static_cast<int64_t>(group.to_begin), static_cast<int64_t>(group.to_end));
    if (llvm::none_of(dims, is_reduced)) continue;
    if (!llvm::all_of(dims, is_reduced)) return {};
    for (size_t axis = group.from_begin; axis < group.from_end; ++axis) {
      axes.push_back(static_cast<int64_t>(axis));
    }
  }
  if (axes.empty()) return {};
  return reduced(rewriter, candidate, source, axes);
}

/// Drops extents of 1 from a reshape that stays before a reduction.
Replacement squeeze_reshape(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.kind(operand) != OpKind::reshape) return {};
  const Shape& shape = rewriter.type(operand).shape;
  Axes units;
  Shape squeezed;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    if (dim.is(1))
      units.push_back(static_cast<int64_t>(axis));
    else
      squeezed.push_back(dim);
  }
  if (units.empty()) return {};
  return reduced(rewriter, candidate, rewriter.reshape(rewriter.operand(operand), squeezed),
                 shift_axes(reduced_axes(candidate.op), units));
}

/// Rewrites reduce(transpose(x)) to transpose(reduce(x)).
Replacement hoist_transpose(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.kind(operand) != OpKind::transpose) return {};
  const Op& op = rewriter.producer(operand);
  ValueId source = op.operands[0];
  auto permutation = std::get<TransposeAttributes>(op.attributes).permutation;
  Axes axes, kept; // axes of source; `kept` is in the order of the result
  for (auto [axis, from] : llvm::enumerate(permutation)) {
    bool is_reduced = llvm::is_contained(reduced_axes(candidate.op), static_cast<int64_t>(axis));
    (is_reduced ? axes : kept).push_back(from);
  }
  llvm::sort(axes);
  Axes sorted = kept;
  llvm::sort(sorted);
  TransposeAttributes order;
  for (int64_t axis : kept) order.permutation.push_back(llvm::find(sorted, axis) - sorted.begin());
  Replacement results;
  for (ValueId value : rewriter.make_all(candidate.kind(), {source}, ReduceAttributes{axes})) {
    bool moves = !llvm::is_sorted(kept);
    results.push_back(moves ? rewriter.make(OpKind::transpose, {value}, order) : value);
  }
  return results;
}

OpKind opposite(OpKind kind) {
  return kind == OpKind::reduce_max ? OpKind::reduce_min : OpKind::reduce_max;
}

/// Rewrites max(f(x)) to f(max(x)) if f rises, or to f(min(x)) if it falls. Rounding to f32 keeps
/// order.
Replacement hoist_monotone(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (!is_extremum(candidate.kind()) || rewriter.source_uses(candidate.source_operand()) > 1 ||
      !is_float(rewriter.type(operand).dtype)) {
    return {};
  }
  OpKind inner = rewriter.kind(operand);
  if (info(inner).order == Order::none) return {};
  bool scales = info(inner).order == Order::by_sign, falls = info(inner).order == Order::falls;
  // The extremum of no elements is infinite, and a bound would change it.
  bool bounds = info(inner).is_idempotent();
  if (bounds && may_reduce_nothing(rewriter.source(), candidate.op)) return {};
  llvm::SmallVector<ValueId, 2> operands = {rewriter.operand(operand)};
  if (info(inner).arity == 2) {
    ValueId number = rewriter.operand(operand, 1);
    std::optional<double> value = splat_real(rewriter.graph(), number);
    if (!value || rewriter.type(number).rank() != 0 || !std::isfinite(*value)) return {};
    if (scales && *value == 0) return {};
    falls = scales && *value < 0;
    operands.push_back(number);
  }
  OpKind kind = falls ? opposite(candidate.kind()) : candidate.kind();
  operands[0] = rewriter.make(kind, {operands[0]}, candidate.op.attributes);
  return {rewriter.make(inner, operands)};
}

Replacement join_extrema(GraphRewriter& rewriter, const Candidate& candidate) {
  return is_extremum(candidate.kind()) ? join_reductions(rewriter, candidate) : Replacement();
}

/// Rewrites reduce(broadcast(x)) to broadcast(reduce(x)). For extrema, repeated elements may be
/// dropped too.
Replacement hoist_broadcast(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.kind(operand) != OpKind::broadcast) return {};
  Unrepeated x = without_repeats(rewriter, operand, reduced_axes(candidate.op));
  if (!x.repeats.is(1) && !is_extremum(candidate.kind())) return {};
  if (!x.repeats.is_fixed()) return {}; // there may be none
  Replacement results = {rewriter.reshape(x.value, x.shape)};
  if (!x.axes.empty()) {
    results = rewriter.make_all(candidate.kind(), {results[0]}, ReduceAttributes{x.axes});
  }
  for (ValueId& value : results) value = rewriter.broadcast(value, candidate.type.shape);
  return results;
}

/// A scan of one element is the element; an exclusive one is the scan's identity.
Replacement drop_unit_scan(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto& scan = candidate.attributes<ScanAttributes>();
  const ValueId x = candidate.operands[0];
  const Type type = rewriter.type(x);
  if (!type.shape[scan.axis].is(1)) return {};
  if (!scan.exclusive) return {x};
  const double identity = reducer_of(candidate.kind())->identity;
  return {rewriter.broadcast(rewriter.constant(type.dtype, identity), type.shape)};
}

/// Matches x - x and returns x.
std::optional<ValueId> match_self_difference(const GraphRewriter& rewriter, ValueId id) {
  if (rewriter.kind(id) != OpKind::sub || rewriter.operand(id) != rewriter.operand(id, 1)) {
    return std::nullopt;
  }
  return rewriter.operand(id);
}

/// Rewrites log(exp(x - x)) to x - x. exp(0) and log(1) have no error, and NaN stays.
Replacement cancel_log_exp(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId exp = candidate.operands[0];
  if (rewriter.kind(exp) != OpKind::exp) return {};
  ValueId difference = rewriter.operand(exp);
  if (!match_self_difference(rewriter, difference)) return {};
  return {difference};
}

/// Rewrites select(is_inf(m), m, m + (m - m)) to m + 0.0. It remains from a logsumexp of one
/// element.
Replacement simplify_guarded_self(GraphRewriter& rewriter, const Candidate& candidate) {
  auto [predicate, m, sum] =
      std::tie(candidate.operands[0], candidate.operands[1], candidate.operands[2]);
  if (rewriter.kind(predicate) != OpKind::is_inf || rewriter.operand(predicate) != m ||
      rewriter.kind(sum) != OpKind::add) {
    return {};
  }
  for (unsigned side : {0u, 1u}) {
    if (rewriter.operand(sum, side) == m &&
        match_self_difference(rewriter, rewriter.operand(sum, 1 - side)) == m) {
      ValueId zero = rewriter.constant(rewriter.type(m).dtype, 0.0);
      return {rewriter.make(OpKind::add, {m, zero})};
    }
  }
  return {};
}

Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) {
  switch (info(candidate.kind()).op_class) {
  case OpClass::reduce:
    if (is_index_reduction(candidate.kind())) return hoist_transpose(rewriter, candidate);
    return first_match({drop_unit_axes, hoist_transpose, hoist_reshape, squeeze_reshape,
                        join_extrema, hoist_monotone, hoist_broadcast},
                       rewriter, candidate);
  case OpClass::scan: return drop_unit_scan(rewriter, candidate);
  case OpClass::elementwise:
    if (candidate.kind() == OpKind::log) return cancel_log_exp(rewriter, candidate);
    if (candidate.kind() == OpKind::select) return simplify_guarded_self(rewriter, candidate);
    return {};
  default: return {};
  }
}

} // namespace

Graph simplify_reductions(const Graph& graph, const PassContext&) {
  return rewrite(graph, simplify);
}

} // namespace ingot
