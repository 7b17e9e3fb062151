// SPDX-License-Identifier: Apache-2.0
// See sliced_values.h.
#include "ir/passes/sliced_values.h"

#include "ir/passes/dataflow.h"
#include "ir/passes/dim_groups.h"
#include "ir/passes/part_limits.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace ingot {
namespace {

/// The share of a value from which computing all of it costs no more than one kernel per slice.
constexpr double kMost = 0.5;
/// The maximum number of reduction extents that are tracked per value. Beyond it, any extent counts
/// as reduced.
constexpr size_t kMostExtents = 4;

bool is_elementwise(const Op& op) { return info(op.kind).op_class == OpClass::elementwise; }

/// Whether an op moves each element to one place or several.
bool keeps_all(const Op& op) { return is_view(op.kind) && info(op.kind).keeps_all(); }

/// Whether a kernel that needs a whole row of this extent holds it until the store (Group's held
/// rows). If the dim is not the last one, it holds several rows side by side.
bool is_held_extent(const Dim& extent, bool is_last) {
  return extent.is_fixed() &&
         extent.fixed() <= (is_last ? kMostHeldOfRow : kMostHeldOfRow / kRowsBesideEachOther);
}

} // namespace

SlicedValues::SlicedValues(const Graph& graph)
    : graph_(graph), users_(users_of_values(graph)), returned_(graph.values().size()),
      held_(graph.values().size()), reduced_(graph.values().size()),
      product_(graph.values().size()), goals_(graph.values().size()),
      mostly_shown_(graph.values().size()), whole_(graph.values().size()) {
  for (const GraphOutput& output : graph.outputs()) returned_[output.value.index] = true;
  if (llvm::none_of(graph.ops(), [](const Op& op) { return op.kind == OpKind::slice; })) return;
  find_held();
  find_goals();
  for (const Op& op : graph.ops()) {
    const OpClass op_class = info(op.kind).op_class;
    if (op_class == OpClass::matmul || op_class == OpClass::reduce || op_class == OpClass::scan ||
        op_class == OpClass::gather)
      for (ValueId result : op.results)
        if (is_sliced(result)) sliced_.push_back(result);
  }
}

/// Computes the held dims of each value, from the inputs to the outputs.
void SlicedValues::find_held() {
  for (const Op& op : graph_.ops()) {
    const Dims held = held_dims(op);
    note_reduced(op);
    const bool passes_on = is_elementwise(op) || keeps_all(op);
    const bool product =
        op.kind == OpKind::matmul ||
        (passes_on && llvm::any_of(op.operands, [&](ValueId v) { return product_[v.index]; }));
    for (ValueId result : op.results) {
      held_[result.index] = held;
      product_[result.index] = product;
    }
  }
}

void SlicedValues::note_reduced(const Op& op) {
  const OpClass op_class = info(op.kind).op_class;
  std::vector<Dim> extents;
  auto add = [&](const Dim& extent) {
    if (extents.size() < kMostExtents && !llvm::is_contained(extents, extent))
      extents.push_back(extent);
  };
  if (op_class == OpClass::reduce)
    for (int64_t axis : graph_.attributes<ReduceAttributes>(op).axes)
      add(graph_.type(op.operands[0]).shape[axis]);
  if (op_class == OpClass::reduce || op_class == OpClass::movement || is_elementwise(op))
    for (ValueId operand : op.operands) llvm::for_each(reduced_[operand.index], add);
  for (ValueId result : op.results) reduced_[result.index] = extents;
}

/// The dims along which a broadcast is held: a reduction over the same extent lies behind it.
SlicedValues::Dims SlicedValues::held_by_broadcast(const Op& op) const {
  const ValueId from = op.operands[0];
  const Shape& small = graph_.type(from).shape;
  const Shape& large = graph_.type(op.results[0]).shape;
  const size_t added = large.size() - small.size();
  const std::vector<Dim>& reduced = reduced_[from.index];
  Dims held = 0;
  for (size_t d = 0; d < large.size(); ++d) {
    const bool is_own = d >= added && small[d - added] == large[d];
    const bool is_held = is_own ? held_[from.index] >> (d - added) & 1
                                : is_held_extent(large[d], d + 1 == large.size()) &&
                                      llvm::is_contained(reduced, large[d]);
    held |= Dims(is_held) << d;
  }
  return held;
}

