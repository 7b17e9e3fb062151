// SPDX-License-Identifier: Apache-2.0
// See halves.h.
#include "codegen/schedule/halves.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/schedule/choosers.h"
#include "ir/assumed_size.h"
#include "ir/fusion/tile_step.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

// Three products of halves are 5 times as fast as one of f32. If K is less than 256, making the
// halves takes as long as the products save.
constexpr int64_t kLeastDepth = 256;
// The least number of rows or columns that a product is counted with. Fewer take the time of 64,
// and a launch that makes the halves of the few takes about half of that.
constexpr double kLeastCounted = 32;
// The time to make the halves of an element in each launch, which moves 8 bytes more, in
// multiply-adds. By the cost model it is from 43 on an A100 to 130 on an H100.
constexpr double kHalving = 100;
// The most columns of tiles of 64 rows by a pair or of bf16 thirds. For 128 columns, 256 threads
// hold a pair's two sets of 32 sums and one of parts beside the fragments, in 231 registers. For
// 256 columns, they spill.
constexpr int64_t kNarrow = 128;

/// True if an operand has about as many elements as the tensors that it is computed from. A tensor
/// that is broadcast along some of a batch, or to a matrix, would be packed many times.
bool is_as_large(const Graph& graph, const Group& group, MatmulSide of) {
  double largest = 0;
  for (size_t r : operand_reads(graph, group, of))
    largest = std::max(largest, likely_count(element_count(group.reads[r].access.shape)));
  const PackedOperand operand = packed_operand(graph, group, of, PackFormat::rows_of_halves);
  return likely_count(operand.batches) * likely_count(operand.rows) * likely_count(operand.depth) <=
         2 * largest;
}

/// True if the reductions of a group demand no wider tile.
bool is_narrow(const Group& group) {
  const int64_t columns = assumed(group.space.extent(group.domain.columns));
  const auto tile = tile_columns(step_demand(group.reductions), columns, kTileWidths.back());
  return tile && tile->width <= kNarrow;
}

} // namespace

bool can_pack(const Graph& graph, const Group& group) {
  return llvm::all_of(matmul_sides(group), [&](MatmulSide of) {
    return is_as_large(graph, group, of) &&
           llvm::none_of(operand_reads(graph, group, of),
                         [&](size_t r) { return group.reads[r].combine; });
  });
}

double packed_in_launch(const Graph& graph, const Group& group, MatmulSide of,
                        const std::vector<bool>& params_only) {
  if (llvm::all_of(operand_reads(graph, group, of),
                   [&](size_t r) { return params_only[group.reads[r].access.value.index]; }))
    return 0;
  const PackedOperand operand = packed_operand(graph, group, of, PackFormat::rows_of_halves);
  return likely_count(operand.batches) * likely_count(operand.rows) * likely_count(operand.depth);
}

bool suits_halves(const Graph& graph, const Group& group, const ScheduleOptions& options) {
  if (options.precision != MatmulPrecision::highest) return false;
  if (group.matmuls.size() > 1 && !is_narrow(group)) return false;
  if (!can_pack(graph, group)) return false;
  auto count = [&](const AtomList& atoms) { return likely_count(group.space.extent(atoms)); };
  const Domain& domain = group.domain;
  const double outputs = count(domain.batch) * std::max(count(domain.rows), kLeastCounted) *
                         std::max(count(domain.columns), kLeastCounted);
  const double least = static_cast<double>(options.least_products.halves);
  const bool is_large = llvm::all_of(group.matmuls, [&](const Matmul& matmul) {
    const double depth = count(matmul.contraction);
    return graph.type(graph.op(matmul.op).operands[0]).dtype == DType::f32 &&
           depth >= kLeastDepth && outputs * depth >= least;
  });
  if (!is_large) return false; // before the search of the whole graph
  const std::vector<bool> params_only = depends_only_on_params(graph);
  for (size_t matmul = 0; matmul < group.matmuls.size(); ++matmul) {
    double gain = outputs * count(group.matmuls[matmul].contraction);
    for (uint32_t side : {0u, 1u})
      gain -= kHalving * packed_in_launch(graph, group, {matmul, side}, params_only);
    if (gain < least) return false;
  }
  return true;
}

bool suits_thirds(const Graph& graph, const Group& group, const ScheduleOptions& options) {
  if (!is_narrow(group)) return false;
  auto count = [&](const AtomList& atoms) { return likely_count(group.space.extent(atoms)); };
  const double outputs =
      count(group.domain.batch) * count(group.domain.rows) * count(group.domain.columns);
  const auto least = static_cast<double>(options.least_products.thirds);
  return llvm::all_of(group.matmuls, [&](const Matmul& matmul) {
    return graph.type(graph.op(matmul.op).operands[0]).dtype == DType::f32 &&
           outputs * count(matmul.contraction) >= least;
  });
}

void set_split_warps(const Group& group, Schedule& s) {
  const int64_t sums = s.tile_m * s.tile_n;
  s.promote_every = sizes::kPromoteEvery;
  const bool short_sums = llvm::all_of(group.matmuls, [&](const Matmul& matmul) {
    const Dim depth = group.space.extent(matmul.contraction);
    return depth.is_fixed() && depth.fixed() <= kTotalEvery;
  });
  s.total_every = short_sums ? 0 : kTotalEvery;
  s.tile_k = 32;
  s.slots = 3;
  s.threads = 256; // as in the SIMT mainloop
  s.min_blocks_per_sm = 1;
  if (s.mainloop == MainloopKind::halves) {
    s.warp_m = sums > 64 * 128 ? 64 : 32;
    s.warp_n = sums > 64 * 64 ? 32 : 16;
  } else {
    s.promote_every = 16; // a tensor core's product
    s.warp_m = 32; // the rows' thirds stay in registers for a step, those of 16 columns in turn
    s.warp_n = sums / (s.threads / 32) / s.warp_m;
  }
}

void deepen_halves_tile(const ScheduleSite& site, Schedule& s) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const bool has_names =
      llvm::any_of(std::array{body.batch, body.rows, body.columns, body.mainloops.front().depth},
                   [](const Expr& extent) { return !extent.constant(); });
  if (s.splits_k() || body.mainloops.size() > 1 || has_names) return;
  Schedule deep = s;
  deep.tile_k = 64;
  deep.slots = 2;
  if (shared_bytes(site.kernel, deep) <= site.device.shared_per_block) s = deep;
}

} // namespace ingot
