// SPDX-License-Identifier: Apache-2.0
// See device_tile.h.
#include "codegen/kernel/device_tile.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

int to_int(int64_t value) { return static_cast<int>(value); }

} // namespace

sizes::Tile tile_of(const Schedule& s) {
  const int m = to_int(s.tile_m), n = to_int(s.tile_n), threads = to_int(s.threads);
  if (s.mainloop == MainloopKind::wgmma_swapped) return sizes::swapped_tile(m, n);
  if (s.uses_tensor_cores()) return sizes::mma_tile(m, n, to_int(s.warp_m), to_int(s.warp_n));
  if (s.mainloop != MainloopKind::none) return sizes::simt_tile(m, n);
  if (s.row_threads == RowThreads::along_rows)
    return sizes::lane_row_tile(threads, to_int(s.chunks), m / 32, 1);
  if (s.row_threads == RowThreads::along_both)
    return sizes::lane_row_tile(threads, to_int(s.chunks * s.vec), 1, to_int(s.vec));
  return sizes::row_tile(threads, to_int(s.per_row), to_int(s.chunks), to_int(s.vec),
                         to_int(s.cluster), to_int(s.rows_of_a_thread()));
}

Span span_of(ReduceSpan span) {
  switch (span) {
  case ReduceSpan::row: return Span::row;
  case ReduceSpan::segment: return Span::segment;
  case ReduceSpan::column: return Span::column;
  case ReduceSpan::matrix: return Span::matrix;
  }
  llvm_unreachable("not a span");
}

bool stays_in_rows(const TileBody& body, const Schedule& s) {
  return llvm::all_of(body.stages, [&](const Stage& stage) {
    if (const auto* reduce = std::get_if<ReduceStage>(&stage.step)) {
      const Span span = span_of(reduce->span);
      const bool of_rows = span == Span::row || span == Span::segment;
      return of_rows && sizes::sharing_of(tile_of(s), span, to_int(reduce->width)).warps == 1;
    }
    return std::holds_alternative<MapStage>(stage.step) ||
           std::holds_alternative<StoreStage>(stage.step);
  });
}

} // namespace ingot
