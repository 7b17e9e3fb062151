// SPDX-License-Identifier: Apache-2.0
// Schedules of products whose operand A the kernel computes. See choosers.h.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/mapping.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/choosers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
namespace {

constexpr int64_t kWidest = 256;        ///< columns of a tile, and the K of the inner product
constexpr int64_t kNarrowest = 32;      ///< tiles of operands are at least as wide
constexpr int64_t kWideSums = 128;      ///< columns of which a warp of 32 rows still has the sums
constexpr int64_t kWgmmaNarrowest = 64; ///< columns of a tile by wgmma, and a line of its k

/// A power of two that holds an extent; none: it is unknown or too large.
std::optional<int64_t> width_for(const Expr& extent) {
  const auto fixed = extent.constant();
  if (!fixed || *fixed > kWidest) return std::nullopt;
  return std::max<int64_t>(kNarrowest, static_cast<int64_t>(llvm::PowerOf2Ceil(*fixed)));
}

/// True if the stages of a computed tile read memory.
bool reads_memory(const TileBody& tile) {
  return !tile.frame.reads.empty() || !tile.frame.gathers.empty();
}

OperandSchedule operand_schedule(const Kernel& kernel, const MatrixOperand& operand) {
  const int64_t size = size_of(kernel.parameters[operand.from.parameter].dtype);
  const IndexMap& map = operand.from.map;
  OperandSchedule result;
  result.vec = map.contiguous == Coordinate::batch ? 1 : map.widest(kWidestAccess / size);
  const bool is_copied = operand.prologue.empty() && result.vec * size == kWidestAccess;
  result.path = is_copied ? PathKind::direct : PathKind::staged;
  return result;
}

/// The columns of a tile, and the K of the inner product with its padding.
struct NestedShape {
  int64_t columns, depth;
};

DType type_of(const Graph& graph, const Group& group) {
  return graph.type(graph.op(group.matmuls.front().op).operands[0]).dtype;
}

/// True if reductions run along the product's K.
bool reduces(const TileBody& tile) {
  return llvm::any_of(tile.stages, [](const Stage& stage) {
    return std::holds_alternative<ReduceStage>(stage.step);
  });
}

llvm::Expected<NestedShape> nested_shape(const ScheduleSite& site) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const DType type = type_of(site.graph, site.group);
  if (!is_16_bit(type) || type_of(site.graph, *site.group.computed->tile) != type)
    return make_error(ErrorCode::unsupported,
                      "a product that computes an operand, and the product of that operand, have "
                      "one 16-bit type");
  // Blocks do not share K, which may be long. Kernels of their own do, and store one product.
  const TileBody& tile = computed_tile(body)->body;
  if (!reduces(tile) && !body.mainloops.front().depth.constant())
    return make_error(ErrorCode::unsupported,
                      "a product that computes an operand without a softmax needs a K with a size");
  const auto columns = width_for(body.columns);
  const auto depth = width_for(tile.mainloops.front().depth);
  if (!columns || !depth)
    return make_error(
        ErrorCode::unsupported,
        "a product that computes an operand has at most {} columns, and the operand's "
        "product a K of at most {}",
        kWidest, kWidest);
  return NestedShape{*columns, *depth};
}

/// The rows of a warp, by mma.sync. The sums of 32 rows and more than 64 columns leave registers
/// for little else.
int64_t rows_of_warp(const ScheduleSite& site, const NestedShape& shape) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const bool has_names = !body.mainloops.front().depth.constant() || !body.rows.constant();
  const TileBody& tile = computed_tile(body)->body;
  const bool has_prologue = llvm::any_of(matrix_operands(body), [](const MatrixOperand* operand) {
    return !operand->prologue.empty();
  });
  const bool is_full =
      shape.columns > 64 && (has_names || !reduces(tile) || (has_prologue && reads_memory(tile)));
  const bool has_few_rows = assumed(body.rows) <= 64; // half a tile of warps of 32
  return shape.columns > kWideSums || is_full || has_few_rows ? 16 : 32;
}

/// The numbers that both families share.
Schedule nested_schedule(const ScheduleSite& site, const NestedShape& shape) {
  Schedule s;
  s.compute = type_of(site.graph, site.group) == DType::f16 ? ComputeType::f16 : ComputeType::bf16;
  s.slots = 2;
  s.group_rows = 1;
  s.vec = 2;
  s.staged_stores = true;
  s.tile_n = s.step_n = s.warp_n = shape.columns;
  s.depth = shape.depth;
  return s;
}

