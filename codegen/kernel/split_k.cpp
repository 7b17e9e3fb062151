// SPDX-License-Identifier: Apache-2.0
// See split_k.h.
#include "codegen/kernel/split_k.h"

namespace ingot {
namespace {

/// 1 if tiles are divided, else 0.
Expr is_divided(const TileBody& body, const Schedule& s) {
  return min(split_parts(body, s) - 1, 1);
}

} // namespace

Expr depth_of(const TileBody& body) {
  Expr depth = body.mainloops.front().depth;
  // Without the k by which the first product is filled up to whole slots.
  if (body.sum_factor) return depth + body.mainloops.back().depth;
  for (const Mainloop& mainloop : body.mainloops) depth = min(depth, mainloop.depth);
  return depth;
}

Expr row_tile_count(const TileBody& body, int64_t tile_m) {
  return body.batch * ceil_div(body.rows, tile_m);
}

Expr tile_count(const TileBody& body, const Schedule& s) {
  const int64_t together = s.row_tiles_together();
  return row_tile_count(body, s.tile_m * together) * together *
         max(ceil_div(body.columns, s.step_n), 1);
}

Expr split_parts(const TileBody& body, const Schedule& s) {
  if (!s.splits_k()) return 1;
  const Expr filling = s.split_blocks / max(tile_count(body, s), 1);
  return max(min(min(filling, depth_of(body) / s.split_depth), s.split_k), 1);
}

Expr split_sums_bytes(const TileBody& body, const Schedule& s) {
  if (!s.splits_k()) return 0;
  int64_t tile = s.tile_m * s.tile_n * static_cast<int64_t>(product_slots(body)) * 4;
  for (const Stage& stage : body.stages) // tile/joined_parts.cuh: 8 bytes for a thread's row
    if (std::holds_alternative<CarriedStage>(stage.step)) tile += s.tile_threads() * s.warp_m;
  return min(tile_count(body, s) * split_parts(body, s), s.split_blocks) * tile *
         is_divided(body, s);
}

Expr split_arrivals_bytes(const TileBody& body, const Schedule& s) {
  if (!s.splits_k()) return 0;
  return min(tile_count(body, s), s.split_blocks) * 4 * is_divided(body, s);
}

} // namespace ingot
