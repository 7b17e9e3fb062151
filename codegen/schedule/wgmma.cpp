// SPDX-License-Identifier: Apache-2.0
// See wgmma.h.
#include "codegen/schedule/wgmma.h"

#include "codegen/device/sizes/f32_products.h"
#include "codegen/device/sizes/shared_memory.h"
#include "codegen/device/sizes/tensor_boxes.h"
#include "codegen/kernel/device_tile.h"
#include "codegen/kernel/mapping.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/walks.h"
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/halves.h"
#include "codegen/schedule/instructions.h"
#include "ir/assumed_size.h"
#include "ir/fusion/tile_step.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

// One warpgroup copies, two multiply. A warp has all columns of a tile and 16 rows of each product
// of 64 rows. Where the four warps of a warpgroup have all rows, the two take turns.
constexpr int64_t kThreads = 3 * sizes::kWarpgroup;
/// Registers of a thread that multiplies for addresses, counters and the values of a stage.
constexpr int64_t kOtherRegisters = 45;
/// A swapped product's columns of two slots (tile/wgmma_swapped_mainloop.cuh).
constexpr int64_t kColumnRegisters = 32;
/// The thirds of a thread's rows of a slot (tile/wgmma_thirds_mainloop.cuh).
constexpr int64_t kThirdsRegisters = 24;

struct TileShape {
  int64_t tile_m, tile_n, warp_m, slots;
};
constexpr TileShape kShapesOfHalves[] = {{128, 128, 16, 3}, {128, 128, 16, 2}};
/// Of two products that share A: a thread has the sums of both.
constexpr TileShape kShapesOfPairs[] = {
    {128, 128, 16, 4}, {128, 128, 16, 3}, {64, 128, 16, 6}, {64, 128, 16, 4}};
constexpr TileShape kShapes[] = {
    {128, 256, 16, 4}, {128, 256, 16, 3}, {128, 192, 16, 5}, {128, 192, 16, 4},
    {128, 128, 32, 5}, {128, 128, 32, 4}, {128, 128, 32, 3}, {64, 256, 16, 5},
    {64, 256, 16, 4},  {64, 256, 16, 3},  {64, 192, 16, 6},  {64, 192, 16, 4},
    {128, 128, 16, 6}, {128, 128, 16, 4}, {128, 64, 16, 8},  {128, 64, 16, 6}};
/// Of products of bf16 thirds: a thread also has the sums of a slot, and the thirds of its rows.
constexpr TileShape kShapesOfThirds[] = {
    {128, 128, 16, 4}, {128, 128, 16, 3}, {128, 128, 16, 2}, {128, 64, 16, 6}, {128, 64, 16, 4}};
/// Of swapped products: a warp has all rows and 16 columns, so that both warpgroups share a tile.
constexpr int64_t kSwappedColumns = 16;
constexpr TileShape kSwappedShapes[] = {
    {256, 128, 256, 4}, {256, 128, 256, 3}, {128, 128, 128, 6}, {128, 128, 128, 4}};

/// True if the sums of a thread fit its registers beside the values that stages hold.
bool has_registers(const TileBody& body, const Schedule& s) {
  const int64_t sums = s.tile_m * s.tile_n / s.tile_threads();
  const int64_t held = s.mainloop == MainloopKind::wgmma_swapped  ? kColumnRegisters
                       : s.mainloop == MainloopKind::wgmma_thirds ? sums + kThirdsRegisters
                                                                  : 0;
  const int copying = s.packs_a
                          ? sizes::beside_registers(s.compute == ComputeType::f16x3 ? 2 : 1)
                          : sizes::copying_registers(s.mainloop == MainloopKind::wgmma_thirds);
  return body.tile_slots * sums + held + kOtherRegisters <= sizes::multiplying_registers(copying);
}

/// Sets the distance of tiles along the columns; false if tiles of this width are not legal. Tiles
/// begin with whole blocks of packed rows.
bool set_columns(const ScheduleSite& site, Schedule& s) {
  const Dim columns = site.group.space.extent(site.group.domain.columns);
  const StepDemand demand = step_demand(site.group.reductions);
  const bool is_one_tile = columns.is_fixed() && columns.fixed() <= s.tile_n;
  const int64_t unit = is_one_tile ? 1 : sizes::kPackedRows;
  const auto step = step_of_width(demand, s.tile_n, unit);
  if (step) s.step_n = *step;
  return step && (!is_one_tile || columns.fixed() <= *step);
}

