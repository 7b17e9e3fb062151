// SPDX-License-Identifier: Apache-2.0
// See parts.h.
#include "codegen/parts.h"

#include "codegen/access.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {
namespace {

/// The width, where it is known: part_width of tile/partials.cuh.
std::optional<int64_t> fixed_width(const Dim& extent, const AxisParts& parts) {
  if (parts.most == 0) return parts.unit;
  if (!extent.is_fixed()) return std::nullopt;
  const int64_t units = (extent.fixed() + parts.unit - 1) / parts.unit;
  return std::max<int64_t>(1, (units + parts.most - 1) / parts.most) * parts.unit;
}

} // namespace

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

std::string part_width_code(const Dim& extent, const AxisParts& parts) {
  if (const auto width = fixed_width(extent, parts)) return fmt::format("{}", *width);
  return fmt::format("part_width({}, {}, {})", dim_code(extent), parts.unit, parts.most);
}

std::string part_count_code(const Dim& extent, const AxisParts& parts) {
  if (const auto width = fixed_width(extent, parts))
    return fmt::format("({} + {}) / {}", dim_code(extent), *width - 1, *width);
  return fmt::format("part_count({}, {}, {})", dim_code(extent), parts.unit, parts.most);
}

Expr part_count_limit(const Dim& extent, const AxisParts& parts) {
  if (const auto width = fixed_width(extent, parts)) return ceil_div(dim_expr(extent), *width);
  return min(ceil_div(dim_expr(extent), parts.unit), parts.most);
}

std::string part_count_code(const Cuts& cuts) {
  if (cuts.size() == 1) return part_count_code(cuts[0].extent, cuts[0].parts);
  std::string product;
  for (const Cut& cut : cuts)
    product +=
        fmt::format("{}({})", product.empty() ? "" : " * ", part_count_code(cut.extent, cut.parts));
  return product;
}

Expr part_count_limit(const Cuts& cuts) {
  Expr product = 1;
  for (const Cut& cut : cuts) product = product * part_count_limit(cut.extent, cut.parts);
  return product;
}

} // namespace ingot