/// The dims of its results along which an op needs all elements together.
SlicedValues::Dims SlicedValues::held_dims(const Op& op) const {
  auto of = [&](size_t operand) { return held_[op.operands[operand].index]; };
  auto moved = [&](auto&& source) { // dims of the operand as dims of the result
    Dims held = 0;
    for (size_t d = 0; d < graph_.type(op.results[0]).shape.size(); ++d)
      if (const std::optional<size_t> from = source(d)) held |= (of(0) >> *from & 1) << d;
    return held;
  };
  if (is_elementwise(op)) {
    Dims held = 0;
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (graph_.type(op.operands[k]).rank() > 0) held |= of(k);
    return held;
  }
  if (info(op.kind).op_class == OpClass::scan)
    return of(0) | Dims(1) << graph_.attributes<ScanAttributes>(op).axis;
  if (info(op.kind).op_class == OpClass::reduce) {
    const auto& axes = graph_.attributes<ReduceAttributes>(op).axes; // in ascending order
    return moved([&](size_t d) -> std::optional<size_t> {
      for (int64_t axis : axes) d += static_cast<size_t>(axis) <= d;
      return d;
    });
  }
  if (op.kind == OpKind::broadcast) return held_by_broadcast(op);
  if (op.kind == OpKind::transpose)
    return moved([&](size_t d) -> std::optional<size_t> {
      return graph_.attributes<TransposeAttributes>(op).permutation[d];
    });
  if (op.kind != OpKind::reshape) return 0;
  const auto groups =
      group_dims(graph_.type(op.operands[0]).shape, graph_.type(op.results[0]).shape);
  return moved([&](size_t d) -> std::optional<size_t> {
    if (groups)
      for (const DimGroup& group : *groups)
        if (group.to_begin == d && group.to_end == d + 1 && group.from_end == group.from_begin + 1)
          return group.from_begin;
    return std::nullopt;
  });
}

SlicedValues::Goal SlicedValues::goal_behind(OpId user) const {
  const Op& op = graph_.op(user);
  if (op.kind == OpKind::matmul) return Goal::memory;
  const bool moves = info(op.kind).keeps_all() && op.kind != OpKind::broadcast;
  return moves ? goals_[op.results[0].index] : Goal::compute;
}

/// Computes the goal of each value, and whether it is needed whole, from the outputs back.
void SlicedValues::find_goals() {
  for (size_t id = graph_.ops().size(); id-- > 0;)
    for (ValueId value : graph_.ops()[id].results) {
      Goal& goal = goals_[value.index];
      for (OpId user : users_[value.index]) goal = std::max(goal, goal_behind(user));
      mostly_shown_[value.index] = show_most(value);
      whole_[value.index] = needs_whole(value);
    }
}

std::vector<size_t> SlicedValues::cut_dims(const Op& slice) const {
  const Shape& from = graph_.type(slice.operands[0]).shape;
  const Shape& to = graph_.type(slice.results[0]).shape;
  std::vector<size_t> dims;
  for (size_t d = 0; d < from.size(); ++d)
    if (!(from[d] == to[d])) dims.push_back(d);
  return dims;
}

/// The fraction of its operand that a slice selects.
double SlicedValues::share(const Op& slice) const {
  const Shape& from = graph_.type(slice.operands[0]).shape;
  const Shape& to = graph_.type(slice.results[0]).shape;
  double result = 1;
  for (size_t d : cut_dims(slice))
    result *= static_cast<double>(to[d].fixed()) / static_cast<double>(from[d].fixed());
  return result;
}

/// Whether a kernel can store the slice: it stores contiguous runs, not every other element
/// (Bindings::show).
bool SlicedValues::is_storable(const Op& slice) const {
  return llvm::all_of(cut_dims(slice), [&](size_t d) {
    return graph_.attributes<SliceAttributes>(slice).steps[d] == 1;
  });
}

/// Whether the slice's kernel stores it from rows that it holds anyway.
bool SlicedValues::is_stored_held(OpId slice) const {
  return is_returned(slice) &&
         llvm::all_of(cut_dims(graph_.op(slice)), [&](size_t d) { return is_held(slice, d); });
}

/// Whether the only uses of `value` are several slices that go to memory unchanged and together
/// select most of it.
bool SlicedValues::show_most(ValueId value) const {
  const std::vector<OpId>& users = users_[value.index];
  if (returned_[value.index] || users.size() < 2) return false;
  const Goal last = product_[value.index] ? Goal::memory : Goal::outputs;
  double shown = 0;
  for (OpId user : users) {
    const Op& op = graph_.op(user);
    if (op.kind != OpKind::slice || goes_to(user) > last || !is_storable(op)) return false;
    shown += share(op);
  }
  return shown >= kMost;
}

