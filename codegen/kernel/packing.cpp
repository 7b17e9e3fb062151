// SPDX-License-Identifier: Apache-2.0
// See packing.h.
#include "codegen/kernel/packing.h"
#include "codegen/kernel/mapping.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/index_map.h"
#include "ir/assumed_size.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

std::vector<MatmulSide> matmul_sides(const Group& group) {
  std::vector<MatmulSide> sides;
  for (size_t matmul = 0; matmul < group.matmuls.size(); ++matmul)
    for (uint32_t side : {0u, 1u}) sides.push_back({matmul, side});
  return sides;
}

std::vector<size_t> operand_reads(const Graph& graph, const Group& group, MatmulSide of) {
  const Matmul& matmul = group.matmuls[of.matmul];
  const std::vector<OpId>& prologue = matmul.operands[of.side].prologue;
  std::vector<size_t> result;
  for (size_t r = 0; r < group.reads.size(); ++r) {
    const Read& read = group.reads[r];
    const bool direct = read.op == matmul.op && read.operand == of.side;
    if (direct || llvm::is_contained(prologue, read.op)) result.push_back(r);
  }
  return result;
}

PackFormat pack_format(const Schedule& schedule) {
  switch (schedule.mainloop) {
  case MainloopKind::none:
  case MainloopKind::staged_fma:
  case MainloopKind::copied_fma:
  case MainloopKind::tensor:
  case MainloopKind::thirds:
  case MainloopKind::wgmma_swapped:
  case MainloopKind::wgmma_thirds:
  case MainloopKind::nested:
  case MainloopKind::nested_thirds:
  case MainloopKind::nested_wgmma:
  case MainloopKind::resident:
  case MainloopKind::resident_thirds:
  case MainloopKind::resident_wgmma: break;
  case MainloopKind::halves: return PackFormat::rows_of_halves;
  case MainloopKind::wgmma_halves:
  case MainloopKind::guard: return PackFormat::halves;
  case MainloopKind::tensor_guard: return PackFormat::scaled;
  case MainloopKind::wgmma:
    return schedule.compute == ComputeType::f16x1  ? PackFormat::scaled
           : schedule.compute == ComputeType::bf16 ? PackFormat::bf16
                                                   : PackFormat::f16;
  }
  llvm_unreachable("operands are not packed");
}

PackedOperand packed_operand(const Graph& graph, const Group& group, MatmulSide of,
                             PackFormat format) {
  const AtomList batch = group.space.leaves(group.domain.batch);
  bool batched = false;
  for (size_t r : operand_reads(graph, group, of))
    for (const AtomList& dim : group.reads[r].access.dims)
      for (const Atom& atom : group.space.leaves(dim)) batched |= llvm::is_contained(batch, atom);
  return {batched ? group.space.extent(group.domain.batch) : Dim(1),
          group.space.extent(of.side == 0 ? group.domain.rows : group.domain.columns),
          group.space.extent(group.matmuls[of.matmul].contraction), format};
}

KernelParameter packed_parameter(const PackedOperand& operand, const Buffer& buffer) {
  const Expr elements =
      dim_expr(operand.batches) * dim_expr(operand.rows) * dim_expr(operand.depth);
  return {Purpose::packed, facts_of(operand.format).dtype, elements, buffer, {}};
}

void add_packed(Kernel& kernel, MatmulSide of, const PackedOperand& packing,
                llvm::function_ref<Buffer()> buffer) {
  auto& body = std::get<TileBody>(kernel.body);
  MatrixOperand& operand = body.mainloops[of.matmul].operands[of.side];
  operand.packing = packing;
  if (const MatrixOperand* shared = shared_operand(body, of); shared && shared->packed) {
    operand.packed = shared->packed;
    return;
  }
  operand.packed = static_cast<uint32_t>(kernel.parameters.size());
  kernel.parameters.push_back(packed_parameter(packing, buffer()));
}