/// The type in which wgmma multiplies operands that mma.sync multiplies in `compute`.
ComputeType packed_compute(ComputeType compute) {
  switch (compute) {
  case ComputeType::tf32: return ComputeType::f16x1;
  case ComputeType::bf16x3: return ComputeType::f16x3;
  default: return compute;
  }
}

/// The products after which promoted sums move to totals.
int64_t total_every(const TileBody& body) {
  const std::optional<int64_t> depth = body.mainloops.front().depth.constant();
  return depth && *depth <= kTotalEvery ? 0 : kTotalEvery;
}

void set_products(const ScheduleSite& site, Schedule& s) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  s.promote_every = s.total_every = 0;
  s.tile_k = sizes::kPackedDepth;
  s.mainloop = MainloopKind::wgmma;
  s.compute = packed_compute(s.compute);
  if (s.compute != ComputeType::f16x3) return;
  s.mainloop = MainloopKind::wgmma_halves;
  s.promote_every = sizes::kPackedDepth;
  s.total_every = total_every(body);
}

bool has_contiguous_k(const MatrixOperand& operand) {
  return operand.from.map.contiguous == Coordinate::k;
}

/// Maps the operands that may be mapped. Where a warpgroup has several products, the rows of A come
/// 16 at a time, which needs a contiguous k.
void map_operands(const ScheduleSite& site, Schedule& s) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  // Copies count elements of a dim in 32 bits with a sign.
  for (const Expr& extent : {body.batch, body.rows, body.columns, body.mainloops.front().depth,
                             body.mainloops.back().depth})
    if (extent.constant().value_or(0) > INT32_MAX) return;
  for (MatmulSide of : matmul_sides(site.group)) {
    const MatrixOperand& operand = body.mainloops[of.matmul].operands[of.side];
    const bool is_cut = of.side == 0 && s.warp_m > 16;
    const bool splits = s.mainloop == MainloopKind::wgmma_thirds;
    if (can_map(site.kernel, operand) && (!is_cut || has_contiguous_k(operand)) &&
        (splits || multiplies_copied(site.kernel, operand, s.compute)))
      s.operands[of.index()].path = PathKind::mapped;
  }
}

bool maps_all(const Schedule& s) {
  return llvm::all_of(s.operands, [](const auto& o) { return o.path == PathKind::mapped; });
}

/// True if the stages fit the layout of a swapped product: nothing is reduced, and no operand needs
/// a register for each row.
bool suits_swapped(const TileBody& body) {
  return !reads_along_rows(body) && llvm::all_of(body.stages, [](const Stage& stage) {
    return std::holds_alternative<MapStage>(stage.step) ||
           std::holds_alternative<StoreStage>(stage.step);
  });
}

/// Takes the mainloop of a product in TF32, whose operands are rounded by the copies; false if it
/// is not legal.
bool set_rounded(const ScheduleSite& site, Schedule& s) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  const auto& [a, b] = body.mainloops.front().operands;
  s.promote_every = s.total_every = 0;
  s.tile_k = sizes::box_elements(size_of(DType::f32));
  s.mainloop = has_contiguous_k(b) ? MainloopKind::wgmma : MainloopKind::wgmma_swapped;
  if (s.mainloop == MainloopKind::wgmma_swapped) {
    s.warp_n = kSwappedColumns;
    s.staged_stores = false; // a thread has pairs of columns, and eight threads whole sectors
    if (!suits_swapped(body)) return false;
  }
  map_operands(site, s);
  return has_contiguous_k(a) && maps_all(s);
}

/// Takes the mainloop of an f32 product in bf16 thirds, whose warps split the operands; false if it
/// is not legal.
bool set_thirds(const ScheduleSite& site, Schedule& s) {
  s.mainloop = MainloopKind::wgmma_thirds;
  s.tile_k = s.promote_every = sizes::box_elements(size_of(DType::f32));
  s.total_every = total_every(std::get<TileBody>(site.kernel.body));
  map_operands(site, s);
  return maps_all(s);
}

bool has_mapped(const Schedule& s) {
  return llvm::any_of(s.operands, [](const auto& o) { return o.path == PathKind::mapped; });
}

void split_like(Schedule& s, const Schedule& other) {
  s.split_k = other.split_k;
  s.split_depth = other.split_depth;
  s.split_blocks = other.split_blocks;
}