/// Whether `value` has users other than slices that can be pushed down. A matmul is no such user,
/// because it may compute the value in its mainloop.
bool SlicedValues::needs_whole(ValueId value) const {
  return returned_[value.index] || mostly_shown_[value.index] ||
         llvm::any_of(users_[value.index], [&](OpId user) {
           const Op& op = graph_.op(user);
           if (op.kind == OpKind::slice) return is_stored_held(user);
           if (is_elementwise(op) || keeps_all(op)) return bool(whole_[op.results[0].index]);
           return op.kind != OpKind::matmul;
         });
}

bool SlicedValues::stays(OpId slice) const {
  const Op& op = graph_.op(slice);
  const ValueId x = op.operands[0];
  return mostly_shown_[x.index] ||
         (is_returned(slice) && (is_stored_held(slice) || whole_[x.index]));
}

/// Whether the slice of the matmul's operand that this slice needs has no gaps and starts at an
/// address aligned for 16-byte accesses.
bool SlicedValues::is_aligned(const Op& slice, const Op& matmul) const {
  constexpr int64_t kAligned = 8; // 16-bit elements in 16 bytes
  const auto& part = graph_.attributes<SliceAttributes>(slice);
  const auto& flags = graph_.attributes<MatmulAttributes>(matmul);
  const Shape& shape = graph_.type(slice.operands[0]).shape;
  if (!(shape == graph_.type(matmul.results[0]).shape)) return false;
  return llvm::all_of(cut_dims(slice), [&](size_t d) {
    // A slice of the batch, or of rows whose elements are contiguous along K, begins a row in
    // memory.
    const bool inside_rows = (d + 2 == shape.size() && flags.transpose_a) ||
                             (d + 1 == shape.size() && !flags.transpose_b);
    return part.steps[d] == 1 && (!inside_rows || part.starts[d] % kAligned == 0);
  });
}

bool SlicedValues::is_sliced(ValueId result) const {
  constexpr double kAll = 1 + 1e-9; // shares are rounded
  constexpr size_t kMostSeen = 2 * kMostRepeatedOps;
  const Op& made_by = graph_.producer(result);
  bool is_aligned_product = made_by.kind == OpKind::matmul;
  double shown = 0;
  std::set<ValueId> seen = {result};
  std::vector<OpId> slices;
  std::vector<ValueId> open = {result};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (returned_[value.index] || seen.size() > kMostSeen) return false;
    for (OpId user : users_[value.index]) {
      const Op& op = graph_.op(user);
      if (op.kind == OpKind::slice) {
        if (llvm::is_contained(slices, user)) continue;
        slices.push_back(user);
        if (stays(user) || (shown += share(op)) > kAll || slices.size() > kMostSeen) return false;
        is_aligned_product = is_aligned_product && is_aligned(op, made_by);
      } else if (!is_elementwise(op) && !keeps_all(op) &&
                 info(op.kind).op_class != OpClass::reduce) {
        return false;
      } else {
        for (ValueId next : op.results)
          if (seen.insert(next).second) open.push_back(next);
      }
    }
  }
  if (shown < kMost) return shown > 0;
  // Computing everything at once costs less than the parts. The exception is two slices of a
  // product that end in one kernel.
  if (made_by.kind != OpKind::matmul) return slices.size() == 1;
  return is_aligned_product &&
         (slices.size() == 1 || (slices.size() == 2 && meet(slices[0], slices[1])));
}

/// Whether an op combines values computed elementwise from both slices at the same points, within
/// kMostRepeatedOps ops, so that one kernel can have all of them.
bool SlicedValues::meet(OpId first, OpId second) const {
  auto ops_behind = [&](OpId slice) {
    std::set<OpId> ops;
    std::vector<ValueId> open = {graph_.op(slice).results[0]};
    while (!open.empty() && ops.size() < kMostRepeatedOps) {
      const ValueId value = open.back();
      open.pop_back();
      for (OpId user : users_[value.index]) {
        const Op& op = graph_.op(user);
        if ((is_elementwise(op) || keeps_all(op)) && ops.insert(user).second)
          open.push_back(op.results[0]);
      }
    }
    return ops;
  };
  const std::set<OpId> behind = ops_behind(first);
  return llvm::any_of(ops_behind(second), [&](OpId op) { return behind.count(op) != 0; });
}

} // namespace ingot
