// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h.
#include "codegen/kernel/shared_memory.h"

#include "codegen/kernel/stage_list.h"
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

int64_t state_bytes(const Graph& graph, const Op& op) {
  return state_bytes(op.kind, graph.type(op.operands[0]).dtype);
}

namespace {

/// The constants of tile/layout.cuh for one schedule.
struct LayoutNumbers {
  int64_t tile_rows, tile_cols, vec, row_warps, col_warps, run, warp_cols;
};

LayoutNumbers layout_of(const Schedule& s) {
  if (s.source == SourceKind::simt)
    return {s.tile_m, s.tile_n, 4, 1, 8, s.tile_m < 64 ? 128 : 64, s.tile_n};
  if (s.source == SourceKind::mma)
    return {s.tile_m, s.tile_n, 2, s.tile_n / s.warp_n, s.tile_m / s.warp_m, 8, s.warp_n};
  if (s.row_threads == RowThreads::along_rows)
    return {s.tile_m, s.tile_n, 1, s.threads / 32, 1, 1, 1};
  const int64_t lanes = std::min<int64_t>(s.per_row, 32);
  const int64_t row_warps = std::max<int64_t>(1, s.per_row / 32);
  return {s.tile_m,
          s.tile_n,
          s.vec,
          row_warps,
          s.threads / 32 / row_warps,
          lanes * s.vec,
          row_warps == 1 ? s.tile_n : lanes * s.vec};
}

/// ReduceTraits::kScratchBytes.
int64_t scratch_bytes(const Graph& graph, const Op& op, ReduceSpan span, int64_t width,
                      const LayoutNumbers& l) {
  const int64_t state = state_bytes(graph, op);
  const int64_t sweeps = reducer_of(op.kind)->sweeps;
  auto over_warps = [&](int64_t warps, int64_t results) {
    return warps > 1 ? sweeps * warps * results * state : 0;
  };
  if (span == ReduceSpan::row) return over_warps(l.row_warps, l.tile_rows);
  if (span == ReduceSpan::column) return over_warps(l.col_warps, l.tile_cols);
  if (span == ReduceSpan::matrix) return over_warps(l.row_warps * l.col_warps, 1);
  const int64_t packs = width / l.vec;
  const bool in_run =
      width <= l.run && l.run % width == 0 && width % l.vec == 0 && (packs & (packs - 1)) == 0;
  const bool in_warp = width % l.run == 0 && l.warp_cols % width == 0;
  const bool warps_aligned = width % l.warp_cols == 0 && l.tile_cols % width == 0 &&
                             l.tile_cols == l.warp_cols * l.row_warps;
  const int64_t results = l.tile_rows * std::max<int64_t>(1, l.tile_cols / width);
  if (in_run || in_warp) return 0;
  if (warps_aligned) return over_warps(width / l.warp_cols, results);
  const int64_t value = size_of(graph.type(op.operands[0]).dtype) == 8 ? 8 : 4;
  return results * static_cast<int64_t>(op.results.size()) * 8 +
         l.tile_rows * (l.tile_cols + 1) * value;
}

int64_t mainloop_bytes(const Graph& graph, const Group& group, const Schedule& s) {
  const int64_t stage = (s.tile_m + s.tile_n) * s.tile_k;
  if (s.source == SourceKind::simt) return (s.copies() ? s.stages : 2) * stage * 4;
  if (s.compute == ComputeType::f16x3) { // HalvesMainloop::kSharedBytes
    const int64_t safe = 2 * (64 + (s.tile_n < 128 ? 64 : 128)) * 16 * 4 + s.tile_m * s.tile_n * 4;
    const int64_t totals = s.total_every > 0 ? s.tile_m * s.tile_n * 4 : 0;
    const int64_t shifts = (s.tile_m + s.tile_n) * 4;
    return std::max(s.stages * stage * 4 + totals + shifts, safe);
  }
  if (s.source == SourceKind::mma)
    return s.stages * stage * (s.compute == ComputeType::tf32 ? 4 : 2);
  return 0;
}

} // namespace

int64_t shared_bytes(const Graph& graph, const Group& group, const Schedule& schedule) {
  const LayoutNumbers layout = layout_of(schedule);
  int64_t scratch = 0;
  for (const StageEntry& stage : reducing_stages(graph, group)) {
    if (stage.kind == StageKind::scan && layout.row_warps > 1) { // ScanPlan::kScratchBytes
      const int64_t pieces = schedule.row_threads == RowThreads::along_rows ? 1 : schedule.chunks;
      scratch += 2 * pieces * layout.row_warps * layout.tile_rows *
                 state_bytes(graph, graph.op(stage.reduction));
    }
    if (stage.kind != StageKind::reduce && stage.kind != StageKind::combine) continue;
    ReduceSpan span = ReduceSpan::row;
    int64_t width = 0;
    if (stage.kind == StageKind::reduce) {
      const auto& reduction = *llvm::find_if(
          group.reductions, [&](const Reduction& r) { return r.op == stage.reduction; });
      span = reduction.span_in_tile();
      if (span == ReduceSpan::segment) width = reduction.extent.fixed();
    }
    const int64_t bytes = scratch_bytes(graph, graph.op(stage.reduction), span, width, layout);
    scratch += (bytes + 15) / 16 * 16;
  }
  return std::max(scratch + staging_bytes(graph, group, schedule),
                  mainloop_bytes(graph, group, schedule));
}

} // namespace ingot
