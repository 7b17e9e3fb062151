// SPDX-License-Identifier: Apache-2.0
// See operand_tile.h.
#include "ir/fusion/operand_tile.h"

#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

std::variant<Group, Refusal> analyze_computing(const GroupContext& context,
                                               const std::vector<OpId>& ops,
                                               const std::vector<StoreTarget>& targets,
                                               OpId matmul) {
  const OperandTile& operand = context.tiles.at(matmul);
  GroupContext part = context;
  part.tiles.erase(matmul);
  part.part = {.is_tile = true, .is_resident = operand.resident};
  auto analyzed = analyze_group(part, operand.ops, {StoreTarget::whole(operand.element)});
  const Group* tile = std::get_if<Group>(&analyzed);
  if (!tile) return analyzed;
  // Neither part computes a tensor that the other one reads from memory.
  for (const Read* read : memory_reads(*tile))
    if (const OpId op = context.graph.value(read->access.value).op; llvm::is_contained(ops, op))
      return refusals::stored_for_others(context.graph, operand.value, op);
  std::vector<OpId> behind;
  llvm::copy_if(ops, std::back_inserter(behind), [&](OpId op) {
    return !llvm::is_contained(operand.ops, op) &&
           llvm::none_of(operand.factors, [&](const RowFactor& f) { return f.op == op; });
  });
  part.tiles.clear();
  part.part = context.part;
  part.part.operand = &operand;
  part.part.tile = tile;
  auto kernel = analyze_group(part, behind, targets);
  auto* group = std::get_if<Group>(&kernel);
  if (!group) return kernel;
  for (const Read& read : group->reads)
    if (const OpId op = context.graph.value(read.access.value).op;
        !read.computed && llvm::is_contained(operand.ops, op))
      return refusals::stored_for_others(context.graph, operand.value, op);
  group->ops = ops;
  group->computed = {operand.value, operand.element, operand.factors,
                     std::make_shared<Group>(std::get<Group>(std::move(analyzed))),
                     operand.resident};
  return kernel;
}

bool place_tile(const Graph& graph, const Group& tile, const AxisSpace& space, const AtomList& dims,
                Group& group) {
  const OpId matmul = group.matmuls.front().op;
  const AxisSpace& others = tile.space;
  const AtomList dims_of_tile = others.leaves(tile.writes.front().access.dims);
  std::map<Atom, Atom> here; // atoms of the tile as atoms of this kernel
  bool is_same = dims.size() == dims_of_tile.size();
  for (size_t d = 0; is_same && d < dims.size(); ++d) {
    is_same = space.extent(dims[d]) == others.extent(dims_of_tile[d]);
    here[dims_of_tile[d]] = dims[d];
  }
  const auto matches = [&](llvm::ArrayRef<Atom> of_tile, llvm::ArrayRef<Atom> of_kernel) {
    return llvm::equal(of_tile, of_kernel, [&](Atom a, Atom b) {
      const auto found = here.find(a);
      return found != here.end() && found->second == b;
    });
  };
  is_same = is_same && matches(tile.domain.batch, group.domain.batch) &&
            matches(tile.domain.rows, group.domain.rows) &&
            matches(tile.domain.columns, group.matmuls.front().contraction);
  for (Read& read : group.reads) {
    const OpId source = graph.value(read.access.value).op;
    for (const Reduction& reduction : tile.reductions)
      if (reduction.op == source) {
        read.computed = true;
        is_same = is_same && matches(others.leaves(reduction.kept), space.leaves(read.access.dims));
      }
    read.computed |= read.op == matmul && read.operand == 0;
    // A slice may have as many rows, and others.
    const auto& ranges = read.access.ranges;
    is_same &= !read.computed ||
               llvm::all_of(ranges, [](const AxisRange& range) { return range == AxisRange(); });
  }
  return is_same;
}

} // namespace ingot
