// SPDX-License-Identifier: Apache-2.0
// See sliced_values.h.
#include "ir/passes/sliced_values.h"

#include "ir/passes/dataflow.h"
#include "ir/passes/dim_groups.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {
namespace {

bool is_elementwise(const Op& op) { return info(op.kind).op_class == OpClass::elementwise; }

/// Movement of each element to one place or to many.
bool keeps_all(const Op& op) {
  return op.kind == OpKind::broadcast || op.kind == OpKind::reshape || op.kind == OpKind::transpose;
}

/// Visits what `from` is made of, through the operands of those values for which `visit` is true.
template <typename Visit> void visit_sources(const Graph& graph, ValueId from, Visit visit) {
  std::set<ValueId> seen = {from};
  std::vector<ValueId> open = {from};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (!visit(value)) continue;
    for (ValueId operand : graph.producer(value).operands)
      if (seen.insert(operand).second) open.push_back(operand);
  }
}

/// True when `value` is made, elementwise, of what reduces `extent` elements.
bool is_reduced_over(const Graph& graph, ValueId value, const Dim& extent) {
  bool found = false;
  visit_sources(graph, value, [&](ValueId source) {
    const Op& op = graph.producer(source);
    const OpClass op_class = info(op.kind).op_class;
    if (op_class == OpClass::reduce)
      found |= llvm::any_of(graph.attributes<ReduceAttributes>(op).axes, [&](int64_t axis) {
        return graph.type(op.operands[0]).shape[axis] == extent;
      });
    return !found &&
           (is_elementwise(op) || op_class == OpClass::movement || op_class == OpClass::reduce);
  });
  return found;
}

bool has_product(const Graph& graph, ValueId value) {
  bool found = false;
  visit_sources(graph, value, [&](ValueId source) {
    const Op& op = graph.producer(source);
    found |= op.kind == OpKind::matmul;
    return !found && (is_elementwise(op) || keeps_all(op));
  });
  return found;
}

/// The dim of the operand that dim `d` of a reshape's result is; none where it is split or merged.
std::optional<size_t> before_reshape(const Shape& from, const Shape& to, size_t d) {
  const auto groups = group_dims(from, to);
  if (!groups) return std::nullopt;
  for (const DimGroup& group : *groups)
    if (group.to_begin == d && group.to_end == d + 1 && group.from_end == group.from_begin + 1)
      return group.from_begin;
  return std::nullopt;
}

/// Looks for reductions and scans along one dim.
class HeldDims {
public:
  HeldDims(const Graph& graph, const Dim& extent) : graph_(graph), extent_(extent) {}
  bool hold(ValueId value, size_t d);

private:
  bool holds_broadcast(const Op& op, size_t d);

  const Graph& graph_;
  const Dim extent_;
  std::set<std::pair<ValueId, size_t>> seen_;
};

bool HeldDims::holds_broadcast(const Op& op, size_t d) {
  const Shape& from = graph_.type(op.operands[0]).shape;
  const Shape& to = graph_.type(op.results[0]).shape;
  const size_t added = to.size() - from.size();
  if (d >= added && from[d - added] == to[d]) return hold(op.operands[0], d - added);
  return is_reduced_over(graph_, op.operands[0], extent_);
}

bool HeldDims::hold(ValueId value, size_t d) {
  if (!seen_.insert({value, d}).second) return false;
  const Op& op = graph_.producer(value);
  switch (info(op.kind).op_class) {
  case OpClass::elementwise:
    return llvm::any_of(op.operands, [&](ValueId operand) {
      return graph_.type(operand).rank() > 0 && hold(operand, d);
    });
  case OpClass::scan:
    return static_cast<size_t>(graph_.attributes<ScanAttributes>(op).axis) == d ||
           hold(op.operands[0], d);
  case OpClass::reduce: {
    for (int64_t axis : graph_.attributes<ReduceAttributes>(op).axes) // ascending
      d += static_cast<size_t>(axis) <= d;
    return hold(op.operands[0], d);
  }
  default: break;
  }
  if (op.kind == OpKind::broadcast) return holds_broadcast(op, d);
  if (op.kind == OpKind::transpose)
    return hold(op.operands[0],
                static_cast<size_t>(graph_.attributes<TransposeAttributes>(op).permutation[d]));
  if (op.kind != OpKind::reshape) return false;
  const auto before =
      before_reshape(graph_.type(op.operands[0]).shape, graph_.type(value).shape, d);
  return before && hold(op.operands[0], *before);
}

} // namespace

SlicedValues::SlicedValues(const Graph& graph) : graph_(graph), users_(users_of_values(graph)) {
  for (const GraphOutput& output : graph.outputs()) returned_.insert(output.value);
  for (uint32_t id = 0; id < graph.ops().size(); ++id)
    if (graph.ops()[id].kind == OpKind::slice)
      takers_[OpId{id}] = takers(graph.ops()[id].results[0]);
  for (const Op& op : graph.ops()) {
    const OpClass op_class = info(op.kind).op_class;
    if (op_class == OpClass::matmul || op_class == OpClass::reduce || op_class == OpClass::scan ||
        op_class == OpClass::gather)
      for (ValueId result : op.results)
        if (is_sliced(result)) sliced_.push_back(result);
  }
}

