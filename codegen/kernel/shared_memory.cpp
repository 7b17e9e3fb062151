// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h.
#include "codegen/kernel/shared_memory.h"

#include "codegen/kernel/device_tile.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/walks.h"
#include "codegen/kernel/widths.h"

#include <algorithm>

namespace ingot {
namespace {

int to_int(int64_t value) { return static_cast<int>(value); }

sizes::Reducer sizes_of(const Reducer& reducer) {
  const int value = size_of(reducer.dtype) == 8 ? 8 : 4; // in registers
  return {to_int(state_bytes(reducer)), value, info(reducer.op).results};
}

/// The scratch memory of the stages. Each reduction, merge and scan has a region of its own.
int64_t scratch_bytes(const TileBody& body, const Schedule& s) {
  const sizes::Tile tile = tile_of(s);
  const auto of = [&](const Reducer& reducer, Span span, int64_t width) {
    return sizes::region(sizes::reduce_bytes(tile, span, to_int(width), sizes_of(reducer)));
  };
  int64_t bytes = 0;
  for (const Stage& stage : body.stages) {
    if (const auto* reduce = std::get_if<ReduceStage>(&stage.step))
      bytes += of(reduce->reducer, span_of(reduce->span), reduce->width);
    if (const auto* merge = std::get_if<MergeStage>(&stage.step); merge && !merge->at_points)
      bytes += of(merge->reducer, Span::row, 0);
    if (const auto* scan = std::get_if<ScanStage>(&stage.step)) {
      const int pieces = s.row_threads == RowThreads::along_rows ? 1 : to_int(s.chunks);
      bytes += sizes::scan_bytes(tile, pieces, sizes_of(scan->reducer).state);
    }
  }
  return bytes;
}

/// The memory in which the stores stage their rows, one after another.
int64_t staging_bytes(const Kernel& kernel, const Schedule& s) {
  if (!stages_rows(kernel, s)) return 0;
  return sizes::staging_bytes(to_int(s.tile_threads() / 32), to_int(s.warp_m));
}

/// `products`: the matmuls of the kernel.
int64_t mainloop_bytes(const Schedule& s, int products) {
  const int m = to_int(s.tile_m), n = to_int(s.tile_n), k = to_int(s.tile_k);
  const int slots = to_int(s.slots), element = to_int(facts_of(s.compute).operand_bytes);
  switch (s.mainloop) {
  case MainloopKind::none: return 0;
  case MainloopKind::staged_fma: return sizes::simt_bytes(m, n, k);
  case MainloopKind::copied_fma:
  case MainloopKind::tensor:
  case MainloopKind::tensor_guard: return slots * sizes::stage_bytes(m, n, k, element);
  case MainloopKind::thirds: return sizes::thirds_bytes(m, n, k, slots, s.total_every > 0);
  case MainloopKind::halves: return sizes::halves_bytes(m, n, k, slots, s.total_every > 0);
  case MainloopKind::wgmma:
  case MainloopKind::wgmma_swapped:
  case MainloopKind::wgmma_halves:
    return sizes::slot_ring_bytes(slots, sizes::stage_bytes(m, products * n, k, element));
  case MainloopKind::wgmma_thirds: return sizes::thirds_ring_bytes(m, n, slots, s.total_every > 0);
  case MainloopKind::guard: return sizes::safe_bytes(m, n);
  case MainloopKind::nested_thirds:
    return sizes::nested_thirds_bytes(m, n, k, to_int(s.depth), bf16_parts(s.compute));
  case MainloopKind::nested: return sizes::nested_bytes(m, n, k, to_int(s.depth), element);
  case MainloopKind::resident: return sizes::resident_bytes(m, to_int(s.depth), k, element);
  case MainloopKind::resident_thirds:
    return sizes::resident_thirds_bytes(m, to_int(s.depth), k, bf16_parts(s.compute));
  case MainloopKind::resident_wgmma:
    return sizes::resident_ring_bytes(m, to_int(s.depth), to_int(s.slots_of_a), slots);
  case MainloopKind::nested_wgmma:
    return sizes::nested_ring_bytes(m, n, k, to_int(s.depth), slots, element);
  }
  llvm_unreachable("not a mainloop");
}

/// The memory of the kept skeleton: `stages` bytes, then the slots for chunks of the operands.
int64_t kept_bytes(const Kernel& kernel, const TileBody& body, const Schedule& s, int64_t stages) {
  int64_t element = 0;
  for (uint32_t number : kept_reads(body))
    element += size_of(kernel.parameters[body.frame.reads[number].parameter].dtype);
  return sizes::kept_bytes(to_int(stages), to_int(s.cluster), to_int(s.slots), to_int(s.tile_n),
                           to_int(element));
}

/// A warpgroup's copies that are made ahead: columns of operands, and factors.
int64_t ahead_bytes(const Kernel& kernel, const TileBody& body, const Schedule& s) {
  int64_t bytes = 0;
  for (uint32_t number : reads_along_columns(body)) {
    const DType dtype = kernel.parameters[body.frame.reads[number].parameter].dtype;
    bytes += sizes::ahead_bytes(to_int(s.tile_n), to_int(size_of(dtype)));
  }
  return bytes + sizes::factor_bytes(needs_guard(s), to_int(s.tile_m), to_int(s.tile_n));
}

} // namespace

int64_t resident_columns(const TileBody& tile, const Schedule& s) {
  return sizes::resident_columns(to_int(*tile.columns.constant()),
                                 to_int(narrowest_tile(s.mainloop)));
}

int64_t state_bytes(const Reducer& reducer) { return state_bytes(reducer.op, reducer.dtype); }

int64_t shared_bytes(const Kernel& kernel, const Schedule& s) {
  const auto* body = std::get_if<TileBody>(&kernel.body);
  if (s.skeleton == Skeleton::packing_rows) return sizes::packing_rows_bytes(to_int(s.threads));
  if (!body) return sizes::packing_tiles_bytes(to_int(s.tile_m), to_int(s.tile_k));
  const int64_t stages = scratch_bytes(*body, s) + staging_bytes(kernel, s);
  const int64_t mainloop = mainloop_bytes(s, to_int(static_cast<int64_t>(product_slots(*body))));
  if (s.skeleton == Skeleton::kept) return kept_bytes(kernel, *body, s, stages);
  if (s.skeleton == Skeleton::specialised)
    return sizes::specialised_bytes(to_int(mainloop), to_int(stages), to_int(s.tiles_at_a_time()),
                                    to_int(ahead_bytes(kernel, *body, s)));
  if (s.skeleton == Skeleton::nested_specialised)
    return sizes::specialised_bytes(to_int(mainloop), to_int(stages), 1, 0);
  return std::max(stages, mainloop);
}

} // namespace ingot