/// The schedule of sm_80 for tensors that no map may describe. It has the same tiles where others
/// read the states of tiles, or blocks add parts of them.
std::optional<Schedule> unmapped(const ScheduleSite& site, const Schedule& mapped,
                                 const Schedule& usual) {
  Schedule s = usual;
  if (shares_rows(site.group) || mapped.splits_k()) {
    ScheduleChoice choice;
    choice.tile_m = mapped.tile_m;
    choice.tile_n = mapped.tile_n;
    choice.split_k = 1;
    auto schedules = choose_product_schedules(site, choice, usual.compute);
    if (!schedules) return llvm::consumeError(schedules.takeError()), std::nullopt;
    s = schedules->back();
    split_like(s, mapped);
    if (!s.cuts_like(mapped)) return std::nullopt;
  }
  s.shared_bytes = shared_bytes(site.kernel, s);
  return s.shared_bytes <= site.device.shared_per_block ? std::optional(s) : std::nullopt;
}

/// Of a tile's stages.
struct StageWork {
  double instructions; ///< of an element
  int64_t elements;    ///< of a thread
};

/// The least work with which stages run in bands; none if they never do.
/// Bands read vectors along columns twice, and move registers. Measured straight and in bands, ms,
/// by instructions of an element (docs/notes/performance_log.md). On an H100: `high`, 12 (5) 0.2138
/// and 0.2191, 94 (37) 0.2330 and 0.2254, 95 (64) 0.3022 and 0.2440; bf16, 12 (5) 0.1726 and
/// 0.1742, 94 (37) 0.1784 and 0.1796, 37 (35) 0.4040 and 0.4083, 95 (64) 0.1915 and 0.1877. So
/// products of 16 bits of 32 instructions and more pay 1 % of their time for a quarter of NVRTC's
/// work: 37 in bf16 takes 1.14 of the work for the kernel of sm_80 straight, and 0.89 in bands; 94
/// in bf16 1.26 and 0.96. On an H200: `highest`, 37 (35) 1.446 and 1.473, 94 (37) 0.5897 and
/// 0.5928, 95 (64) 0.5969 and 0.5924.
std::optional<StageWork> least_in_bands(ComputeType compute) {
  switch (compute) {
  case ComputeType::f16:
  case ComputeType::bf16: return StageWork{32, 128};
  case ComputeType::f16x1: return StageWork{24, 128};
  case ComputeType::f16x3: return StageWork{48, 64};
  default: return std::nullopt;
  }
}

/// True if the code of a tile's stages in straight line is long: more than the instruction caches
/// hold, and more work for NVRTC than the stages of sm_80.
bool has_long_stages(const ScheduleSite& site, const Schedule& s) {
  const std::optional<StageWork> least = least_in_bands(s.compute);
  if (!least || s.tile_m * s.tile_n / s.tile_threads() < least->elements) return false;
  const auto value = [](const Expr& e) { return static_cast<double>(assumed(e)); };
  return instructions_of_element(std::get<TileBody>(site.kernel.body), value) >=
         least->instructions;
}

/// `allowed`: operands that can be mapped are, and others are packed. `none`: all are packed.
/// `rounding`: f32 operands are mapped, and copies round them to TF32. `splitting`: they are
/// mapped, and warps split them into bf16 thirds.
enum class Maps : uint8_t { allowed, none, rounding, splitting };

/// How blocks work together. `clusters`: two blocks with adjacent row tiles share the copies of B.
/// `split`: they share the K of a tile. `packing`: they pack A for one another, beside products.
enum class Blocks : uint8_t { alone, clusters, split, packing };
constexpr Blocks kWaysOfBlocks[] = {Blocks::alone, Blocks::clusters, Blocks::split,
                                    Blocks::packing};

/// Makes clusters of two blocks; false if they are not legal, or never pay. Measured on an H100 in
/// ms, without and with them. Both warpgroups share a tile: chain 84 in f32 0.629 and 0.662, a
/// product of bf16, 32768 x 4096 by 2048, 0.731 and 0.738. Packed operands: chain 37 in `high`
/// 0.585 and 0.590.
bool set_cluster(const ScheduleSite& site, Schedule& s) {
  s.cluster = 2;
  s.most_blocks = site.device.sm_count / s.cluster * s.cluster;
  const bool pays = s.tiles_at_a_time() > 1;
  const bool is_mapped = llvm::all_of(matmul_sides(site.group), [&](MatmulSide of) {
    return of.side == 0 || s.operands[of.index()].path == PathKind::mapped;
  });
  // Each block of a cluster copies whole groups of 64 columns of B.
  return pays && is_mapped && s.most_blocks > 0 &&
         s.tile_n % (s.cluster * sizes::kPackedRows) == 0 && s.group_rows % s.cluster == 0;
}

