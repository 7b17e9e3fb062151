// SPDX-License-Identifier: Apache-2.0
// See launch_shape.h.
#include "codegen/kernel/launch_shape.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/cuts.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/split_k.h"

namespace ingot {
namespace {

/// The most blocks of a grid. For more tiles, blocks take several each.
constexpr int64_t kMostBlocks = 2147483647;

/// True if the units of a kernel are tiles of the whole domain, not rows.
bool has_tiles(const Schedule& s) {
  return s.skeleton == Skeleton::held || s.skeleton == Skeleton::specialised ||
         computes_operand(s.mainloop);
}

/// The parts of a row under the split skeleton, one per block.
AxisParts shared_parts(const Schedule& s) { return {s.tile_n, s.parts}; }

LaunchShape launch_of(const Expr& units, const Schedule& s) {
  LaunchShape launch;
  launch.grid = {min(units, s.most_blocks > 0 ? s.most_blocks : kMostBlocks), 1, 1};
  launch.block = {s.threads, 1, 1};
  launch.shared_bytes = s.shared_bytes;
  launch.max_threads = s.threads;
  launch.min_blocks_per_sm = s.min_blocks_per_sm;
  launch.cluster = {s.cluster, 1, 1};
  return launch;
}

/// Clusters of the kept skeleton. Each has as many rows as the others, or one fewer.
LaunchShape kept_launch(const Expr& rows, const Schedule& s) {
  const Expr rounds = max(ceil_div(rows, s.most_blocks / s.cluster), 1);
  return launch_of(ceil_div(rows, rounds) * s.cluster, s);
}

} // namespace

LaunchShape tile_launch(const TileBody& body, const Schedule& s) {
  if (has_tiles(s)) return launch_of(tile_count(body, s) * split_parts(body, s), s);
  Expr units = row_tile_count(body, s.tile_m);
  if (s.skeleton == Skeleton::kept) return kept_launch(units, s);
  // Reductions of no elements have results too.
  if (s.skeleton == Skeleton::split)
    units = units * max(part_count(body.columns, shared_parts(s)), 1);
  return launch_of(units, s);
}

Expr tile_columns_of(const TileBody& body, const Schedule& s) {
  if (has_tiles(s)) return s.step_n;
  return s.skeleton == Skeleton::split ? part_width(body.columns, shared_parts(s)) : body.columns;
}

LaunchShape packing_launch(const PackedOperand& operand, const Schedule& s) {
  const int64_t aligned = facts_of(operand.format).in_blocks ? sizes::kPackedRows : 1;
  const Expr rows = ceil_div(dim_expr(operand.rows), aligned) * aligned;
  return launch_of(dim_expr(operand.batches) * ceil_div(rows, s.tile_m), s);
}

} // namespace ingot
