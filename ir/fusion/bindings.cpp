// SPDX-License-Identifier: Apache-2.0
// See bindings.h.
#include "ir/fusion/bindings.h"

namespace ingot {

using BoundOrRefusal = std::variant<Bound, Refusal>;

BoundOrRefusal Bindings::bind(ValueId value) {
  if (auto found = defined_.find(value); found != defined_.end())
    return Bound{found->second, std::nullopt, false};
  if (auto found = shared_.find(value); found != shared_.end()) return found->second;
  BoundOrRefusal bound = bind_memory(value);
  if (auto* b = std::get_if<Bound>(&bound); b && b->access && sharing_ == ReadSharing::shared)
    shared_[value] = *b;
  return bound;
}

BoundOrRefusal Bindings::bind_memory(ValueId value) {
  const Op& op = graph_.producer(value);
  if (info(op.kind).op_class == OpClass::movement) {
    if (op.kind == OpKind::concat)
      return Refusal{"concat joins several tensors; its operands and its users need kernels of "
                     "their own"};
    BoundOrRefusal operand = bind(op.operands[0]);
    if (std::holds_alternative<Refusal>(operand)) return operand;
    return move(op, std::get<Bound>(std::move(operand)));
  }
  const Shape& shape = graph_.type(value).shape;
  AtomShape dims = space.fresh(shape);
  // The results of one op are made and read together.
  if (sharing_ == ReadSharing::shared)
    for (ValueId sibling : op.results)
      if (auto found = shared_.find(sibling); found != shared_.end()) dims = found->second.dims;
  if (op.kind == OpKind::constant) return Bound{dims, std::nullopt, false};
  return Bound{dims, Access{value, shape, dims, {}, {}}, true};
}

BoundOrRefusal Bindings::move(const Op& op, Bound operand) {
  const Shape& from = graph_.type(op.operands[0]).shape;
  const Shape& to = graph_.type(op.results[0]).shape;
  switch (op.kind) {
  case OpKind::reshape: return reshape(op, std::move(operand));
  case OpKind::slice: return slice(op, std::move(operand));
  case OpKind::transpose: {
    AtomShape dims;
    for (int64_t source : graph_.attributes<TransposeAttributes>(op).permutation)
      dims.push_back(operand.dims[source]);
    return Bound{dims, operand.access, false};
  }
  default: {
    INGOT_ASSERT(op.kind == OpKind::broadcast);
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
  const Shape& to = graph_.type(op.results[0]).shape;
  AtomShape dims = space.fresh(to);
  AtomList flat_from, flat_to;
  for (const AtomList& list : operand.dims) flat_from.append(list);
  for (const AtomList& list : dims) flat_to.append(list);
  // A dense tensor in memory is dense in any shape: read it as the reshaped one. Where the shapes
  // share factors, shared reads see one point of both.
  if (operand.access && operand.plain) {
    AxisSpace joined = space;
    if (sharing_ == ReadSharing::shared && joined.equate(flat_from, flat_to))
      space = std::move(joined);
    operand.access->shape = to;
    operand.access->dims = dims;
    return Bound{dims, operand.access, true};
  }
  if (!space.equate(flat_from, flat_to))
    return Refusal{fmt::format("reshape of {} to {} is no split or merge of the kernel's axes",
                               graph_.type(op.operands[0]).text(), text_of(to))};
  return Bound{dims, operand.access, false};
}

BoundOrRefusal Bindings::slice(const Op& op, Bound operand) {
  if (!operand.access)
    return Refusal{"slice of a computed value: its users see another domain than its producer"};
  const auto& attributes = graph_.attributes<SliceAttributes>(op);
  const Shape& to = graph_.type(op.results[0]).shape;
  Access& access = *operand.access;
  access.start.resize(access.shape.size(), 0);
  access.step.resize(access.shape.size(), 1);
  for (size_t d = 0; d < to.size(); ++d) {
    const bool whole =
        attributes.stops[d] == -1 || (attributes.starts[d] == 0 && attributes.steps[d] == 1 &&
                                      graph_.type(op.operands[0]).shape[d] == to[d]);
    if (whole) continue;
    // The sliced dim must still be one whole dim of the tensor in memory.
    size_t root = 0;
    while (root < access.dims.size() &&
           !(access.dims[root] == operand.dims[d] && !operand.dims[d].empty()))
      ++root;
    if (root == access.dims.size())
      return Refusal{fmt::format("slice along axis {} of a reshaped or broadcast tensor", d)};
    AtomList fresh = space.fresh(to[d]);
    access.start[root] += attributes.starts[d] * access.step[root];
    access.step[root] *= attributes.steps[d];
    access.dims[root] = operand.dims[d] = fresh;
  }
  operand.plain = false;
  return operand;
}

} // namespace ingot
