// SPDX-License-Identifier: Apache-2.0
// See prologue_cost.h.
#include "ir/fusion/prologue_cost.h"

#include "ir/assumed_size.h"
#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

namespace ingot {
namespace {

/// The cost of a 16-bit operand that is not copied directly: an element that passes through
/// registers is converted, and stored by an instruction that a copy of 16 bytes does not need.
constexpr double kStaged16Bit = 3;

/// The width of tiles that meet no others.
constexpr int64_t kAllColumns = INT64_MAX;

/// Data that each tile reads again comes from the L2 cache.
constexpr double kCacheOverMemory = 2.5;

/// The factors of the batch along which any tensor of the operand varies.
AtomList operand_batch(const Graph& graph, const Group& group, const MatmulOperand& operand,
                       const AtomList& batch) {
  AtomList varying;
  auto add = [&](const Access& access) {
    const AtomList own = group.space.leaves(access.dims);
    for (Atom atom : batch)
      if (llvm::is_contained(own, atom) && !llvm::is_contained(varying, atom))
        varying.push_back(atom);
  };
  add(group.reads[operand.read].access);
  for (const Read& read : group.reads)
    if (llvm::is_contained(operand.prologue, read.op)) add(read.access);
  return varying;
}

} // namespace

std::string usual_sizes(const Graph& graph) {
  return graph.dim_names().empty() ? ""
                                   : fmt::format(", where each named size is {}", kAssumedSize);
}

double usual_extent(const AxisSpace& space, const AtomList& atoms) {
  double extent = 1;
  for (Atom atom : atoms) extent *= likely_count(space.extent(atom));
  return extent;
}

double seconds_saved(const Prologue& p, const MachineRates& rates) {
  return 2 * p.elements * p.stored / rates.bytes_per_second + rates.launch_seconds;
}

double seconds_spent(const Prologue& p, const MachineRates& rates) {
  const double again = std::max(0.0, p.fetched - p.stored) * (p.evaluations - 1);
  return p.elements * (p.evaluations * p.instructions / rates.instructions_per_second +
                       again / (kCacheOverMemory * rates.bytes_per_second));
}

Prologue prologue_of(const Graph& graph, const Group& group, const Matmul& matmul, size_t side,
                     const MatmulTile& tile) {
  const Domain& domain = group.domain;
  const AxisSpace& space = group.space;
  const AtomList& own = side == 0 ? domain.rows : domain.columns;
  const AtomList& other = side == 0 ? domain.columns : domain.rows;
  const int64_t step = side == 0 ? tile.columns : tile.rows;
  Prologue result;
  // Along a batch along which the operand does not vary, its elements are evaluated again.
  const AtomList held = operand_batch(graph, group, matmul.operands[side], domain.batch);
  const double batch = usual_extent(space, held);
  result.elements = batch * usual_extent(space, own) * usual_extent(space, matmul.contraction);
  result.evaluations = std::ceil(usual_extent(space, other) / static_cast<double>(step));
  if (batch > 0) result.evaluations *= usual_extent(space, domain.batch) / batch;
  const DType dtype = graph.type(graph.op(matmul.op).operands[side]).dtype;
  result.stored = static_cast<double>(size_of(dtype));
  if (size_of(dtype) == 2) result.instructions += kStaged16Bit;
  const MatmulOperand& operand = matmul.operands[side];
  for (OpId op : operand.prologue) result.instructions += info(graph.op(op).kind).instructions;
  std::set<ValueId> tensors;
  for (const Read& read : group.reads) {
    if (!llvm::is_contained(operand.prologue, read.op) || !tensors.insert(read.access.value).second)
      continue;
    const double bytes = usual_extent(space, space.leaves(read.access.dims)) *
                         static_cast<double>(size_of(graph.type(read.access.value).dtype));
    result.fetched += result.elements > 0 ? bytes / result.elements : 0;
  }
  return result;
}

std::optional<Reason> costly_prologue(const Graph& graph, const Group& group,
                                      llvm::ArrayRef<ValueId> values, const FusionLimits& limits) {
  MatmulTile tile;
  if (limits.tile)
    if (auto chosen = limits.tile(group)) tile = *chosen;
  double saved = 0, spent = 0, most = 0;
  ValueId value;
  std::set<ValueId> stored;
  const auto add = [&](const Group& part, const Matmul& matmul, const MatmulTile& of_part) {
    for (size_t side = 0; side < matmul.operands.size(); ++side) {
      const ValueId operand = root_of(graph, graph.op(matmul.op).operands[side]);
      if (!llvm::is_contained(values, operand)) continue;
      const Prologue prologue = prologue_of(graph, part, matmul, side, of_part);
      // An operand of both matmuls would be stored once.
      if (stored.insert(operand).second) saved += seconds_saved(prologue, limits.rates);
      spent += seconds_spent(prologue, limits.rates);
      if (prologue.evaluations <= most) continue;
      most = prologue.evaluations;
      value = operand;
    }
  };
  for (const Group* part : parts_of(group)) {
    for (const Matmul& matmul : part->matmuls) add(*part, matmul, tile);
    tile.columns = kAllColumns; // the tiles of computed operands go along all columns
  }
  if (spent <= saved) return std::nullopt;
  const std::string tiles =
      most == 1 ? "the one tile that reads it"
                : fmt::format("each of the {:.0f} tiles that read an element", most);
  return Reason{
      fmt::format(
          "{} would be computed again for {}: that takes {:.0f} us, and storing it and reading "
          "it back {:.0f} us{}",
          refusals::named(graph, graph.value(value).op), tiles, spent * 1e6, saved * 1e6,
          usual_sizes(graph)),
      kNoChange};
}

} // namespace ingot
