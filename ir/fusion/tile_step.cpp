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
/// The least of that part, beside a tile without shared segments.
constexpr double kLeastKept = 0.75;

/// The cost of a kept column. Two properties slow a tile down, and each adds an eighth: accesses of
/// single elements, and a width that reads more of its operands or leaves fewer registers than the
/// usual one.
double cost_of(const TileColumns& tile) {
  const int narrow = tile.step % 4 != 0, unusual = tile.width != kUsualTileWidth;
  return (8 + narrow + unusual) / kept(tile);
}

/// The tile for segments that lie in one tile. Wide tiles leave few registers, so they are used
/// only if they must be.
TileColumns tile_of_whole_segments(int64_t multiple, int64_t columns) {
  const int64_t width = multiple > 128 ? 256 : multiple > 64 || columns > 64 ? 128 : 64;
  return {width, width / multiple * multiple};
}

} // namespace

std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t columns, int64_t widest) {
  if (demand.multiple > widest) return std::nullopt;
  const TileColumns whole = tile_of_whole_segments(demand.multiple, columns);
  if (demand.divides == 0) return whole;
  std::optional<TileColumns> best;
  for (const int64_t width : kTileWidths)
    for (int64_t step = demand.multiple; step <= width && width <= widest;
         step += demand.multiple) {
      const TileColumns tile{width, step};
      if (demand.divides % step == 0 && kept(tile) >= kLeastKept * kept(whole) &&
          (!best || cost_of(tile) < cost_of(*best)))
        best = tile;
    }
  return best;
}

std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t widest) {
  return tile_columns(demand, INT64_MAX, widest);
}

std::optional<int64_t> step_of_width(const StepDemand& demand, int64_t width, int64_t unit) {
  unit = std::lcm(unit, demand.multiple);
  const TileColumns whole{width, width / unit * unit};
  for (int64_t step = whole.step; step > 0 && kept({width, step}) >= kLeastKept * kept(whole);
       step -= unit)
    if (demand.divides % step == 0) return step;
  return std::nullopt;
}

} // namespace ingot
