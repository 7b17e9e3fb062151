// SPDX-License-Identifier: Apache-2.0
// See bindings.h.
#include "ir/fusion/bindings.h"

#include "ir/fusion/refusals.h"
#include "ir/passes/dim_groups.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

using BoundOrRefusal = std::variant<Bound, Refusal>;

BoundOrRefusal Bindings::bind(OpId reader, ValueId value) {
  if (auto found = defined_.find(value); found != defined_.end())
    return Bound{found->second, std::nullopt, false};
  if (auto found = shared_.find(value); found != shared_.end()) return found->second;
  BoundOrRefusal bound = bind_memory(reader, value);
  if (auto* b = std::get_if<Bound>(&bound); b && b->access && sharing_ == ReadSharing::shared)
    shared_[value] = *b;
  return bound;
}

BoundOrRefusal Bindings::bind_alone(OpId reader, ValueId value) {
  std::map<ValueId, Bound> others;
  std::swap(shared_, others);
  const ReadSharing sharing = std::exchange(sharing_, ReadSharing::independent);
  BoundOrRefusal bound = bind(reader, value);
  sharing_ = sharing;
  std::swap(shared_, others);
  return bound;
}

BoundOrRefusal Bindings::bind_stored(OpId reader, ValueId value) {
  storing_ = true;
  BoundOrRefusal bound = bind(reader, value);
  storing_ = false;
  return bound;
}

BoundOrRefusal Bindings::bind_memory(OpId reader, ValueId value) {
  const Op& op = graph_.producer(value);
  const bool stored =
      context_.in_memory.count({reader, value}) != 0 && !defines(root_of(graph_, value));
  if (is_view(op.kind) && !stored) {
    BoundOrRefusal operand = bind(reader, op.operands[0]);
    if (std::holds_alternative<Refusal>(operand)) return operand;
    return move(op, std::get<Bound>(std::move(operand)));
  }
  Bound bound = bind_tensor(value);
  if (info(op.kind).is_scalar() && !stored) bound = {bound.dims, std::nullopt, false};
  return bound;
}

Bound Bindings::bind_tensor(ValueId value) {
  const Shape& shape = graph_.type(value).shape;
  AtomShape dims = space.fresh(shape);
  // The results of one op are computed and read together. Partials of one shape are merged
  // together.
  if (sharing_ == ReadSharing::shared)
    for (const auto& [other, bound] : shared_)
      if (graph_.value(other).op == graph_.value(value).op ||
          (graph_.type(other).shape == shape && is_partial(other) && is_partial(value)))
        dims = bound.dims;
  return {dims, Access{value, shape, dims}, true};
}

BoundOrRefusal Bindings::move(const Op& op, Bound operand) {
  const Shape& from = graph_.type(op.operands[0]).shape;
  const Shape& to = graph_.type(op.results[0]).shape;
  switch (op.kind) {
  case OpKind::reshape: return reshape(op, std::move(operand));
  case OpKind::slice: return slice(op, std::move(operand));
  case OpKind::window: return window(op, std::move(operand));
  case OpKind::transpose: {
    AtomShape dims;
    llvm::SmallVector<AxisRange, 2> shown;
    for (int64_t source : graph_.attributes<TransposeAttributes>(op).permutation) {
      dims.push_back(operand.dims[source]);
      if (!operand.shown.empty()) shown.push_back(operand.shown[source]);
    }
    return Bound{dims, operand.access, false, shown, operand.dropped};
  }
  default: {
    INGOT_ASSERT(op.kind == OpKind::broadcast);
    if (!operand.shown.empty())
      return refusals::part_of_computed(graph_, graph_.value(op.results[0]).op);
    AtomShape dims;
    const size_t added = to.size() - from.size();
    for (size_t d = 0; d < to.size(); ++d) {
      const bool stretched = d < added || !(from[d - added] == to[d]);
      dims.push_back(stretched ? space.fresh(to[d]) : operand.dims[d - added]);
    }
    return Bound{dims, operand.access, false};
  }
  }
}

BoundOrRefusal Bindings::reshape(const Op& op, Bound operand) {
  if (!operand.shown.empty()) return reshape_shown(op, std::move(operand));
  const Shape& to = graph_.type(op.results[0]).shape;
  AtomShape dims = space.fresh(to);
  AtomList flat_from, flat_to;
  for (const AtomList& list : operand.dims) flat_from.append(list);
  for (const AtomList& list : dims) flat_to.append(list);
  // A dense tensor in memory is dense in any shape: it is read with the new shape. If the shapes
  // share factors, shared reads see the same point of both.
  if (operand.access && operand.plain) {
    AxisSpace joined = space;
    if (sharing_ == ReadSharing::shared && joined.equate(flat_from, flat_to))
      space = std::move(joined);
    operand.access->shape = to;
    operand.access->dims = dims;
    return Bound{dims, operand.access, true};
  }
  if (!space.equate(flat_from, flat_to))
    return refusals::reshape_mixes_axes(graph_.type(op.operands[0]), to, op.operands[0]);
  return Bound{dims, operand.access, false};
}

