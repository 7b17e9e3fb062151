// SPDX-License-Identifier: Apache-2.0
// Schedules of products whose operand A the kernel computes. See choosers.h.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/choosers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
namespace {

constexpr int64_t kWidest = 256;   ///< columns of a tile, and the K of the inner product
constexpr int64_t kNarrowest = 32; ///< tiles of operands are at least as wide
constexpr int64_t kWideSums = 128; ///< columns of which a warp of 32 rows still has the sums

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

} // namespace

llvm::Expected<std::vector<Schedule>> choose_nested_schedules(const ScheduleSite& site) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const auto type_of = [&](const Group& group) {
    return site.graph.type(site.graph.op(group.matmuls.front().op).operands[0]).dtype;
  };
  const DType type = type_of(site.group);
  if (!is_16_bit(type) || type_of(*site.group.computed->tile) != type)
    return make_error(ErrorCode::unsupported,
                      "a product that computes an operand, and the product of that operand, have "
                      "one 16-bit type");
  // Blocks do not share K, which may be long. Kernels of their own do, and store one product.
  const TileBody& tile = computed_tile(body)->body;
  const bool reduces = llvm::any_of(tile.stages, [](const Stage& stage) {
    return std::holds_alternative<ReduceStage>(stage.step);
  });
  if (!reduces && !body.mainloops.front().depth.constant())
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
  // Small sums leave registers for more columns of the computed tile.
  const bool is_small = *columns <= 64 && *depth <= 64 && !reads_memory(tile);
  Schedule s;
  s.skeleton = Skeleton::nested;
  s.mainloop = MainloopKind::nested;
  s.compute = type == DType::f16 ? ComputeType::f16 : ComputeType::bf16;
  s.threads = 128;
  const auto set_rows = [&](int64_t of_warp) {
    s.warp_m = of_warp;
    s.tile_m = of_warp * s.threads / 32;
  };
  s.tile_n = s.step_n = s.warp_n = *columns;
  // The sums of 32 rows and more than 64 columns leave registers for little else.
  const bool has_names = !body.mainloops.front().depth.constant() || !body.rows.constant();
  const bool is_full = *columns > 64 && (has_names || !reduces);
  const bool has_few_rows = assumed(body.rows) <= 64; // half a tile of warps of 32
  set_rows(*columns > kWideSums || is_full || has_few_rows ? 16 : 32);
  if (assumed(tile_count(body, s)) < site.device.sm_count) set_rows(16);
  s.tile_k = is_small ? 128 : 64;
  s.depth = *depth;
  s.slots = 2;
  s.group_rows = 1;
  s.vec = 2;
  s.staged_stores = true;
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

} // namespace ingot
