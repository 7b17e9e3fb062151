// SPDX-License-Identifier: Apache-2.0
// See parts.h.
#include "ir/passes/parts.h"

#include "ir/passes/dim_groups.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

Part part_along(const Shape& shape, int64_t axis, int64_t start, int64_t stop) {
  Part part = whole_slice(shape);
  part.starts[axis] = start;
  part.stops[axis] = stop;
  return part;
}

void copy_dim(const Part& from, size_t dim, Part& to, size_t at) {
  to.starts[at] = from.starts[dim];
  to.stops[at] = from.stops[dim];
  to.steps[at] = from.steps[dim];
}

namespace {

bool cuts(const Shape& shape, const Part& part, size_t dim) {
  return shape[dim].is_fixed() &&
         (part.starts[dim] != 0 || part.steps[dim] != 1 || part.stops[dim] != shape[dim].fixed());
}

Shape shape_of(Shape shape, const Part& part) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (cuts(shape, part, d)) shape[d] = (part.stops[d] - part.starts[d] - 1) / part.steps[d] + 1;
  return shape;
}

/// Whether only movement lies between memory and the value.
bool is_moved_memory(const Graph& graph, ValueId value) {
  return info(graph.producer(root_of(graph, value)).kind).op_class == OpClass::source;
}

/// Maps a slice of a reshape's result to its operand. The sliced dims must be dims of both shapes.
/// Otherwise there is none.
std::optional<Part> before_reshape(const Shape& from, const Shape& to, const Part& part) {
  const auto groups = group_dims(from, to);
  if (!groups) return std::nullopt;
  Part own = whole_slice(from);
  for (const DimGroup& group : *groups)
    for (size_t dim = group.to_begin; dim < group.to_end; ++dim) {
      if (!cuts(to, part, dim)) continue;
      if (group.to_end != group.to_begin + 1 || group.from_end != group.from_begin + 1)
        return std::nullopt;
      copy_dim(part, dim, own, group.from_begin);
    }
  return own;
}

} // namespace

Origin origin_of(const Graph& graph, const LaunchSizes& sizes, ValueId value) {
  std::vector<ValueId> open = {value};
  Origin origin = Origin::numbers;
  bool is_of_launch = false;
  for (int left = kMostRepeatedOps; !open.empty(); --left) {
    const Op& op = graph.producer(open.back());
    open.pop_back();
    const OpClass op_class = info(op.kind).op_class;
    if (op.kind == OpKind::input) {
      if (graph.attributes<InputAttributes>(op).role != InputAttributes::Role::param)
        return Origin::other;
      origin = Origin::params;
    }
    is_of_launch |= op.kind != OpKind::input && sizes.appear_in(graph, op);
    const bool is_moved = op_class == OpClass::elementwise || op_class == OpClass::movement;
    if (left == 0 || op.kind == OpKind::extent || (op_class != OpClass::source && !is_moved))
      return Origin::other;
    llvm::append_range(open, op.operands);
  }
  return is_of_launch && origin == Origin::params ? Origin::other : origin;
}

bool PartTaker::lies_in_memory(ValueId value) const {
  const Graph& graph = rewriter_.graph();
  if (rules_.stored_elements && graph.producer(value).kind == OpKind::slice) {
    const ValueId root = root_of(graph, value);
    const OpClass op_class = info(graph.producer(root).kind).op_class;
    const bool is_small =
        rules_.stored_elements->divided_by(element_count(graph.type(root).shape)).has_value();
    if (is_small && op_class != OpClass::elementwise && op_class != OpClass::movement) return true;
  }
  return is_moved_memory(graph, value) ||
         (rules_.launch_sizes && origin_of(graph, *rules_.launch_sizes, value) == Origin::params);
}