/// If a slice of a dim is stored, the whole dim is split or merged so that the slice is along one
/// of the outermost of the new dims.
BoundOrRefusal Bindings::reshape_shown(const Op& op, Bound operand) {
  const Shape& from = graph_.type(op.operands[0]).shape;
  const Shape& to = graph_.type(op.results[0]).shape;
  auto refused = refusals::part_of_computed(graph_, graph_.value(op.results[0]).op);
  const auto groups = group_dims(from, to);
  if (!groups) return refused;
  Bound result{AtomShape(to.size()), std::nullopt, false, {}, operand.dropped};
  result.shown.resize(to.size());
  for (const DimGroup& group : *groups) {
    AtomList flat_from, flat_to;
    Shape whole(to.begin() + group.to_begin, to.begin() + group.to_end);
    for (size_t d = group.from_begin; d < group.from_end; ++d) {
      flat_from.append(operand.dims[d]);
      const AxisRange& part = operand.shown[d];
      if (!part.is_part()) continue;
      // An extent of 1 is alone in its group, and may have no dim on the other side.
      if (from[d].is(1)) {
        flat_from.clear();
        result.dropped.push_back({operand.dims[d], part});
        continue;
      }
      if (d != group.from_begin) return refused;
      const Dim inner = element_count(Shape(from.begin() + d + 1, from.begin() + group.from_end));
      const Dim below = element_count(Shape(whole.begin() + 1, whole.end()));
      const auto all = (space.extent(space.leaves(operand.dims[d])) * inner).divided_by(below);
      const auto before = (part.before * inner).divided_by(below);
      if (!all || !before) return refused;
      AxisRange& shown = result.shown[group.to_begin];
      shown.before = *before;
      shown.within = whole[0];
      whole[0] = *all;
    }
    const AtomShape dims = space.fresh(whole);
    for (const AtomList& list : dims) flat_to.append(list);
    if (!space.equate(flat_from, flat_to))
      return refusals::reshape_mixes_axes(graph_.type(op.operands[0]), to, op.operands[0]);
    std::copy(dims.begin(), dims.end(), result.dims.begin() + group.to_begin);
  }
  return result;
}

/// Binds a slice of a computed value that is stored.
BoundOrRefusal Bindings::show(const Op& op, Bound operand) const {
  const auto& attributes = graph_.attributes<SliceAttributes>(op);
  const Shape& from = graph_.type(op.operands[0]).shape;
  const Shape& to = graph_.type(op.results[0]).shape;
  operand.shown.resize(to.size());
  for (size_t d = 0; d < to.size(); ++d) {
    if (attributes.stops[d] == -1 || from[d] == to[d]) continue;
    if (attributes.steps[d] != 1)
      return refusals::part_of_computed(graph_, graph_.value(op.results[0]).op);
    operand.shown[d].before = operand.shown[d].before + attributes.starts[d];
    operand.shown[d].within = to[d];
  }
  return operand;
}

BoundOrRefusal Bindings::slice(const Op& op, Bound operand) {
  if (!operand.access && defines(root_of(graph_, op.operands[0])))
    return storing_ ? show(op, std::move(operand))
                    : refusals::part_of_computed(graph_, graph_.value(op.results[0]).op);
  const auto& attributes = graph_.attributes<SliceAttributes>(op);
  const Shape& to = graph_.type(op.results[0]).shape;
  for (size_t d = 0; d < to.size(); ++d) {
    const bool whole =
        attributes.stops[d] == -1 || (attributes.starts[d] == 0 && attributes.steps[d] == 1 &&
                                      graph_.type(op.operands[0]).shape[d] == to[d]);
    if (whole) continue;
    AxisRange part;
    part.start = attributes.starts[d];
    part.step = attributes.steps[d];
    if (!narrow(operand, d, to[d], part))
      return refusals::part_of_reshaped(graph_, graph_.value(op.results[0]).op, d);
  }
  operand.plain = false;
  return operand;
}

BoundOrRefusal Bindings::window(const Op& op, Bound operand) {
  if (!operand.access && defines(root_of(graph_, op.operands[0])))
    return refusals::part_of_computed(graph_, graph_.value(op.results[0]).op);
  const auto& window = graph_.attributes<WindowAttributes>(op);
  AxisRange part;
  if (window.is_inside) {
    part.start = window.start;
  } else {
    part.before = window.start * Dim(-1);
    part.within = graph_.type(op.operands[0]).shape[window.axis];
  }
  if (!narrow(operand, window.axis, window.extent, part))
    return refusals::part_of_reshaped(graph_, graph_.value(op.results[0]).op,
                                      static_cast<size_t>(window.axis));
  operand.plain = false;
  return operand;
}

/// Takes `part` of dim `d`, so that it has `extent`. Returns false if the dim is no longer one
/// whole dim of the tensor in memory, or if an earlier slice leaves no such part.
bool Bindings::narrow(Bound& operand, size_t d, const Dim& extent, const AxisRange& part) {
  const AtomList fresh = space.fresh(extent);
  if (operand.access && !repeats(operand, d)) {
    Access& access = *operand.access;
    const size_t root = llvm::find(access.dims, operand.dims[d]) - access.dims.begin();
    if (root == access.dims.size()) return false;
    access.ranges.resize(access.shape.size());
    AxisRange& range = access.ranges[root];
    if (range.is_part() && (part.is_part() || part.step != 1)) return false;
    if (range.is_part()) {
      range.before = range.before - part.start;
    } else {
      range.start = range.start + part.start * Dim(range.step);
      range.step *= part.step;
      range.before = part.before;
      range.within = part.within;
    }
    access.dims[root] = fresh;
  }
  operand.dims[d] = fresh;
  return true;
}

bool Bindings::is_partial(ValueId value) const {
  return context_.global_reductions.count(graph_.value(value).op) != 0;
}

/// True if dim `d` is a broadcast one: no dim of the tensor in memory moves along it.
bool Bindings::repeats(const Bound& bound, size_t d) const {
  const AtomList own = space.leaves(bound.dims[d]);
  const AtomList held = space.leaves(bound.access->dims);
  return llvm::none_of(own, [&](Atom atom) { return llvm::is_contained(held, atom); });
}

} // namespace ingot
