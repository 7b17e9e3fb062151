// SPDX-License-Identifier: Apache-2.0
// See group_binder.h.
#include "ir/fusion/group_binder.h"

#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// Mainloops of one kernel: each has a tile of sums in registers.
constexpr size_t kMostMatmuls = 2;

} // namespace

/// Binds an operand of `reader`, and notes the read if it comes from memory.
std::optional<AtomShape> GroupBinder::bind(OpId reader, uint32_t operand, ValueId value) {
  auto bound = reads_tile(reader, value) ? bindings_.bind_alone(reader, value)
                                         : bindings_.bind(reader, value);
  if (auto* refused = std::get_if<Refusal>(&bound)) {
    refusal_ = *refused;
    return std::nullopt;
  }
  return note_read(reader, operand, std::get<Bound>(std::move(bound))).dims;
}

/// True if a stage reads a value of a resident tile. It lies along the columns there, and along K
/// for the product.
bool GroupBinder::reads_tile(OpId reader, ValueId value) const {
  const OperandTile* tile = context_.part.operand;
  return tile && tile->resident && graph_.op(reader).kind != OpKind::matmul &&
         llvm::is_contained(tile->ops, graph_.value(reached_from(context_, reader, value)).op);
}

/// Notes a read of `reader` if its bound operand comes from memory.
Bound GroupBinder::note_read(OpId reader, uint32_t operand, Bound bound) {
  if (bound.access) {
    const OpId source = graph_.value(bound.access->value).op;
    const bool combine = context_.global_reductions.count(source) != 0;
    group_.reads.push_back({reader, operand, *bound.access, combine});
  }
  return bound;
}

bool GroupBinder::equate(const AtomShape& a, const AtomShape& b, OpId op) {
  for (size_t d = 0; d < a.size(); ++d)
    if (!bindings_.space.equate(a[d], b[d]))
      return refuse(refusals::axes_split_differently(graph_, op, "their axes"));
  return true;
}

bool GroupBinder::bind_op(OpId id) {
  switch (info(graph_.op(id).kind).op_class) {
  case OpClass::elementwise: return bind_elementwise(id);
  case OpClass::reduce: return bind_reduce(id);
  case OpClass::matmul: return bind_matmul(id);
  case OpClass::gather: return bind_gather(id);
  case OpClass::scan: return bind_scan(id);
  case OpClass::source:
  case OpClass::movement: break;
  }
  INGOT_ASSERT(false);
  return false;
}

bool GroupBinder::bind_elementwise(OpId id) {
  const Op& op = graph_.op(id);
  std::optional<AtomShape> result;
  for (uint32_t k = 0; k < op.operands.size(); ++k) {
    auto dims = bind_operand(id, k);
    if (!dims) return false;
    if (graph_.type(op.operands[k]).rank() == 0) continue;
    if (result && !equate(*result, *dims, id)) return false;
    if (!result) result = dims;
  }
  bindings_.define(op.results[0], result.value_or(AtomShape{}));
  return true;
}

bool GroupBinder::bind_others(OpId id, uint32_t left_out, const AtomShape& dims) {
  for (uint32_t k = 0; k < graph_.op(id).operands.size(); ++k) {
    if (k == left_out) continue;
    const auto own = bind_operand(id, k); // a scalar has no dims
    if (!own || !equate(*own, dims, id)) return false;
  }
  return true;
}

bool GroupBinder::bind_reduce(OpId id) {
  const Op& op = graph_.op(id);
  auto operand = bind_operand(id, 0);
  if (!operand) return false;
  AtomShape kept, reduced;
  for (size_t d = 0; d < operand->size(); ++d)
    (llvm::is_contained(graph_.attributes<ReduceAttributes>(op).axes, static_cast<int64_t>(d))
         ? reduced
         : kept)
        .push_back((*operand)[d]);
  for (ValueId value : op.results) bindings_.define(value, kept);
  Dim extent = 1;
  for (int64_t axis : graph_.attributes<ReduceAttributes>(op).axes)
    extent = extent * graph_.type(op.operands[0]).shape[axis];
  group_.reductions.push_back({id, ReduceSpan::row, extent, false, 0, kept, reduced});
  reduced_values_.push_back(*operand);
  return true;
}