/// The slice of an operand that a slice of the result needs; none if it is no slice.
std::optional<Part> PartTaker::part_of_operand(ValueId value, unsigned operand,
                                               const Part& part) const {
  const Op& op = rewriter_.producer(value);
  const Shape& to = rewriter_.type(value).shape;
  const Shape& from = rewriter_.type(op.operands[operand]).shape;
  if (info(op.kind).op_class == OpClass::elementwise) return from.empty() ? Part() : part;
  Part own = whole_slice(from);
  switch (op.kind) {
  case OpKind::reshape: return before_reshape(from, to, part);
  case OpKind::transpose: {
    const auto& permutation = std::get<TransposeAttributes>(op.attributes).permutation;
    for (size_t d = 0; d < to.size(); ++d)
      copy_dim(part, d, own, static_cast<size_t>(permutation[d]));
    return own;
  }
  case OpKind::broadcast: {
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d)
      if (from[d] == to[added + d]) copy_dim(part, added + d, own, d);
    return own;
  }
  case OpKind::matmul: {
    const auto& flags = std::get<MatmulAttributes>(op.attributes);
    const size_t batch = to.size() - 2;
    for (size_t d = 0; d < batch; ++d) copy_dim(part, d, own, d);
    if (operand == 0)
      copy_dim(part, batch, own, batch + flags.transpose_a);
    else
      copy_dim(part, batch + 1, own, batch + !flags.transpose_b);
    return own;
  }
  case OpKind::gather: {
    const auto axis = static_cast<size_t>(std::get<AxisAttributes>(op.attributes).axis);
    for (size_t d = 0; d < to.size(); ++d)
      if (operand == 1 || d != axis) copy_dim(part, d, own, d);
    return own;
  }
  default: break;
  }
  if (info(op.kind).op_class == OpClass::scan) {
    const auto axis = static_cast<size_t>(std::get<ScanAttributes>(op.attributes).axis);
    return cuts(to, part, axis) ? std::nullopt : std::optional(part);
  }
  if (info(op.kind).op_class != OpClass::reduce) return std::nullopt;
  const auto& axes = std::get<ReduceAttributes>(op.attributes).axes;
  for (size_t d = 0, kept = 0; d < from.size(); ++d)
    if (!llvm::is_contained(axes, static_cast<int64_t>(d))) copy_dim(part, kept++, own, d);
  return own;
}

bool PartTaker::affords(ValueId value, const Part& part) {
  const Shape& shape = rewriter_.type(value).shape;
  if (shape.empty() || lies_in_memory(value)) return true;
  if (part == whole_slice(shape)) return rules_.takes_repeated;
  const Op& op = rewriter_.producer(value);
  const OpClass op_class = info(op.kind).op_class;
  if (op_class != OpClass::elementwise && op_class != OpClass::movement &&
      !rules_.takes_result(value))
    return false;
  if (--ops_ < 0) return false;
  for (unsigned k = 0; k < op.operands.size(); ++k) {
    // A matmul reads a slice of any operand at no cost.
    const auto own = part_of_operand(value, k, part);
    if (!own || (op.kind != OpKind::matmul && !affords(op.operands[k], *own))) return false;
  }
  return true;
}

ValueId PartTaker::of(ValueId value, const Part& part) {
  const Shape& shape = rewriter_.type(value).shape;
  if (part == whole_slice(shape)) return value;
  std::vector<int64_t> key(part.starts.begin(), part.starts.end());
  key.insert(key.end(), part.stops.begin(), part.stops.end());
  key.insert(key.end(), part.steps.begin(), part.steps.end());
  auto [entry, added] = made_.try_emplace({value, std::move(key)});
  if (added) entry->second = make(value, part);
  return entry->second;
}

ValueId PartTaker::make(ValueId value, const Part& part) {
  if (lies_in_memory(value)) return take(value, part);
  const Op op = rewriter_.producer(value); // a copy, because new ops move the original
  const uint32_t result = rewriter_.graph().value(value).result;
  const Shape shape = shape_of(rewriter_.type(value).shape, part);
  llvm::SmallVector<ValueId, 3> operands;
  for (unsigned k = 0; k < op.operands.size(); ++k) {
    const Part own = *part_of_operand(value, k, part);
    // A later pass removes a slice of everything.
    operands.push_back(op.kind == OpKind::matmul ? take(op.operands[k], own)
                                                 : of(op.operands[k], own));
  }
  const bool has_shape = std::holds_alternative<ShapeAttributes>(op.attributes);
  const Attributes attributes = has_shape ? Attributes(ShapeAttributes{shape}) : op.attributes;
  return rewriter_.make_all(op.kind, operands, attributes)[result];
}

/// The slice as an op: a slice, or a window if it reaches outside.
ValueId PartTaker::take(ValueId value, const Part& part) {
  const Shape& shape = rewriter_.type(value).shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d].is_fixed() && (part.starts[d] < 0 || part.stops[d] > shape[d].fixed()))
      return rewriter_.make(OpKind::window, {value},
                            WindowAttributes{static_cast<int64_t>(d), part.starts[d],
                                             part.stops[d] - part.starts[d]});
  return rewriter_.make(OpKind::slice, {value}, part);
}

} // namespace ingot
