// SPDX-License-Identifier: Apache-2.0
// See split_k.h.
#include "codegen/kernel/split_k.h"

#include "codegen/kernel/index_map.h"

#include <algorithm>

namespace ingot {
namespace {

/// 1 where tiles are divided, else 0.
Expr is_divided(const Group& group, const Schedule& s) { return min(part_count(group, s) - 1, 1); }

} // namespace

Expr depth_of(const Group& group) {
  Expr depth = dim_expr(group.space.extent(group.matmuls.front().contraction));
  for (const Matmul& matmul : group.matmuls)
    depth = min(depth, dim_expr(group.space.extent(matmul.contraction)));
  return depth;
}

Expr tile_count(const Group& group, const Schedule& s) {
  auto extent = [&](const AtomList& factors) { return dim_expr(group.space.extent(factors)); };
  return extent(group.domain.batch) * ceil_div(extent(group.domain.rows), s.tile_m) *
         max(ceil_div(extent(group.domain.columns), s.step_n), 1);
}

Expr part_count(const Group& group, const Schedule& s) {
  if (s.scheduler != TileScheduler::split_k) return 1;
  const Expr filling = s.split_blocks / max(tile_count(group, s), 1);
  return max(min(min(filling, depth_of(group) / s.split_depth), s.split_k), 1);
}

Expr split_sums_bytes(const Group& group, const Schedule& s) {
  if (s.scheduler != TileScheduler::split_k) return 0;
  const int64_t tile = s.tile_m * s.tile_n * static_cast<int64_t>(group.matmuls.size()) * 4;
  return min(tile_count(group, s) * part_count(group, s), s.split_blocks) * tile *
         is_divided(group, s);
}

Expr split_arrivals_bytes(const Group& group, const Schedule& s) {
  if (s.scheduler != TileScheduler::split_k) return 0;
  return min(tile_count(group, s), s.split_blocks) * 4 * is_divided(group, s);
}

} // namespace ingot