/// Checks that an operand that must be stored is stored. A table is read at a computed index and
/// cannot be computed there. An operand of a matmul can.
bool GroupBinder::check_stored(OpId id, uint32_t operand) {
  const ValueId root = reached_from(context_, id, graph_.op(id).operands[operand]);
  const OpKind kind = graph_.producer(root).kind;
  if (bindings_.defines(root))
    return graph_.op(id).kind == OpKind::matmul || refuse(refusals::operand_computed(graph_, id));
  if (is_computed_source(kind) && !context_.in_memory.count({id, root}))
    return refuse(refusals::operand_is_number(graph_, id, root));
  if (context_.global_reductions.count(graph_.value(root).op))
    return refuse(refusals::partials_elsewhere(graph_, graph_.value(root).op));
  return true;
}

bool GroupBinder::bind_gather(OpId id) {
  const Op& op = graph_.op(id);
  if (!check_stored(id, 0)) return false;
  auto index = bind_operand(id, 1);
  if (!index) return false;
  // The table is read at points of its own, apart from other reads of it.
  auto bound = bindings_.bind_alone(id, op.operands[0]);
  if (auto* refused = std::get_if<Refusal>(&bound)) {
    refusal_ = *refused;
    return false;
  }
  const Bound& table = std::get<Bound>(bound);
  const auto axis = static_cast<size_t>(graph_.attributes<AxisAttributes>(op).axis);
  for (size_t d = 0; d < index->size(); ++d)
    if (d != axis && !bindings_.space.equate((*index)[d], table.dims[d])) {
      refuse(refusals::axes_split_differently(graph_, id, "their axes"));
      refusal_.store = op.operands[0];
      return false;
    }
  group_.reads.push_back({id, 0, *table.access, false, table.dims[axis]});
  bindings_.define(op.results[0], *index);
  return true;
}

/// True if an operand of a matmul depends on the result of another matmul of the group.
bool GroupBinder::reads_product(OpId id) const {
  std::set<OpId> seen;
  std::vector<OpId> open = {id};
  while (!group_.matmuls.empty() && !open.empty()) {
    const OpId reader = open.back();
    open.pop_back();
    for (ValueId operand : graph_.op(reader).operands) {
      const ValueId value = reached_from(context_, reader, operand);
      const OpId op = graph_.value(value).op;
      if (!bindings_.defines(value) || !seen.insert(op).second) continue;
      if (graph_.op(op).kind == OpKind::matmul) return true;
      open.push_back(op);
    }
  }
  return false;
}

bool GroupBinder::bind_matmul(OpId id) {
  const Op& op = graph_.op(id);
  if (reads_product(id)) return refuse(refusals::second_matmul(graph_, id));
  if (group_.matmuls.size() == kMostMatmuls) return refuse(refusals::third_matmul(graph_, id));
  for (const Matmul& other : group_.matmuls)
    if (graph_.type(graph_.op(other.op).operands[0]).dtype != graph_.type(op.operands[0]).dtype)
      return refuse(refusals::products_of_types(graph_, other.op, id));
  if (!check_stored(id, 0) || !check_stored(id, 1)) return false;
  auto a = bind_operand(id, 0);
  auto b = a ? bind_operand(id, 1) : std::nullopt;
  if (!b) return false;
  const auto& attributes = graph_.attributes<MatmulAttributes>(op);
  if (attributes.transpose_a) std::swap((*a)[a->size() - 1], (*a)[a->size() - 2]);
  if (attributes.transpose_b) std::swap((*b)[b->size() - 1], (*b)[b->size() - 2]);
  const size_t batch = a->size() - 2;
  for (size_t d = 0; d < batch; ++d)
    if (!bindings_.space.equate((*a)[d], (*b)[d]))
      return refuse(refusals::axes_split_differently(graph_, id, "their batch"));
  if (!bindings_.space.equate((*a)[batch + 1], (*b)[batch]))
    return refuse(refusals::axes_split_differently(graph_, id, "K"));
  AtomShape result(a->begin(), a->end() - 1);
  result.push_back((*b)[batch + 1]);
  bindings_.define(op.results[0], result);
  group_.matmuls.push_back({id, {}, {}});
  matmuls_.push_back({*a, *b, std::move(result)});
  return true;
}