/// Splits K; false if that does not fill the machine, or is not legal.
bool set_split(const ScheduleSite& site, Schedule& s) {
  choose_split(site, split_limits(site, s), s);
  // Warpgroups that take turns pass over slots of equal tiles.
  return s.splits_k() && s.tiles_at_a_time() == 1 && product_tiles(site.group) == 1;
}

/// True if a kernel may pack its own A, whose rows are contiguous and belong to the launch. A tile
/// waits for its rows of A alone, so B is another matrix. Rows have elements, so that each tile
/// waits before it reads their factors.
bool can_pack_a(const ScheduleSite& site) {
  const Mainloop& loop = std::get<TileBody>(site.kernel.body).mainloops.front();
  const auto& [a, b] = loop.operands;
  return site.group.matmuls.size() == 1 && has_contiguous_k(a) && !is_same_matrix(a, b) &&
         loop.depth.constant().value_or(0) > 0 &&
         packed_in_launch(site.graph, site.group, {}, depends_only_on_params(site.graph)) > 0;
}

/// Makes the kernel pack its own A; false if that is not legal, or never pays. Three products of an
/// element hide the packing. One product does only if warps read each row once, in whole vectors.
/// Measured on an H100 in ms, packed before and beside, 32768 x 4096 by K: in `high` 1022 0.515 and
/// 0.549, 2048 (16384 rows) 0.475 and 0.599, in bf16 1023 0.475 and 0.561. Beside 128 sums few
/// registers are left. By ptxas's word, no thread spills with 35 instructions (37) if K is a power
/// of two, which makes addresses of blocks shifts; one spills where K is 768 (248 bytes).
bool set_packing(const ScheduleSite& site, Schedule& s) {
  constexpr double kMostInstructions = 36; // of an element
  s.packs_a = true;
  // A launch of another variant, for tensors that no map describes, would pack nothing.
  if (has_mapped(s)) return false;
  if (s.compute == ComputeType::f16x3) return true;
  const auto& body = std::get<TileBody>(site.kernel.body);
  const MatrixOperand& a = body.mainloops.front().operands[0];
  const auto value = [](const Expr& e) { return static_cast<double>(assumed(e)); };
  const int64_t depth = body.mainloops.front().depth.constant().value_or(INT64_MAX);
  return s.compute == ComputeType::f16x1 && a.prologue.empty() &&
         depth <= 32 * sizes::kPackedHeld && llvm::isPowerOf2_64(depth) &&
         instructions_of_element(body, value) <= kMostInstructions;
}

/// A product of packed or mapped operands, with the stages of an sm_80 schedule. None if it is not
/// legal.
std::optional<Schedule> by_wgmma(const ScheduleSite& site, const Schedule& usual,
                                 const TileShape& shape, Blocks blocks, Maps maps) {
  Schedule s = usual;
  s.skeleton = Skeleton::specialised;
  s.tile_m = shape.tile_m;
  s.tile_n = shape.tile_n;
  s.slots = shape.slots;
  s.threads = kThreads;
  s.min_blocks_per_sm = 1;
  s.most_blocks = site.device.sm_count;
  s.warp_m = shape.warp_m;
  s.warp_n = s.tile_n;
  if (maps == Maps::rounding) {
    if (!set_rounded(site, s)) return std::nullopt;
  } else if (maps == Maps::splitting) {
    if (!set_thirds(site, s)) return std::nullopt;
  } else {
    set_products(site, s);
    if (maps == Maps::allowed) map_operands(site, s);
  }
  s.in_bands = has_long_stages(site, s) && stays_in_rows(std::get<TileBody>(site.kernel.body), s);
  if (blocks == Blocks::packing && !set_packing(site, s)) return std::nullopt;
  if (!set_columns(site, s) || !has_registers(std::get<TileBody>(site.kernel.body), s))
    return std::nullopt;
  if ((blocks == Blocks::clusters && !set_cluster(site, s)) ||
      (blocks == Blocks::split && !set_split(site, s)))
    return std::nullopt;
  if (usual.vec > 1) s.vec = std::gcd(s.step_n, int64_t{2});
  s.shared_bytes = shared_bytes(site.kernel, s);
  const int64_t guard_bytes = needs_guard(s) ? shared_bytes(site.kernel, guard_schedule(s)) : 0;
  if (std::max(s.shared_bytes, guard_bytes) > site.device.shared_per_block) return std::nullopt;
  return s;
}

