// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h.
#include "codegen/kernel/shared_memory.h"

#include "codegen/kernel/widths.h"

#include <algorithm>

namespace ingot {

int64_t state_bytes(const Reducer& reducer) {
  switch (reducer.op) {
  case OpKind::argmax:
  case OpKind::argmin: return 16;
  case OpKind::max_sumexp: return 8;
  case OpKind::moments: return 12;
  default: return size_of(reducer.dtype) == 8 ? 8 : 4;
  }
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

int64_t rounded_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }

/// ReduceTraits::kScratchBytes.
int64_t reduce_bytes(const Reducer& reducer, ReduceSpan span, int64_t width,
                     const LayoutNumbers& l) {
  const int64_t state = state_bytes(reducer);
  const int64_t sweeps = reducer.op == OpKind::moments || reducer.op == OpKind::max_sumexp ? 2 : 1;
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
  const int64_t value = size_of(reducer.dtype) == 8 ? 8 : 4;
  return results * info(reducer.op).results * 8 + l.tile_rows * (l.tile_cols + 1) * value;
}

/// ScanPlan::kScratchBytes.
int64_t scan_bytes(const Reducer& reducer, const Schedule& s, const LayoutNumbers& l) {
  const int64_t pieces = s.row_threads == RowThreads::along_rows ? 1 : s.chunks;
  return l.row_warps > 1 ? 2 * pieces * l.row_warps * l.tile_rows * state_bytes(reducer) : 0;
}

/// What all reductions, merges and scans of the stages take, each for itself.
int64_t scratch_bytes(const TileBody& body, const Schedule& s) {
  const LayoutNumbers layout = layout_of(s);
  int64_t bytes = 0;
  for (const Stage& stage : body.stages) {
    if (const auto* scan = std::get_if<ScanStage>(&stage.step))
      bytes += scan_bytes(scan->reducer, s, layout);
    if (const auto* reduce = std::get_if<ReduceStage>(&stage.step))
      bytes += rounded_up(reduce_bytes(reduce->reducer, reduce->span, reduce->width, layout));
    if (const auto* merge = std::get_if<MergeStage>(&stage.step); merge && !merge->at_points)
      bytes += rounded_up(reduce_bytes(merge->reducer, ReduceSpan::row, 0, layout));
  }
  return bytes;
}

int64_t mainloop_bytes(const Schedule& s) {
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

int64_t shared_bytes(const Kernel& kernel, const Schedule& s) {
  const auto* body = std::get_if<TileBody>(&kernel.body);
  if (!body) return s.tile_m * (s.tile_k + 4) * 4; // Halving::kSharedBytes
  return std::max(scratch_bytes(*body, s) + staging_bytes(kernel, s), mainloop_bytes(s));
}

} // namespace ingot
