// SPDX-License-Identifier: Apache-2.0
// See operand_tile.h.
#include "ir/fusion/operand_tile.h"

#include "ir/fusion/operands.h"
#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The axes of a kernel and of its operand's tile in one space, where both have the operand's axes.
class JoinedAxes {
public:
  JoinedAxes(const AxisSpace& kernel, const AxisSpace& tile)
      : kernel_{kernel, {}}, tile_{tile, {}} {}

  /// Joins the operand's axes. Returns false if their factors do not line up.
  bool join(llvm::ArrayRef<Atom> of_kernel, llvm::ArrayRef<Atom> of_tile) {
    return joined_.equate(joined(kernel_, of_kernel), joined(tile_, of_tile));
  }
  /// True if axes count the same points in one order, whatever their factors are.
  bool match(llvm::ArrayRef<Atom> of_kernel, llvm::ArrayRef<Atom> of_tile) {
    const AtomList mine = joined(kernel_, of_kernel), other = joined(tile_, of_tile);
    return joined_.leaves(mine) == joined_.leaves(other);
  }

private:
  struct Side {
    const AxisSpace& space;
    std::map<Atom, AtomList> joined;
  };
  AtomList joined(Side& side, llvm::ArrayRef<Atom> atoms) {
    AtomList result;
    for (Atom atom : atoms) {
      const auto [known, is_new] = side.joined.try_emplace(atom);
      if (is_new) known->second = joined_.fresh(side.space.extent(atom));
      result.append(known->second);
    }
    return result;
  }

  AxisSpace joined_;
  Side kernel_, tile_;
};

AtomList batch_and_rows(const Domain& domain) {
  AtomList all = domain.batch;
  all.append(domain.rows);
  return all;
}

/// The extents of a kernel's batch and rows.
struct Cut {
  Shape batch, rows;
};

Cut cut_of(const Domain& domain, const AxisSpace& space) {
  Cut cut;
  for (Atom atom : domain.batch) cut.batch.push_back(space.extent(atom));
  for (Atom atom : domain.rows) cut.rows.push_back(space.extent(atom));
  return cut;
}

/// True if a kernel with these batch and rows can read as it does: operand B has one matrix for all
/// rows, and merged results are of rows.
bool allows_cut(const Group& group, const AxisSpace& space, const Read& read) {
  const Matmul& matmul = group.matmuls.front();
  const bool is_of_b = (read.op == matmul.op && read.operand == 1) ||
                       llvm::is_contained(matmul.operands[1].prologue, read.op);
  if (!is_of_b && !(read.combine && !read.at_points)) return true;
  const AtomList& without = is_of_b ? group.domain.rows : group.domain.batch;
  return llvm::none_of(space.leaves(read.access.dims),
                       [&](Atom atom) { return llvm::is_contained(without, atom); });
}

/// Counts the points of a group as a batch and rows of other extents. `space` has the group's axes.
/// Returns false if the group cannot read so. The group is then unspecified.
bool count_as(const Cut& cut, AxisSpace& space, Group& group) {
  if (element_count(cut.batch) == space.extent(group.domain.batch)) return true;
  const AtomShape batch = space.fresh(cut.batch), rows = space.fresh(cut.rows);
  AtomShape all = batch;
  all.append(rows.begin(), rows.end());
  if (!space.equate(batch_and_rows(group.domain), space.leaves(all))) return false;
  group.domain.batch = space.leaves(batch);
  group.domain.rows = space.leaves(rows);
  return llvm::all_of(group.reads,
                      [&](const Read& read) { return allows_cut(group, space, read); });
}

/// True if a tile and those that it computes in turn can have the batch and rows of `cut`.
bool can_count_as(const Cut& cut, const Group& tile) {
  return llvm::all_of(parts_of(tile), [&](const Group* part) {
    Group copy = *part;
    return count_as(cut, copy.space, copy);
  });
}

/// Marks the reads of a group that are values of its tiles, at the group's points. The tiles have
/// its rows.
void mark_tile_reads(const Graph& graph, const Group& tile, const AxisSpace& space, Group& group) {
  AtomList points = batch_and_rows(group.domain);
  points.append(group.domain.columns);
  for (const auto& [number, of] : llvm::enumerate(parts_of(tile)))
    for (Read& read : group.reads) {
      const bool is_value = llvm::any_of(
          of->writes, [&](const Write& write) { return write.value == read.access.value; });
      const auto& ranges = read.access.ranges;
      if (!is_value || read.computed || !read.indexed.empty() ||
          graph.op(read.op).kind == OpKind::matmul || in_prologue(group, read.op) ||
          space.leaves(read.access.dims) != space.leaves(points) ||
          !llvm::all_of(ranges, [](const AxisRange& range) { return range == AxisRange(); }) ||
          !(space.extent(group.domain.columns) == of->space.extent(of->domain.columns)))
        continue;
      read.computed = true;
      read.tile = static_cast<uint32_t>(number);
    }
}

} // namespace

std::variant<Group, Refusal> analyze_computing(const GroupContext& context,
                                               const std::vector<OpId>& ops,
                                               const std::vector<StoreTarget>& targets,
                                               OpId matmul) {
  const OperandTile& operand = context.tiles.at(matmul);
  GroupContext part = context;
  part.tiles.erase(matmul);
  part.part = {.is_tile = true, .is_resident = operand.resident};
  std::vector<StoreTarget> values = {StoreTarget::whole(operand.element)};
  for (ValueId value : operand.kept) values.push_back(StoreTarget::whole(value));
  auto analyzed = analyze_group(part, operand.ops, values);
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
  // All parts of the kernel have its batch and rows.
  Group& part_of_a = std::get<Group>(analyzed);
  for (Group* one : parts_of(part_of_a))
    count_as(cut_of(group->domain, group->space), one->space, *one);
  group->ops = ops;
  group->computed = {
      operand.value,    operand.element,
      operand.factors,  std::make_shared<Group>(std::get<Group>(std::move(analyzed))),
      operand.resident, operand.kept};
  return kernel;
}

bool place_tile(const Graph& graph, const Group& tile, AxisSpace& space, const AtomList& dims,
                Group& group) {
  const OpId matmul = group.matmuls.front().op;
  JoinedAxes axes(space, tile.space);
  bool is_same = axes.join(dims, tile.space.leaves(tile.writes.front().access.dims)) &&
                 axes.match(batch_and_rows(group.domain), batch_and_rows(tile.domain)) &&
                 axes.match(group.matmuls.front().contraction, tile.domain.columns);
  for (Read& read : group.reads) {
    const OpId source = graph.value(read.access.value).op;
    for (const Reduction& reduction : tile.reductions)
      if (reduction.op == source) {
        read.computed = true;
        is_same = is_same &&
                  axes.match(space.leaves(read.access.dims), tile.space.leaves(reduction.kept));
      }
    read.computed |= read.op == matmul && read.operand == 0;
    // A slice may have as many rows, and others.
    const auto& ranges = read.access.ranges;
    is_same &= !read.computed ||
               llvm::all_of(ranges, [](const AxisRange& range) { return range == AxisRange(); });
  }
  if (!is_same) return false;
  mark_tile_reads(graph, tile, space, group);
  // Where the tile needs other matrices along the rows, they are a batch of the kernel.
  return can_count_as(cut_of(group.domain, space), tile) ||
         count_as(cut_of(tile.domain, tile.space), space, group);
}

} // namespace ingot