/// The product by `groups` warpgroups on sm_90a, whose operands are mapped; none: it is not legal.
std::optional<Schedule> by_wgmma(const ScheduleSite& site, const NestedShape& shape, int groups) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  Schedule s = nested_schedule(
      site, {std::max(shape.columns, kWgmmaNarrowest), std::max(shape.depth, kWgmmaNarrowest)});
  s.skeleton = Skeleton::nested_specialised;
  s.mainloop = MainloopKind::nested_wgmma;
  s.threads = (groups + 1) * sizes::kWarpgroup;
  s.min_blocks_per_sm = 1;
  s.most_blocks = site.device.sm_count;
  s.warp_m = 16;
  s.tile_m = groups * 64;
  const TileBody& tile = computed_tile(body)->body;
  // Of three groups, a thread has registers for small sums alone.
  if (groups > 2 && (std::max(s.tile_n, s.depth) > 64 || reads_memory(tile))) return std::nullopt;
  // The sums of both products, and the operands of stages, are in registers.
  const bool is_full = s.tile_n > 64 && reads_memory(tile);
  s.tile_k = is_full || std::max(s.tile_n, s.depth) > 128 ? 64 : 128;
  for (const Expr& extent : {body.batch, body.rows, tile.columns}) // copies count in 32 bits
    if (extent.constant().value_or(0) > INT32_MAX) return std::nullopt;
  for (const MatrixOperand* operand : matrix_operands(body)) {
    if (!can_map(site.kernel, *operand, s.compute)) return std::nullopt;
    const int64_t size = size_of(site.kernel.parameters[operand->from.parameter].dtype);
    s.operands.push_back({PathKind::mapped, kWidestAccess / size});
  }
  s.shared_bytes = shared_bytes(site.kernel, s);
  return s.shared_bytes <= site.device.shared_per_block ? std::optional(s) : std::nullopt;
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_nested_schedules(const ScheduleSite& site) {
  auto shape = nested_shape(site);
  if (!shape) return shape.takeError();
  const auto& body = std::get<TileBody>(site.kernel.body);
  const TileBody& tile = computed_tile(body)->body;
  Schedule s = nested_schedule(site, *shape);
  s.skeleton = Skeleton::nested;
  s.mainloop = MainloopKind::nested;
  s.threads = 128;
  const auto set_rows = [&](int64_t of_warp) {
    s.warp_m = of_warp;
    s.tile_m = of_warp * s.threads / 32;
  };
  set_rows(rows_of_warp(site, *shape));
  if (assumed(tile_count(body, s)) < site.device.sm_count) set_rows(16);
  // Small sums leave registers for more columns of the computed tile.
  const bool is_small = s.tile_n <= 64 && s.depth <= 64 && !reads_memory(tile);
  s.tile_k = is_small ? 128 : 64;
  for (const MatrixOperand* operand : matrix_operands(body))
    s.operands.push_back(operand_schedule(site.kernel, *operand));
  const int64_t bytes =
      sizes::nested_bytes(static_cast<int>(s.tile_m), static_cast<int>(s.tile_n),
                          static_cast<int>(s.tile_k), static_cast<int>(s.depth), 2);
  s.min_blocks_per_sm = std::clamp<int64_t>(blocks_by_memory(bytes, site.device), 1, 2);
  Schedule narrow = s; // narrow stores
  narrow.staged_stores = false;
  Schedule general = narrow;
  general.operands.assign(s.operands.size(), {PathKind::staged, 1});
  general.vec = 1;
  general.tile_k = 64;
  general.warp_m = 16; // staged operands take registers
  general.tile_m = general.warp_m * general.threads / 32;
  general.min_blocks_per_sm = 1;
  if (staging_needs_sizes(site.kernel, s)) return std::vector{s, narrow, general};
  return std::vector{s, general};
}

std::vector<std::vector<Schedule>> nested_candidates(const ScheduleSite& site,
                                                     llvm::ArrayRef<Schedule> usual) {
  if (site.options.family == Family::sm_80) return {};
  const auto shape = llvm::cantFail(nested_shape(site)); // the usual ones are legal
  std::vector<std::vector<Schedule>> candidates;
  for (int groups : {3, 2}) {
    const auto mapped = by_wgmma(site, shape, groups);
    if (!mapped) continue;
    std::vector<Schedule> variants = {*mapped};
    if (staging_needs_sizes(site.kernel, *mapped)) {
      variants.push_back(*mapped);
      variants.back().staged_stores = false;
      variants.back().shared_bytes = shared_bytes(site.kernel, variants.back());
    }
    // Tensors that no map may describe.
    llvm::append_range(variants, usual);
    candidates.push_back(std::move(variants));
  }
  return candidates;
}

} // namespace ingot
