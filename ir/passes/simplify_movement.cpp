// SPDX-License-Identifier: Apache-2.0
// Drops movement that moves nothing, joins chains of one kind, and replaces a movement by a simpler
// one with the same meaning. Reshape is simpler than transpose and broadcast.
#include "ir/passes/dim_groups.h"
#include "ir/passes/match.h"
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace ingot {
namespace {

/// Broadcasts a number directly to the shape of the result.
Replacement move_splat(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (candidate.kind() == OpKind::concat || rewriter.kind(operand) != OpKind::broadcast) return {};
  ValueId number = rewriter.operand(operand);
  if (rewriter.type(number).rank() != 0) return {};
  return {rewriter.broadcast(number, candidate.type.shape)};
}

/// Rewrites a reshape of a broadcast to a broadcast of a reshape, so that repeated elements are
/// moved once. It needs groups of dims that repeat as a whole or not at all.
Replacement reshape_before_broadcast(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.kind(operand) != OpKind::broadcast) return {};
  ValueId source = rewriter.operand(operand);
  const Shape& shape = candidate.attributes<ShapeAttributes>().shape;
  Shape from = rewriter.type(operand).shape;
  Shape aligned(from.size() - rewriter.type(source).rank(), Dim(1)); // from's rank
  llvm::append_range(aligned, rewriter.type(source).shape);
  auto groups = group_dims(from, shape);
  if (!groups) return {};
  Shape inner;
  for (const DimGroup& group : *groups) {
    auto dims = llvm::seq(group.from_begin, group.from_end);
    bool repeats = llvm::all_of(dims, [&](size_t dim) { return aligned[dim].is(1); });
    bool stays = llvm::all_of(dims, [&](size_t dim) { return aligned[dim] == from[dim]; });
    if (!repeats && !stays) return {};
    for (size_t dim = group.to_begin; dim < group.to_end; ++dim) {
      inner.push_back(stays ? shape[dim] : Dim(1));
    }
  }
  return {rewriter.broadcast(rewriter.reshape(source, inner), shape)};
}

Replacement simplify_reshape(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  const Shape& shape = candidate.attributes<ShapeAttributes>().shape;
  if (rewriter.type(operand).shape == shape) return {operand};
  if (rewriter.kind(operand) != OpKind::reshape) return {};
  return {rewriter.reshape(rewriter.operand(operand), shape)};
}

bool moves_only_unit_dims(const Shape& shape, llvm::ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Replacement simplify_transpose(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  const auto& permutation = candidate.attributes<TransposeAttributes>().permutation;
  if (moves_only_unit_dims(rewriter.type(operand).shape, permutation)) {
    return {rewriter.reshape(operand, candidate.type.shape)};
  }
  if (rewriter.kind(operand) != OpKind::transpose) return {};
  const Op& inner = rewriter.producer(operand);
  TransposeAttributes joined;
  for (int64_t axis : permutation) {
    joined.permutation.push_back(std::get<TransposeAttributes>(inner.attributes).permutation[axis]);
  }
  return {rewriter.make(OpKind::transpose, {inner.operands[0]}, joined)};
}

Replacement simplify_broadcast(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  const Shape& shape = candidate.attributes<ShapeAttributes>().shape;
  Shape from = rewriter.type(operand).shape;
  if (from == shape) return {operand};
  if (rewriter.kind(operand) == OpKind::broadcast) {
    return {rewriter.broadcast(rewriter.operand(operand), shape)};
  }
  if (element_count(from) == element_count(shape)) return {rewriter.reshape(operand, shape)};
  // Shapes are aligned at the last dim, so leading extents of 1 do not matter.
  size_t leading = 0;
  while (leading < from.size() && from[leading].is(1)) ++leading;
  if (leading == 0) return {};
  from.erase(from.begin(), from.begin() + leading);
  return {rewriter.broadcast(rewriter.reshape(operand, from), shape)};
}

Replacement simplify_slice(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (rewriter.type(operand) == candidate.type) return {operand};
  if (rewriter.kind(operand) != OpKind::slice) return {};
  const Op& inner_op = rewriter.producer(operand);
  const auto& inner = std::get<SliceAttributes>(inner_op.attributes);
  const auto& outer = candidate.attributes<SliceAttributes>();
  const Shape& extents = rewriter.type(operand).shape;
  SliceAttributes joined;
  for (size_t dim = 0; dim < outer.starts.size(); ++dim) {
    bool fixed = extents[dim].is_fixed();
    int64_t step = inner.steps[dim] * outer.steps[dim];
    int64_t start = inner.starts[dim] + outer.starts[dim] * inner.steps[dim];
    int64_t last = (outer.stops[dim] - outer.starts[dim] - 1) / outer.steps[dim];
    joined.starts.push_back(start);
    joined.stops.push_back(fixed ? start + last * step + 1 : -1);
    joined.steps.push_back(step);
  }
  return {rewriter.make(OpKind::slice, {inner_op.operands[0]}, joined)};
}

/// Rewrites a slice of a concat to a concat of some parts, or of a slice of each part.
Replacement slice_parts(GraphRewriter& rewriter, const Candidate& candidate) {
  const ValueId whole = candidate.operands[0];
  if (rewriter.kind(whole) != OpKind::concat) return {};
  const Op concat = rewriter.producer(whole); // a copy, because new ops move the original
  const auto axis = static_cast<size_t>(std::get<AxisAttributes>(concat.attributes).axis);
  const auto& shown = candidate.attributes<SliceAttributes>();
  if (shown.steps[axis] != 1) return {};
  llvm::SmallVector<ValueId, 4> parts;
  int64_t begin = 0;
  for (ValueId part : concat.operands) {
    const int64_t extent = rewriter.type(part).shape[axis].fixed();
    SliceAttributes own = shown;
    own.starts[axis] = std::max<int64_t>(shown.starts[axis] - begin, 0);
    own.stops[axis] = std::min(shown.stops[axis] - begin, extent);
    begin += extent;
    if (own.starts[axis] < own.stops[axis])
      parts.push_back(rewriter.make(OpKind::slice, {part}, own));
  }
  if (parts.size() == 1) return {parts.front()};
  return {rewriter.make(OpKind::concat, parts, AxisAttributes{static_cast<int64_t>(axis)})};
}

/// Rewrites a window inside its operand to a slice, and joins a window of a window, whose elements
/// outside are arbitrary.
Replacement simplify_window(GraphRewriter& rewriter, const Candidate& candidate) {
  auto window = candidate.attributes<WindowAttributes>();
  const Op inner = rewriter.producer(candidate.operands[0]);
  // Windows are handled axis by axis, so that windows along one axis meet.
  if (const auto* own = std::get_if<WindowAttributes>(&inner.attributes);
      own && own->axis > window.axis)
    return {rewriter.make(OpKind::window,
                          {rewriter.make(OpKind::window, {inner.operands[0]}, window)}, *own)};
  if (const auto* own = std::get_if<WindowAttributes>(&inner.attributes);
      own && own->axis == window.axis) {
    const auto start = checked_add(window.start, own->start);
    if (!start) return {};
    window.start = *start;
    window.is_inside &= own->is_inside;
    auto types = infer_types(OpKind::window, {rewriter.type(inner.operands[0])}, window);
    if (!types) { // too far away
      llvm::consumeError(types.takeError());
      return {};
    }
    return {rewriter.make(OpKind::window, {inner.operands[0]}, window)};
  }
  const Shape& shape = rewriter.type(candidate.operands[0]).shape;
  if (window.start.is(0) && window.extent == shape[window.axis]) return {candidate.operands[0]};
  const Dim stop = window.start + window.extent;
  if (!shape[window.axis].is_fixed() || !window.start.is_fixed() || !stop.is_fixed()) return {};
  if (window.start.fixed() < 0 || stop.fixed() > shape[window.axis].fixed()) return {};
  return {rewriter.make(OpKind::slice, {candidate.operands[0]},
                        part_along(shape, window.axis, window.start.fixed(), stop.fixed()))};
}

Replacement simplify_concat(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.operands.size() == 1) return {candidate.operands[0]};
  int64_t axis = candidate.attributes<AxisAttributes>().axis;
  llvm::SmallVector<ValueId, 4> parts;
  for (ValueId operand : candidate.operands) {
    const Op& op = rewriter.producer(operand);
    bool same = op.kind == OpKind::concat && std::get<AxisAttributes>(op.attributes).axis == axis;
    if (same) {
      llvm::append_range(parts, op.operands);
    } else {
      parts.push_back(operand);
    }
  }
  if (parts.size() == candidate.operands.size()) return {};
  return {rewriter.make(OpKind::concat, parts, AxisAttributes{axis})};
}

/// The operand of a transpose that swaps the last two axes and keeps the others.
std::optional<ValueId> swapped_matrix(const GraphRewriter& rewriter, ValueId id) {
  if (rewriter.kind(id) != OpKind::transpose) return std::nullopt;
  const Op& op = rewriter.producer(id);
  if (!swaps_matrix(std::get<TransposeAttributes>(op.attributes).permutation)) return std::nullopt;
  return op.operands[0];
}

Replacement absorb_transposes(GraphRewriter& rewriter, const Candidate& candidate) {
  auto flags = candidate.attributes<MatmulAttributes>();
  std::optional<ValueId> a = swapped_matrix(rewriter, candidate.operands[0]);
  std::optional<ValueId> b = swapped_matrix(rewriter, candidate.operands[1]);
  if (!a && !b) return {};
  if (a) flags.transpose_a = !flags.transpose_a;
  if (b) flags.transpose_b = !flags.transpose_b;
  return {rewriter.make(OpKind::matmul,
                        {a.value_or(candidate.operands[0]), b.value_or(candidate.operands[1])},
                        flags)};
}

Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) {
  switch (candidate.kind()) {
  case OpKind::reshape:
    return first_match({simplify_reshape, move_splat, reshape_before_broadcast}, rewriter,
                       candidate);
  case OpKind::transpose: return first_match({simplify_transpose, move_splat}, rewriter, candidate);
  case OpKind::broadcast: return simplify_broadcast(rewriter, candidate);
  case OpKind::slice:
    return first_match({simplify_slice, slice_parts, move_splat}, rewriter, candidate);
  case OpKind::window: return first_match({simplify_window, move_splat}, rewriter, candidate);
  case OpKind::concat: return simplify_concat(rewriter, candidate);
  case OpKind::matmul: return absorb_transposes(rewriter, candidate);
  default: return {};
  }
}

} // namespace

Graph simplify_movement(const Graph& graph, const PassContext&) { return rewrite(graph, simplify); }

} // namespace ingot
