// SPDX-License-Identifier: Apache-2.0
// Decides whether the schedule of a kernel splits K. See codegen/kernel/split_k.h.
#include "codegen/kernel/split_k.h"

#include "codegen/schedule/choosers.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// One block adds all parts of a tile, at about the 150 GB/s that one SM reads from L2. That is 0.4
// us for the 64 KB of a part of 128 x 128. A part should take several times as long to compute: on
// tensor cores 512 of K take 3.5 us, in f32 FMA 256 of K take 11 us. Work of time T takes T / n +
// 0.4 us * n in n parts. The minimum is at n = sqrt(T / 0.4 us): 24 parts for T = 230 us, which is
// K = 34000 on tensor cores and 5400 in FMA. The minimum is flat, so that FMA has as many parts.
// Beyond that K the number grows with the root of K.
constexpr int64_t kTensorDepth = 512;
constexpr int64_t kFmaDepth = 256;
constexpr int64_t kUsualParts = 24, kDepthOfParts = 34000;
// The bound of promoted sums (tile/promotion.cuh) allows few parts.
constexpr int64_t kMostPartsOfK = 128;

/// The most parts of a contraction. A named K counts as kDepthOfParts.
int64_t most_parts(const Expr& depth) {
  const auto k = static_cast<double>(std::max(depth.constant().value_or(0), kDepthOfParts));
  const double parts = kUsualParts * std::sqrt(k / kDepthOfParts);
  return std::min(kMostPartsOfK, static_cast<int64_t>(parts));
}

} // namespace

SplitLimits split_limits(const ScheduleSite& site, const Schedule& s) {
  const bool slow = !s.uses_tensor_cores() || s.promote_every > 0;
  const auto& body = std::get<TileBody>(site.kernel.body);
  return {most_parts(depth_of(body)), slow ? kFmaDepth : kTensorDepth, site.device.sm_count};
}

void choose_split(const ScheduleSite& site, const SplitLimits& limits, Schedule& s) {
  if (site.kernel.program == ProgramKind::prepare) return; // state belongs to launches
  const auto& body = std::get<TileBody>(site.kernel.body);
  Schedule split = s;
  split.split_k = limits.parts;
  split.split_depth = limits.depth;
  split.split_blocks = limits.blocks;
  // Uses the most parts that any sizes give: a named extent may be small in the domain and large in
  // the contraction.
  constexpr int64_t kLongest = int64_t{1} << 20;
  auto at = [](const Expr& e, int64_t named) {
    return e.evaluate([&](llvm::StringRef) { return named; }).value_or(1);
  };
  const int64_t filling = split.split_blocks / std::max<int64_t>(1, at(tile_count(body, s), 1));
  if (filling >= 2 && at(depth_of(body), kLongest) >= 2 * split.split_depth) s = split;
}

} // namespace ingot
