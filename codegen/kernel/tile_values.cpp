// SPDX-License-Identifier: Apache-2.0
// See tile_values.h.
#include "codegen/kernel/tile_values.h"

#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

TileValues::TileValues(const Graph& graph, const Group& group) : graph_(graph), group_(group) {
  for (size_t r = 0; r < group.reads.size(); ++r)
    reads_.try_emplace({group.reads[r].op, group.reads[r].operand}, read(r));
}

TileValue TileValues::read(size_t index) const {
  const Access& access = group_.reads[index].access;
  for (size_t r = 0; r < index; ++r) {
    const Access& other = group_.reads[r].access;
    if (group_.reads[index].tile && group_.reads[index].tile == group_.reads[r].tile &&
        other.value == access.value)
      return TileValue::read(r);
    if (!(other.value == access.value) || other.dims.size() != access.dims.size() ||
        other.ranges != access.ranges || !(other.shape == access.shape))
      continue;
    bool same = true;
    for (size_t d = 0; d < access.dims.size(); ++d)
      same = same && group_.space.leaves(other.dims[d]) == group_.space.leaves(access.dims[d]);
    if (same) return TileValue::read(r);
  }
  return TileValue::read(index);
}

TileValue TileValues::source(OpId op, uint32_t operand) const {
  if (auto read = reads_.find({op, operand}); read != reads_.end()) return read->second;
  return TileValue::value(root_of(graph_, graph_.op(op).operands[operand]));
}

llvm::SmallVector<TileValue, 3> TileValues::operands(const TileValue& value) const {
  if (value.is_read) return {};
  const OpId id = graph_.value(value.id()).op;
  const Op& op = graph_.op(id);
  const OpClass op_class = info(op.kind).op_class;
  if (op_class != OpClass::elementwise && op_class != OpClass::gather) return {};
  llvm::SmallVector<TileValue, 3> operands;
  for (uint32_t k = 0; k < op.operands.size(); ++k)
    if (!reads_memory(op, k)) operands.push_back(source(id, k));
  return operands;
}

bool is_product(const Group& group, const Graph& graph, ValueId value) {
  return group.sum ? value == group.sum->value : graph.producer(value).kind == OpKind::matmul;
}

bool is_computed_iota(const Graph& graph, const Read& read) {
  return graph.producer(read.access.value).kind == OpKind::iota &&
         !reads_memory(graph.op(read.op), read.operand);
}

} // namespace ingot
