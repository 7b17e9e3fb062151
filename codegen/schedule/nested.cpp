// SPDX-License-Identifier: Apache-2.0
// Schedules of products whose operand A the kernel computes. See choosers.h.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/computed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
namespace {

constexpr int64_t kNarrowest = 32; ///< tiles of operands are at least as wide
// A part takes a block two microseconds or more, and a block adds four parts of a few rows in one.
constexpr int64_t kMostParts = 32;
constexpr int64_t kLeastDepth = 256; ///< of a part
constexpr int64_t kWideSums = 128;   ///< columns of which a warp of 32 rows still has the sums

/// A power of two that holds an extent; none: it is unknown or too large.
std::optional<int64_t> width_for(const Expr& extent) {
  const auto fixed = extent.constant();
  if (!fixed || *fixed > kWidestTile) return std::nullopt;
  return std::max<int64_t>(kNarrowest, static_cast<int64_t>(llvm::PowerOf2Ceil(*fixed)));
}

/// How to multiply, the columns of a tile, and the K of the inner product with its padding.
struct NestedShape {
  ComputeType compute;
  int64_t columns, depth;
};

/// True if reductions run along the product's K.
bool reduces(const TileBody& tile) {
  return llvm::any_of(tile.stages, [](const Stage& stage) {
    return std::holds_alternative<ReduceStage>(stage.step);
  });
}

llvm::Expected<NestedShape> nested_shape(const ScheduleSite& site) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  auto compute = compute_of_products(site);
  if (!compute) return compute.takeError();
  // Kernels of their own store one product. A K of any length is split over blocks there.
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
        kWidestTile, kWidestTile);
  return NestedShape{*compute, *columns, *depth};
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
Schedule nested_schedule(const NestedShape& shape) {
  Schedule s = computed_schedule(shape.compute);
  s.tile_n = s.step_n = s.warp_n = shape.columns;
  s.depth = shape.depth;
  return s;
}

/// In f32, by blocks of so many threads. None: their thirds and slots do not fit the memory.
std::optional<Schedule> by_thirds(const ScheduleSite& site, const NestedShape& shape,
                                  int64_t threads) {
  Schedule s = nested_schedule(shape);
  s.skeleton = Skeleton::nested;
  s.mainloop = MainloopKind::nested_thirds;
  s.threads = threads;
  s.warp_m = 16;
  s.tile_m = s.warp_m * s.threads / 32;
  for (int64_t step : {32, 64}) {
    s.tile_k = step;
    // Rows go through the slots.
    if (s.tile_m * s.depth > 2 * step * (s.depth + s.tile_n)) continue;
    const int64_t bytes = sizes::nested_thirds_bytes(
        static_cast<int>(s.tile_m), static_cast<int>(s.tile_n), static_cast<int>(step),
        static_cast<int>(s.depth), bf16_parts(s.compute));
    if (bytes > site.device.shared_per_block) continue;
    s.min_blocks_per_sm = std::clamp<int64_t>(blocks_by_memory(bytes, site.device), 1, 2);
    return s;
  }
  return std::nullopt;
}

llvm::Expected<std::vector<Schedule>> choose_thirds(const ScheduleSite& site,
                                                    const NestedShape& shape) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  auto small = by_thirds(site, shape, 128);
  if (!small)
    return make_error(ErrorCode::unsupported,
                      "the memory of a block has no place for the thirds of an f32 product with {} "
                      "columns whose operand has a K of {}",
                      shape.columns, shape.depth);
  // More warps share the thirds of a step.
  Schedule s = *small;
  choose_split(site, {kMostParts, kLeastDepth, site.device.sm_count * s.min_blocks_per_sm}, s);
  const auto large = by_thirds(site, shape, 256);
  if (!s.splits_k() && large && assumed(tile_count(body, *large)) >= site.device.sm_count)
    s = *large;
  return copied_variants(site, s);
}

/// The product by `groups` warpgroups on sm_90a, whose operands are mapped; none: it is not legal.
std::optional<Schedule> by_wgmma(const ScheduleSite& site, const NestedShape& shape, int groups) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const int64_t narrowest = narrowest_tile(MainloopKind::nested_wgmma);
  Schedule s = nested_schedule(
      {shape.compute, std::max(shape.columns, narrowest), std::max(shape.depth, narrowest)});
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
  // Copies count in 32 bits.
  if (tile.columns.constant().value_or(0) > INT32_MAX) return std::nullopt;
  return set_mapped(site, s) ? std::optional(s) : std::nullopt;
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_nested_schedules(const ScheduleSite& site) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  if (computed_tile(body)->resident) return choose_resident_schedules(site);
  auto shape = nested_shape(site);
  if (!shape) return shape.takeError();
  if (bf16_parts(shape->compute) > 0) return choose_thirds(site, *shape);
  const TileBody& tile = computed_tile(body)->body;
  Schedule s = nested_schedule(*shape);
  s.skeleton = Skeleton::nested;
  s.mainloop = MainloopKind::nested;
  s.threads = 128;
  const auto set_rows = [&](int64_t of_warp) {
    s.warp_m = of_warp;
    s.tile_m = of_warp * s.threads / 32;
  };
  set_rows(16);
  choose_split(site, {kMostParts, kLeastDepth, site.device.sm_count * 2}, s);
  const bool fills = assumed(tile_count(body, s)) >= 2 * site.device.sm_count;
  // Parts meet in tiles of one size, whichever variant a launch takes.
  if (!s.splits_k() && fills) set_rows(rows_of_warp(site, *shape));
  // Small sums leave registers for more columns of the computed tile.
  const bool is_small = s.tile_n <= 64 && s.depth <= 64 && !reads_memory(tile);
  s.tile_k = is_small ? 128 : 64;
  const int64_t bytes =
      sizes::nested_bytes(static_cast<int>(s.tile_m), static_cast<int>(s.tile_n),
                          static_cast<int>(s.tile_k), static_cast<int>(s.depth), 2);
  s.min_blocks_per_sm = std::clamp<int64_t>(blocks_by_memory(bytes, site.device), 1, 2);
  std::vector<Schedule> variants = copied_variants(site, s);
  INGOT_ASSERT(!s.splits_k() || variants.back().tile_m == s.tile_m);
  return variants;
}

Candidates nested_candidates(const ScheduleSite& site, llvm::ArrayRef<Schedule> usual) {
  if (site.options.family == Family::sm_80) return {};
  if (computed_tile(std::get<TileBody>(site.kernel.body))->resident)
    return resident_candidates(site, usual);
  const auto shape = llvm::cantFail(nested_shape(site));   // the usual ones are legal
  std::vector<Schedule> whole(usual.begin(), usual.end()); // variants split K alike
  for (Schedule& s : whole) s.split_k = 1;
  std::vector<std::vector<Schedule>> candidates;
  for (int groups : {3, 2})
    if (const auto mapped = by_wgmma(site, shape, groups))
      add_with_usual(site, *mapped, whole, candidates);
  return candidates;
}

} // namespace ingot
