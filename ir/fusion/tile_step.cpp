// SPDX-License-Identifier: Apache-2.0
// See tile_step.h.
#include "ir/fusion/tile_step.h"

#include <algorithm>
#include <numeric>

namespace ingot {

StepDemand step_demand(llvm::ArrayRef<Reduction> reductions) {
  StepDemand demand;
  for (const Reduction& r : reductions) {
    if (!r.extent.is_fixed()) continue;
    if (!r.global)
      demand.multiple = std::lcm(demand.multiple, std::max<int64_t>(1, r.extent.fixed()));
    else if (r.span == ReduceSpan::segment)
      demand.divides = std::gcd(demand.divides, r.extent.fixed());
  }
  return demand;
}

namespace {

/// The part of a tile's columns that is not dropped.
double kept(const TileColumns& tile) {
  return static_cast<double>(tile.step) / static_cast<double>(tile.width);
}

/// What a column kept costs: an eighth more for each of what slows a tile down, which is accesses
/// of single elements, and a width that reads more of its operands or leaves fewer registers than
/// the usual one.
double cost_of(const TileColumns& tile) {
  const int narrow = tile.step % 4 != 0, unusual = tile.width != kUsualTileWidth;
  return (8 + narrow + unusual) / kept(tile);
}

} // namespace

std::optional<TileColumns> shared_segment_tile(const StepDemand& demand, int64_t widest) {
  double most_kept = 0;
  for (const int64_t width : kTileWidths)
    if (width <= widest)
      most_kept = std::max(most_kept, kept({width, width / demand.multiple * demand.multiple}));
  std::optional<TileColumns> best;
  for (const int64_t width : kTileWidths)
    for (int64_t step = demand.multiple; step <= width && width <= widest;
         step += demand.multiple) {
      const TileColumns tile{width, step};
      if (demand.divides % step == 0 && kept(tile) >= 0.75 * most_kept &&
          (!best || cost_of(tile) < cost_of(*best)))
        best = tile;
    }
  return best;
}

} // namespace ingot
