// SPDX-License-Identifier: Apache-2.0
// See wgmma.h.
#include "codegen/schedule/wgmma.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/choosers.h"
#include "ir/assumed_size.h"
#include "ir/fusion/tile_step.h"

#include <numeric>

namespace ingot {
namespace {

// Two warpgroups of 64 rows each share a tile, and a third one copies. Sums of more than 2048
// products would pass the promised error, so longer ones have totals.
constexpr int64_t kTile = 128, kThreads = 3 * 128, kTotalEvery = 2048;

/// A product of packed halves, with the stages of an sm_80 schedule.
std::optional<Schedule> from_halves(const ScheduleSite& site, const Schedule& usual,
                                    int64_t slots) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const Dim columns = site.group.space.extent(site.group.domain.columns);
  const auto tile = tile_columns(step_demand(site.group.reductions), assumed(columns), kTile);
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
  s.shared_bytes = shared_bytes(site.kernel, s);
  if (s.shared_bytes > site.device.shared_per_block) return std::nullopt;
  return s;
}

} // namespace

std::vector<std::vector<Schedule>> wgmma_candidates(const ScheduleSite& site,
                                                    llvm::ArrayRef<Schedule> usual) {
  std::vector<std::vector<Schedule>> result;
  if (site.options.family != Family::sm_90a || site.group.matmuls.empty() ||
      usual.front().mainloop != MainloopKind::halves || usual.front().splits_k() ||
      site.group.matmuls.size() > 1)
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