Expr packed_bytes(const PackedOperand& operand) {
  const PackFacts& facts = facts_of(operand.format);
  const int64_t size = size_of(facts.dtype);
  const Expr rows = dim_expr(operand.batches) * dim_expr(operand.rows);
  const int64_t record = facts.has_records ? sizes::kHalvedRowBytes : 0;
  if (facts.in_blocks) {
    const Expr row_blocks = ceil_div(dim_expr(operand.rows), sizes::kPackedRows);
    const Expr depth_blocks = ceil_div(dim_expr(operand.depth), sizes::kPackedDepth);
    const int64_t block = int64_t{sizes::kPackedRows} * sizes::kPackedDepth * size;
    const int64_t list = facts.lists_residuals ? sizes::residual_list_bytes() : 0;
    const Expr blocks = dim_expr(operand.batches) * row_blocks;
    // A byte of each row, with the padding.
    const Expr bits = facts.has_records ? blocks * sizes::kPackedRows : Expr(0);
    return blocks * depth_blocks * block + ceil_div(rows * record, 16) * 16 + bits + rows * list;
  }
  const Expr aligned = ceil_div(dim_expr(operand.depth), sizes::kHalvesAligned);
  return rows * (aligned * (size * sizes::kHalvesAligned) + record);
}

Expr pack_counters_bytes(const PackedOperand& a, int64_t tile_m) {
  return (dim_expr(a.batches) * ceil_div(dim_expr(a.rows), tile_m) + sizes::kBesideCounters) * 4;
}

bool needs_guard(const Schedule& schedule) {
  const bool is_scaled =
      schedule.compute == ComputeType::f16x3 || schedule.compute == ComputeType::f16x1;
  return is_wgmma(schedule.mainloop) && is_scaled;
}

Schedule guard_schedule(const Schedule& schedule) {
  Schedule s = schedule;
  s.skeleton = Skeleton::held;
  s.total_every = 0;
  s.packs_a = false;
  s.in_bands = false; // it always takes short ones
  s.warp_m = 64;
  if (schedule.mainloop == MainloopKind::wgmma_halves) {
    s.mainloop = MainloopKind::guard;
    s.promote_every = sizes::kPromoteEvery;
    s.threads = 256; // as in the SIMT mainloop
    s.warp_n = 32;
    s.slots = 1;
    return s;
  }
  s.mainloop = MainloopKind::tensor_guard;
  s.compute = ComputeType::tf32;
  s.tile_k = 32; // a line of 128 bytes
  s.warp_m = std::min(s.tile_m, s.warp_m);
  // 256 threads, or as many as stage a column of any tile: 384 of 128x192.
  s.warp_n = s.tile_m * s.tile_n > 128 * 128 && s.tile_n % 128 == 0 ? 64 : 32;
  s.slots = 3;
  s.staged_loads = 4;
  s.threads = 32 * (s.tile_m / s.warp_m) * (s.tile_n / s.warp_n);
  return s;
}

Schedule packing_schedule(const MatrixOperand& operand, const OperandSchedule& fetched) {
  Schedule s;
  s.threads = sizes::kPackingThreads;
  s.operands = {{PathKind::staged, fetched.vec}};
  s.skeleton = Skeleton::packing_tiles;
  s.tile_m = sizes::kPackingRows;
  s.tile_k = sizes::kPackingDepth;
  const bool has_rows = operand.from.map.contiguous == Coordinate::k && fetched.vec > 1;
  if (!facts_of(operand.packing.format).in_blocks || !has_rows) return s;
  s.skeleton = Skeleton::packing_rows;
  // Two blocks on an SM leave 128 registers a thread. A depth that is not constant needs more.
  s.min_blocks_per_sm = operand.packing.depth.is_fixed() ? 2 : 1;
  const int64_t depth = assumed(operand.packing.depth);
  while (s.per_row < s.threads && s.per_row * sizes::kPackedHeld < depth) s.per_row *= 2;
  s.tile_m = s.threads / s.per_row;
  s.tile_k = s.per_row * sizes::kPackedHeld;
  return s;
}

} // namespace ingot