bool GroupBinder::bind_scan(OpId id) {
  if (group_.scan) return refuse(refusals::second_scan(graph_, id));
  auto operand = bind_operand(id, 0);
  if (!operand) return false;
  group_.scan = id;
  scanned_ = (*operand)[graph_.attributes<ScanAttributes>(graph_.op(id)).axis];
  bindings_.define(graph_.op(id).results[0], *operand);
  return true;
}

/// Places merged results that no op reads, which may lie at any points. If others that are merged
/// here have as many elements, they share points, so that one kernel merges both.
bool GroupBinder::place_merged(size_t read) {
  const Access& own = group_.reads[read].access;
  if (!group_.reads[read].combine) return true;
  const OpId op = graph_.value(own.value).op;
  const Access* beside = nullptr;
  for (const Read& other : llvm::ArrayRef(group_.reads).take_front(read)) {
    if (!other.combine) continue;
    if (other.access.value == own.value) return true;
    if (!(element_count(other.access.shape) == element_count(own.shape))) continue;
    if (!beside || graph_.value(other.access.value).op == op) beside = &other.access;
  }
  if (!beside) return true;
  AtomList mine, others;
  for (const AtomList& atoms : own.dims) mine.append(atoms);
  for (const AtomList& atoms : beside->dims) others.append(atoms);
  return bindings_.space.equate(mine, others) ||
         refuse(refusals::axes_split_differently(graph_, op, "their results"));
}

bool GroupBinder::bind_target(const StoreTarget& target) {
  const OpId reader = graph_.value(target.into).op;
  const size_t reads = group_.reads.size();
  // A dense tensor's bytes do not depend on its shape: reshapes are skipped.
  ValueId stored = target.value;
  while (target.into == target.value && graph_.producer(stored).kind == OpKind::reshape &&
         !context_.in_memory.count({reader, stored}))
    stored = graph_.producer(stored).operands[0];
  auto bound = bindings_.bind_stored(reader, stored);
  if (auto* refused = std::get_if<Refusal>(&bound)) return refuse(*refused);
  const Bound b = note_read(reader, target.part, std::get<Bound>(std::move(bound)));
  Write write{target.into, reached_from(context_, reader, target.value), {}, std::nullopt};
  if (group_.reads.size() > reads) {
    write.read = static_cast<uint32_t>(reads);
    if (!place_merged(reads)) return false;
  }
  const ValueId shaped = target.into == target.value ? stored : target.into;
  write.access = {target.into, graph_.type(shaped).shape, b.dims, b.shown};
  for (const auto& [dims, part] : b.dropped) {
    write.access.shape.insert(write.access.shape.begin(), Dim(1));
    write.access.dims.insert(write.access.dims.begin(), dims);
    write.access.ranges.insert(write.access.ranges.begin(), part);
  }
  if (!(target.into == target.value)) {
    const Op& concat = graph_.op(reader);
    const auto axis = static_cast<size_t>(graph_.attributes<AxisAttributes>(concat).axis);
    write.access.ranges.resize(write.access.dims.size());
    Dim& start = write.access.ranges[b.dropped.size() + axis].start;
    for (uint32_t part = 0; part < target.part; ++part)
      start = start + graph_.type(concat.operands[part]).shape[axis];
  }
  group_.writes.push_back(std::move(write));
  return true;
}

} // namespace ingot
