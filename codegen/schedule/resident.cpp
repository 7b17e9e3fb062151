// SPDX-License-Identifier: Apache-2.0
// Schedules of products whose operand A is a tile with all of K. See computed.h.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/computed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace ingot {
namespace {

constexpr int64_t kSlotDepth = 64;      ///< k of a slot
constexpr int64_t kSlotDepthOfF32 = 32; ///< the same of f32
constexpr int64_t kMostSlots = 8;       ///< of a ring whose operands do not stay
constexpr int64_t kFewSlots = 4;        ///< for a ring with fewer, the other one gives memory

/// The columns of the registers of each tile in order, and of the product behind them.
std::vector<int64_t> columns_of(const TileBody& body, MainloopKind kind) {
  std::vector<int64_t> columns;
  const auto add = [&](const Expr& extent) {
    columns.push_back(sizes::resident_columns(static_cast<int>(*extent.constant()),
                                              static_cast<int>(narrowest_tile(kind))));
  };
  for (const ComputedTile* tile : computed_tiles(body)) add(tile->body.columns);
  add(body.columns);
  return columns;
}

/// The k of each B in slots; 0: the first has no size.
std::vector<int64_t> depths_of(const TileBody& body) {
  std::vector<int64_t> depths;
  for (const ComputedTile* tile : computed_tiles(body))
    depths.push_back(tile->body.mainloops.front().depth.constant().value_or(0));
  depths.push_back(*body.mainloops.front().depth.constant());
  return depths;
}

/// The most values of tiles that a thread holds beside the sums of a product: its operand, and
/// those that later stages read.
int64_t most_held(const TileBody& body) {
  std::vector<const TileBody*> parts = {&body}; // from the last product to the first
  for (const ComputedTile* tile = computed_tile(body); tile; tile = computed_tile(tile->body))
    parts.push_back(&tile->body);
  int64_t most = 0;
  std::set<std::pair<size_t, uint32_t>> read; // so far: tiles and their values
  for (size_t part = 0; part + 1 < parts.size(); ++part) {
    read.insert({part, 0});
    for (const EarlierValue& value : parts[part]->earlier)
      read.insert({part + value.back, value.number});
    most = std::max<int64_t>(
        most, llvm::count_if(read, [&](const auto& value) { return value.first >= part; }));
  }
  return most;
}

/// The registers of a thread for the sums of a product, whose warps have so many rows, for the
/// packed values beside them, and for the fragments of f32 thirds.
int64_t registers_of(const TileBody& body, const Schedule& s, int64_t rows_of_warp) {
  const bool is_f32 = s.mainloop == MainloopKind::resident_thirds;
  const int64_t halves = 2 + (is_f32 ? 2 : 1) * most_held(body);
  return s.depth * rows_of_warp / 32 * halves / 2 + (is_f32 ? rows_of_warp * 2 : 0);
}
constexpr int64_t kMostRegisters = 192;        ///< of up to 255
constexpr int64_t kMostRegistersOfF32 = 160;   ///< products of thirds take more beside
constexpr int64_t kMostRegistersOfThree = 112; ///< of 160, with three warpgroups

void set_columns(const TileBody& body, Schedule& s) {
  const std::vector<int64_t> columns = columns_of(body, s.mainloop);
  s.tile_n = s.step_n = s.warp_n = columns.back();
  s.depth = *llvm::max_element(columns);
}

/// True if an operand B has a matrix for each batch, so that tiles of two batches read two.
bool has_batches_of_b(const TileBody& body) {
  return llvm::any_of(llvm::drop_begin(matrix_operands(body)), [](const MatrixOperand* operand) {
    return !operand->from.map.batches.empty();
  });
}

/// By `groups` warpgroups on sm_90a. `keeps_b`: each B stays in shared memory. None: not legal.
std::optional<Schedule> by_wgmma(const ScheduleSite& site, ComputeType compute, int groups,
                                 bool keeps_b) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  Schedule s = computed_schedule(compute);
  s.skeleton = Skeleton::nested_specialised;
  s.mainloop = MainloopKind::resident_wgmma;
  set_columns(body, s);
  const std::vector<int64_t> depths = depths_of(body);
  if (depths.front() == 0 ||
      registers_of(body, s, 16) > (groups > 2 ? kMostRegistersOfThree : kMostRegisters))
    return std::nullopt;
  if (keeps_b && has_batches_of_b(body)) return std::nullopt;
  s.threads = (groups + 1) * sizes::kWarpgroup;
  s.most_blocks = site.device.sm_count;
  s.warp_m = 16;
  s.tile_m = groups * 64;
  s.tile_k = kSlotDepth;
  s.keeps_b = keeps_b;
  int64_t slots = 0;
  for (int64_t depth : depths) slots += llvm::divideCeil(depth, kSlotDepth);
  if (!keeps_b) slots = std::clamp<int64_t>(slots - 1, 2, kMostSlots);
  // The first A of the next tile arrives beside this tile's products, as far as there is memory.
  const int64_t of_tile = llvm::divideCeil(depths.front(), kSlotDepth);
  const int64_t least = keeps_b ? slots : std::min(slots, kFewSlots);
  const auto fits = [&](int64_t slots_of_a, int64_t slots_of_b) {
    s.slots_of_a = std::min(slots_of_a, kMostSlots);
    s.slots = slots_of_b;
    s.operands.clear();
    return set_mapped(site, s);
  };
  for (int64_t slots_of_a : {2 * of_tile, of_tile, int64_t(2)})
    for (int64_t slots_of_b = slots; slots_of_b >= least; --slots_of_b)
      if (fits(slots_of_a, slots_of_b)) return s;
  return fits(2, 2) && !keeps_b ? std::optional(s) : std::nullopt;
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_resident_schedules(const ScheduleSite& site) {
  auto compute = compute_of_products(site);
  if (!compute) return compute.takeError();
  const auto& body = std::get<TileBody>(site.kernel.body);
  if (body.columns.constant().value_or(kWidestTile + 1) > kWidestTile)
    return make_error(ErrorCode::unsupported,
                      "a product whose operand is a tile of the kernel has at most {} columns",
                      kWidestTile);
  Schedule s = computed_schedule(*compute);
  const bool is_f32 = bf16_parts(*compute) > 0;
  s.skeleton = Skeleton::nested;
  s.mainloop = is_f32 ? MainloopKind::resident_thirds : MainloopKind::resident;
  set_columns(body, s);
  s.tile_k = is_f32 ? kSlotDepthOfF32 : kSlotDepth;
  const auto set_warps = [&](int64_t rows_of_warp, int64_t threads) {
    s.warp_m = rows_of_warp;
    s.threads = threads;
    s.tile_m = s.warp_m * s.threads / 32;
  };
  const int64_t most = is_f32 ? kMostRegistersOfF32 : kMostRegisters;
  if (registers_of(body, s, 16) > most)
    return make_error(ErrorCode::unsupported,
                      "threads have no registers for the tiles of {} columns that later products "
                      "or stages of the kernel read",
                      s.depth);
  // A warp reads every B whole. With 32 rows it does so half as often.
  if (registers_of(body, s, 32) <= most)
    set_warps(32, 128);
  else
    set_warps(16, 256);
  if (assumed(tile_count(body, s)) < site.device.sm_count) set_warps(16, 128);
  const int64_t bytes = shared_bytes(site.kernel, s);
  // Of 128 threads each, two blocks have the registers of an SM.
  if (s.threads == 128)
    s.min_blocks_per_sm = std::clamp<int64_t>(blocks_by_memory(bytes, site.device), 1, 2);
  return copied_variants(site, s);
}

std::vector<std::vector<Schedule>> resident_candidates(const ScheduleSite& site,
                                                       llvm::ArrayRef<Schedule> usual) {
  const ComputeType compute = llvm::cantFail(compute_of_products(site)); // the usual ones are legal
  std::vector<std::vector<Schedule>> candidates;
  if (bf16_parts(compute) > 0) return candidates; // operands of wgmma are not split
  for (int groups : {3, 2})
    for (bool keeps_b : {true, false})
      if (const auto mapped = by_wgmma(site, compute, groups, keeps_b))
        add_with_usual(site, *mapped, usual, candidates);
  return candidates;
}

} // namespace ingot
