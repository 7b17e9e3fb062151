// SPDX-License-Identifier: Apache-2.0
// See cuts.h.
#include "codegen/kernel/cuts.h"

#include "codegen/kernel/index_map.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
AtomList reduced_batch(const Group& group, const Reduction& reduction) {
  const AtomList reduced = group.space.leaves(reduction.reduced);
  AtomList batch;
  llvm::copy_if(group.domain.batch, std::back_inserter(batch),
                [&](Atom atom) { return llvm::is_contained(reduced, atom); });
  return batch;
}

Cuts cuts_of(const Group& group, const Schedule& schedule, const Reduction& reduction) {
  const AxisParts rows{schedule.tile_m, 0}, columns{schedule.step_n, 0};
  if (schedule.skeleton == Skeleton::split)
    return {{reduction.extent, {schedule.tile_n, schedule.parts}}};
  if (reduction.span == ReduceSpan::column) return {{reduction.extent, rows}};
  if (reduction.span != ReduceSpan::matrix) return {{reduction.extent, columns}};
  Cuts cuts;
  if (const AtomList batch = reduced_batch(group, reduction); !batch.empty())
    cuts.push_back({group.space.extent(batch), {}});
  cuts.push_back({group.space.extent(group.domain.rows), rows});
  cuts.push_back({group.space.extent(group.domain.columns), columns});
  return cuts;
}

Expr part_width(const Dim& extent, const AxisParts& parts) {
  if (parts.most == 0) return parts.unit;
  return max(ceil_div(ceil_div(dim_expr(extent), parts.unit), parts.most), 1) * parts.unit;
}

Expr part_count(const Dim& extent, const AxisParts& parts) {
  const Expr width = part_width(extent, parts);
  const Expr count = ceil_div(dim_expr(extent), width);
  // The width is at least extent / most: so said, a range of extents bounds the number.
  return width.constant() ? count : min(count, parts.most);
}

Expr part_count(const Cuts& cuts) {
  Expr product = 1;
  for (const Cut& cut : cuts) product = product * part_count(cut.extent, cut.parts);
  return product;
}

} // namespace ingot
