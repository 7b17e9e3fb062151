// SPDX-License-Identifier: Apache-2.0
// See step_cost.h.
#include "ir/fusion/step_cost.h"

#include "ir/fusion/prologue_cost.h"
#include "ir/fusion/tile_step.h"

#include <algorithm>

namespace ingot {

namespace {

/// The step of a kernel with shared segments, and the step that it would have without them.
struct SharedStep {
  StepDemand demand;
  TileColumns shared, free;

  /// Columns that are computed and dropped for each one kept, beyond those without shared segments.
  double lost() const {
    auto computed = [](const TileColumns& tile) {
      return static_cast<double>(tile.width) / static_cast<double>(tile.step);
    };
    return std::max(0.0, computed(shared) - computed(free));
  }
};

std::optional<SharedStep> shared_step(const Group& group, const FusionLimits& limits) {
  if (group.matmuls.empty()) return std::nullopt;
  const StepDemand demand = step_demand(group.reductions);
  const auto shared = tile_columns(demand, limits.widest_segment);
  const auto free = tile_columns({demand.multiple, 0}, limits.widest_segment);
  if (demand.divides == 0 || !shared || !free) return std::nullopt;
  return SharedStep{demand, *shared, *free};
}

} // namespace

double columns_lost(const Group& group, const FusionLimits& limits) {
  const auto step = shared_step(group, limits);
  return step ? step->lost() : 0;
}

std::optional<Reason> costly_step(const Graph& graph, const Group& group,
                                  const FusionLimits& limits) {
  const auto step = shared_step(group, limits);
  const double lost = step ? step->lost() : 0;
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
  const auto& [demand, shared, free] = *step;
  return Reason{
      fmt::format("segments of {} elements would leave {} of the {} columns of a "
                  "tile unused: that takes {:.0f} us, and storing the product and reading "
                  "it back {:.0f} us{}",
                  demand.divides, shared.width - shared.step, shared.width, spent * 1e6,
                  saved * 1e6, usual_sizes(graph)),
      fmt::format("reduce segments of a multiple of {} elements", free.step)};
}

} // namespace ingot