/// The variants of a kernel with tiles of a shape; none where they are not legal.
std::vector<Schedule> variants_of(const ScheduleSite& site, llvm::ArrayRef<Schedule> usual,
                                  const TileShape& shape, Blocks blocks, Maps maps) {
  std::vector<Schedule> variants;
  for (const Schedule& schedule : usual) {
    auto variant = by_wgmma(site, schedule, shape, blocks, maps);
    if (!variant) return {};
    variants.push_back(*variant);
  }
  if (!has_mapped(variants.front())) return variants;
  const auto any = unmapped(site, variants.front(), usual.back());
  if (!any) return {};
  variants.push_back(*any);
  return variants;
}

/// True for a pair of products of 16-bit operands over one A.
bool is_pair(const ScheduleSite& site, ComputeType compute) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  if (product_slots(body) != 2) return false;
  const Mainloop &first = body.mainloops[0], &second = body.mainloops[1];
  return (compute == ComputeType::f16 || compute == ComputeType::bf16) &&
         first.depth == second.depth && is_same_matrix(first.operands[0], second.operands[0]);
}

llvm::ArrayRef<TileShape> shapes_of(const ScheduleSite& site, ComputeType compute) {
  if (is_pair(site, compute)) return kShapesOfPairs;
  if (product_tiles(site.group) > 1) return {};
  if (packed_compute(compute) == ComputeType::f16x3) return kShapesOfHalves;
  return kShapes;
}

/// Products in TF32 whose operands are rounded by the copies.
void add_rounded(const ScheduleSite& site, llvm::ArrayRef<Schedule> usual, Candidates& result) {
  const auto& mainloops = std::get<TileBody>(site.kernel.body).mainloops;
  if (usual.front().compute != ComputeType::tf32 || mainloops.size() > 1) return;
  const bool is_swapped = !has_contiguous_k(mainloops.front().operands[1]);
  for (const TileShape& shape :
       is_swapped ? llvm::ArrayRef(kSwappedShapes) : llvm::ArrayRef(kShapes))
    for (const Blocks blocks : kWaysOfBlocks) {
      auto variants = variants_of(site, usual, shape, blocks, Maps::rounding);
      if (!variants.empty()) result.push_back(std::move(variants));
    }
}

/// Products of f32 in bf16 thirds.
void add_thirds(const ScheduleSite& site, const ScheduleChoice& choice, Candidates& result) {
  const auto& mainloops = std::get<TileBody>(site.kernel.body).mainloops;
  if (mainloops.size() > 1 || site.options.precision != MatmulPrecision::highest ||
      !suits_thirds(site.graph, site.group, site.options))
    return;
  auto usual = choose_product_schedules(site, choice, ComputeType::bf16x3);
  if (!usual) return llvm::consumeError(usual.takeError());
  for (const TileShape& shape : kShapesOfThirds)
    for (const Blocks blocks : {Blocks::alone, Blocks::split}) {
      auto variants = variants_of(site, *usual, shape, blocks, Maps::splitting);
      if (!variants.empty()) result.push_back(std::move(variants));
    }
}

/// Products of mapped 16-bit operands, and of packed ones.
void add_unrounded(const ScheduleSite& site, llvm::ArrayRef<Schedule> usual, Candidates& result) {
  if (!can_pack(site.graph, site.group)) return;
  const bool packs = can_pack_a(site);
  for (const TileShape& shape : shapes_of(site, usual.front().compute))
    for (const Blocks blocks : kWaysOfBlocks) {
      if (blocks == Blocks::packing && !packs) continue;
      auto variants = variants_of(site, usual, shape, blocks, Maps::allowed);
      // Where mma.sync has no such tile for tensors that no map describes, all operands are packed.
      // A split K takes a smaller tile instead.
      if (variants.empty() && blocks == Blocks::alone)
        variants = variants_of(site, usual, shape, blocks, Maps::none);
      if (!variants.empty()) result.push_back(std::move(variants));
    }
}

} // namespace

Candidates wgmma_candidates(const ScheduleSite& site, ScheduleChoice choice) {
  Candidates result;
  if (site.options.family == Family::sm_80) return result;
  choice.split_k = 1;
  auto usual = choose_product_schedules(site, choice);
  if (!usual) return llvm::consumeError(usual.takeError()), result;
  if (!usual->front().uses_tensor_cores()) return result;
  add_rounded(site, *usual, result);
  add_thirds(site, choice, result);
  add_unrounded(site, *usual, result);
  return result;
}

} // namespace ingot
