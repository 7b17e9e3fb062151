// SPDX-License-Identifier: Apache-2.0
// See halves.h.
#include "codegen/kernel/halves.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/index_map.h"
#include "ir/assumed_size.h"

#include "llvm/ADT/STLExtras.h"

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

HalvesExtents halves_extents(const Graph& graph, const Group& group, MatmulSide of,
                             MainloopKind mainloop) {
  const AtomList batch = group.space.leaves(group.domain.batch);
  bool batched = false;
  for (size_t r : operand_reads(graph, group, of))
    for (const AtomList& dim : group.reads[r].access.dims)
      for (const Atom& atom : group.space.leaves(dim)) batched |= llvm::is_contained(batch, atom);
  return {batched ? group.space.extent(group.domain.batch) : Dim(1),
          group.space.extent(of.side == 0 ? group.domain.rows : group.domain.columns),
          group.space.extent(group.matmuls[of.matmul].contraction), reads_packed(mainloop)};
}

Expr halves_bytes(const HalvesExtents& extents) {
  const Expr rows = dim_expr(extents.batches) * dim_expr(extents.rows);
  if (extents.packed) {
    const Expr row_blocks = ceil_div(dim_expr(extents.rows), sizes::kPackedRows);
    const Expr depth_blocks = ceil_div(dim_expr(extents.depth), sizes::kPackedDepth);
    constexpr int64_t kBlockBytes =
        int64_t{sizes::kPackedRows} * sizes::kPackedDepth * sizes::kHalvesBytes;
    return dim_expr(extents.batches) * row_blocks * depth_blocks * kBlockBytes +
           rows * sizes::kHalvedRowBytes;
  }
  const Expr aligned = ceil_div(dim_expr(extents.depth), sizes::kHalvesAligned);
  return rows * (aligned * (sizes::kHalvesBytes * sizes::kHalvesAligned) + sizes::kHalvedRowBytes);
}

Schedule guard_schedule(const Schedule& schedule) {
  Schedule s = schedule;
  s.skeleton = Skeleton::held;
  s.mainloop = MainloopKind::guard;
  s.promote_every = sizes::kPromoteEvery;
  s.total_every = 0;
  s.threads = 256; // as in the SIMT mainloop
  s.warp_m = 64;
  s.warp_n = 32;
  s.slots = 1;
  s.most_blocks = 0;
  return s;
}

Schedule halving_schedule(const MatrixOperand& operand, const OperandSchedule& fetched) {
  Schedule s;
  s.threads = sizes::kHalvingThreads;
  s.operands = {{PathKind::staged, fetched.vec}};
  s.skeleton = Skeleton::halving;
  s.tile_m = sizes::kHalvingRows;
  s.tile_k = sizes::kHalvingDepth;
  const bool has_rows = operand.from.map.contiguous == Coordinate::k && fetched.vec > 1;
  if (!operand.extents.packed || !has_rows) return s;
  s.skeleton = Skeleton::packing;
  const int64_t depth = assumed(operand.extents.depth);
  while (s.per_row < s.threads && s.per_row * sizes::kPackedHeld < depth) s.per_row *= 2;
  s.tile_m = s.threads / s.per_row;
  s.tile_k = s.per_row * sizes::kPackedHeld;
  return s;
}

} // namespace ingot
