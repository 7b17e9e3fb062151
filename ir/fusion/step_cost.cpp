// SPDX-License-Identifier: Apache-2.0
// See step_cost.h.
#include "ir/fusion/step_cost.h"

#include "ir/fusion/prologue_cost.h"
#include "ir/fusion/tile_step.h"

#include <algorithm>

namespace ingot {

double columns_lost(const Group& group, const FusionLimits& limits) {
  if (group.matmuls.empty()) return 0;
  const StepDemand demand = step_demand(group.reductions);
  const auto tile = shared_segment_tile(demand, limits.widest_segment);
  const auto free = shared_segment_tile({demand.multiple, 0}, limits.widest_segment);
  if (demand.divides == 0 || !tile || !free) return 0;
  auto computed = [](const TileColumns& t) {
    return static_cast<double>(t.width) / static_cast<double>(t.step);
  };
  return std::max(0.0, computed(*tile) - computed(*free));
}

std::optional<Reason> costly_step(const Graph& graph, const Group& group,
                                  const FusionLimits& limits) {
  const double lost = columns_lost(group, limits);
  if (lost == 0) return std::nullopt;
  MatmulTile tile;
  if (limits.tile)
    if (auto chosen = limits.tile(group)) tile = *chosen;
  double depth = 0;
  for (const Matmul& matmul : group.matmuls) depth += usual_extent(group.space, matmul.contraction);
  double points = 1;
  for (const AtomList* atoms : {&group.domain.batch, &group.domain.rows, &group.domain.columns})
    points *= usual_extent(group.space, *atoms);
  const Op& matmul = graph.op(group.matmuls.front().op);
  const auto bytes = static_cast<double>(size_of(graph.type(matmul.results[0]).dtype));
  const double saved = 2 * points * bytes / limits.rates.bytes_per_second;
  const double spent = points * lost * depth / tile.products_per_second;
  if (spent <= saved) return std::nullopt;
  const StepDemand demand = step_demand(group.reductions);
  const auto shared = shared_segment_tile(demand, limits.widest_segment);
  const auto free = shared_segment_tile({demand.multiple, 0}, limits.widest_segment);
  return Reason{fmt::format("parts of rows of {} elements would leave {} of the {} columns of a "
                            "tile unused: {:.0f} us of products, where storing what is reduced and "
                            "reading it again costs {:.0f} us",
                            demand.divides, shared->width - shared->step, shared->width,
                            spent * 1e6, saved * 1e6),
                fmt::format("reduce parts of a multiple of {} elements", free->step)};
}

} // namespace ingot
