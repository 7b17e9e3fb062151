// SPDX-License-Identifier: Apache-2.0
// See wgmma.h.
#include "codegen/schedule/wgmma.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/halves.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/halves.h"
#include "ir/assumed_size.h"
#include "ir/fusion/tile_step.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

// Two warpgroups of 64 rows each share a tile, and a third one copies.
constexpr int64_t kTile = 128, kThreads = 3 * 128;

/// A product of packed halves, with the stages of an sm_80 schedule.
std::optional<Schedule> from_halves(const ScheduleSite& site, const Schedule& usual,
                                    int64_t slots) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const Dim columns = site.group.space.extent(site.group.domain.columns);
  const StepDemand demand = step_demand(site.group.reductions);
  const auto tile = tile_columns(demand, assumed(columns), kTile);
  if (!tile || tile->width > kTile) return std::nullopt;
  const std::optional<int64_t> depth = body.mainloops.front().depth.constant();
  Schedule s = usual;
  s.mainloop = MainloopKind::wgmma_halves;
  s.skeleton = Skeleton::specialised;
  s.tile_m = s.tile_n = kTile;
  s.step_n = tile->width == kTile ? tile->step : kTile / tile->step * tile->step;
  s.tile_k = sizes::kPackedDepth;
  s.threads = kThreads;
  s.min_blocks_per_sm = 1;
  s.most_blocks = site.device.sm_count;
  s.warp_m = 16;
  s.warp_n = kTile;
  s.slots = slots;
  s.promote_every = sizes::kPackedDepth;
  s.total_every = depth && *depth <= kTotalEvery ? 0 : kTotalEvery;
  if (usual.vec > 1) s.vec = std::gcd(s.step_n, int64_t{2});
  // Tiles begin with whole blocks of packed rows, and segments that span tiles with whole tiles.
  const bool is_one_tile = columns.is_fixed() && columns.fixed() <= s.step_n;
  if (!is_one_tile && s.step_n % sizes::kPackedRows != 0) return std::nullopt;
  if (demand.divides % s.step_n != 0) return std::nullopt;
  s.shared_bytes = shared_bytes(site.kernel, s);
  const int64_t guard_bytes = shared_bytes(site.kernel, guard_schedule(s));
  if (std::max(s.shared_bytes, guard_bytes) > site.device.shared_per_block) return std::nullopt;
  return s;
}

} // namespace

std::vector<std::vector<Schedule>> wgmma_candidates(const ScheduleSite& site,
                                                    llvm::ArrayRef<Schedule> usual) {
  std::vector<std::vector<Schedule>> result;
  if (usual.front().mainloop != MainloopKind::halves || site.group.matmuls.size() > 1)
    return result;
  for (int64_t slots : {3, 2}) {
    std::vector<Schedule> variants;
    for (const Schedule& schedule : usual)
      if (auto variant = from_halves(site, schedule, slots)) variants.push_back(*variant);
    if (variants.size() == usual.size()) result.push_back(std::move(variants));
  }
  return result;
}

} // namespace ingot