SlicedValues::Takers SlicedValues::takers(ValueId value) const {
  Takers result = Takers::outputs;
  for (OpId user : users_[value.index]) {
    const Op& op = graph_.op(user);
    Takers own = Takers::compute;
    if (op.kind == OpKind::matmul) own = Takers::memory;
    if (op.kind == OpKind::concat || op.kind == OpKind::reshape || op.kind == OpKind::transpose)
      own = takers(op.results[0]);
    result = std::max(result, own);
  }
  return result;
}

std::vector<size_t> SlicedValues::cut_dims(const Op& slice) const {
  const Shape& from = graph_.type(slice.operands[0]).shape;
  const Shape& to = graph_.type(slice.results[0]).shape;
  std::vector<size_t> dims;
  for (size_t d = 0; d < from.size(); ++d)
    if (!(from[d] == to[d])) dims.push_back(d);
  return dims;
}

/// How much of its operand a slice shows; none of a product where an operand of the matmul would be
/// read with gaps, or at places that no access of 16 bytes is aligned to.
std::optional<double> SlicedValues::share(const Op& slice, bool of_product) const {
  constexpr int64_t kAligned = 8;
  const auto& part = graph_.attributes<SliceAttributes>(slice);
  const Shape& from = graph_.type(slice.operands[0]).shape;
  const Shape& to = graph_.type(slice.results[0]).shape;
  double result = 1;
  for (size_t d : cut_dims(slice)) {
    const bool aligned =
        part.steps[d] == 1 && (d + 2 < from.size() || part.starts[d] % kAligned == 0);
    if (of_product && !aligned) return std::nullopt;
    result *= static_cast<double>(to[d].fixed()) / static_cast<double>(from[d].fixed());
  }
  return result;
}

/// True when `value` is used by several slices alone that go to memory as they are and together
/// show at least half of it: the kernel that computes it all costs less than one for each.
bool SlicedValues::show_most(ValueId value) const {
  const std::set<OpId> users(users_[value.index].begin(), users_[value.index].end());
  if (returned_.count(value) || users.size() < 2) return false;
  const Takers most = has_product(graph_, value) ? Takers::memory : Takers::outputs;
  double shown = 0;
  for (OpId user : users) {
    if (graph_.op(user).kind != OpKind::slice || takers_.at(user) > most) return false;
    shown += *share(graph_.op(user), false);
  }
  return shown >= 0.5;
}

bool SlicedValues::is_held(OpId slice, size_t d) const {
  const ValueId x = graph_.op(slice).operands[0];
  return HeldDims(graph_, graph_.type(x).shape[d]).hold(x, d);
}

/// True for a slice that its kernel stores of rows that it has anyway.
bool SlicedValues::is_stored_held(OpId slice) const {
  return is_returned(slice) &&
         llvm::all_of(cut_dims(graph_.op(slice)), [&](size_t d) { return is_held(slice, d); });
}

/// True when others than slices that can be pushed down need `value`.
bool SlicedValues::is_whole(ValueId value) const {
  std::set<ValueId> seen = {value};
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (returned_.count(next) || show_most(next)) return true;
    for (OpId user : users_[next.index]) {
      const Op& op = graph_.op(user);
      if (op.kind == OpKind::slice) {
        if (is_stored_held(user)) return true;
      } else if (!is_elementwise(op) && !keeps_all(op)) {
        return true;
      } else if (seen.insert(op.results[0]).second) {
        open.push_back(op.results[0]);
      }
    }
  }
  return false;
}

bool SlicedValues::is_left(OpId slice) const {
  const ValueId x = graph_.op(slice).operands[0];
  return show_most(x) || (is_returned(slice) && (is_stored_held(slice) || is_whole(x)));
}

bool SlicedValues::is_sliced(ValueId result) const {
  constexpr double kAll = 1 + 1e-9; // shares are rounded
  const bool of_product = graph_.producer(result).kind == OpKind::matmul;
  double shown = 0;
  std::set<ValueId> seen = {result};
  std::set<OpId> slices;
  std::vector<ValueId> open = {result};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (returned_.count(value)) return false;
    for (OpId user : users_[value.index]) {
      const Op& op = graph_.op(user);
      const OpClass op_class = info(op.kind).op_class;
      if (op.kind == OpKind::slice) {
        if (!slices.insert(user).second) continue;
        const auto part = is_left(user) ? std::nullopt : share(op, of_product);
        if (!part || (shown += *part) > kAll) return false;
      } else if (!is_elementwise(op) && !keeps_all(op) && op_class != OpClass::reduce) {
        return false;
      } else {
        for (ValueId next : op.results)
          if (seen.insert(next).second) open.push_back(next);
      }
    }
  }
  return shown > 0;
}

} // namespace ingot
