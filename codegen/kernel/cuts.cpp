// SPDX-License-Identifier: Apache-2.0
// See cuts.h.
#include "codegen/kernel/cuts.h"

#include "codegen/kernel/index_map.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The factors of the batch that a reduction over whole matrices also reduces.
AtomList reduced_batch(const Group& group, const Reduction& reduction) {
  const AtomList reduced = group.space.leaves(reduction.reduced);
  AtomList batch;
  llvm::copy_if(group.domain.batch, std::back_inserter(batch),
                [&](Atom atom) { return llvm::is_contained(reduced, atom); });
  return batch;
}

/// The first position of a tile along each extent that is cut.
std::vector<Expr> positions(const Group& group, const Reduction& r) {
  const Expr row = coordinate(Coordinate::row), col = coordinate(Coordinate::col);
  switch (r.span) {
  case ReduceSpan::row: return {col};
  case ReduceSpan::segment: return {col % dim_expr(r.extent)};
  case ReduceSpan::column: return {row};
  case ReduceSpan::matrix: break;
  }
  const AtomList batch = reduced_batch(group, r);
  if (batch.empty()) return {row, col};
  return {dense_index(group, {batch}, stage_coordinates(group)), row, col};
}

} // namespace

Cuts cuts_of(const Group& group, const Schedule& schedule, const Reduction& reduction) {
  const AxisParts rows{schedule.tile_m, 0}, columns{schedule.step_n, 0};
  const auto extent = [&](const AtomList& atoms) { return dim_expr(group.space.extent(atoms)); };
  const Expr reduced = dim_expr(reduction.extent);
  if (schedule.skeleton == Skeleton::split) return {{reduced, {schedule.tile_n, schedule.parts}}};
  if (reduction.span == ReduceSpan::column) return {{reduced, rows}};
  if (reduction.span != ReduceSpan::matrix) return {{reduced, columns}};
  Cuts cuts;
  if (const AtomList batch = reduced_batch(group, reduction); !batch.empty())
    cuts.push_back({extent(batch), {}});
  cuts.push_back({extent(group.domain.rows), rows});
  cuts.push_back({extent(group.domain.columns), columns});
  return cuts;
}

Expr part_width(const Expr& extent, const AxisParts& parts) {
  if (parts.most == 0) return parts.unit;
  return max(ceil_div(ceil_div(extent, parts.unit), parts.most), 1) * parts.unit;
}

Expr part_count(const Expr& extent, const AxisParts& parts) {
  const Expr width = part_width(extent, parts);
  const Expr count = ceil_div(extent, width);
  // The width is at least extent / most. In this form, a range of extents bounds the number of
  // parts.
  return width.constant() ? count : min(count, parts.most);
}

Expr state_count(const Cuts& cuts) {
  Expr product = 1;
  for (const Cut& cut : cuts) product = product * part_count(cut.extent, cut.parts);
  return product;
}

Expr state_number(const Group& group, const Reduction& reduction, const Cuts& cuts) {
  Expr number;
  for (const auto& [cut, position] : llvm::zip_equal(cuts, positions(group, reduction)))
    number =
        number * part_count(cut.extent, cut.parts) + position / part_width(cut.extent, cut.parts);
  return number;
}

} // namespace ingot
