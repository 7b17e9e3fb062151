// SPDX-License-Identifier: Apache-2.0
// Schedules of kernels with matmuls. See choosers.h.
#include "codegen/device/sizes/f32_products.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/halves.h"
#include "codegen/schedule/operands.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/tile_step.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace ingot {
namespace {

constexpr int64_t kDeepContraction = 4096; ///< least bytes of a row for wide tiles

class ProductChooser {
public:
  ProductChooser(const ScheduleSite& site, const ScheduleChoice& choice,
                 std::optional<ComputeType> compute)
      : compute_(compute), site_(site), graph_(site.graph), group_(site.group),
        kernel_(site.kernel), body_(std::get<TileBody>(kernel_.body)), device_(site.device),
        options_(site.options), choice_(choice), rows_(group_.space.extent(group_.domain.rows)),
        columns_(group_.space.extent(group_.domain.columns)), shares_rows_(shares_rows(group_)) {}

  llvm::Expected<std::vector<Schedule>> run();

private:
  llvm::Error choose_compute(Schedule& schedule) const;
  llvm::Expected<TileColumns> choose_columns() const;
  void narrow_tile(Schedule& schedule) const;
  void flatten_tile(Schedule& schedule) const;
  void set_simt_tile(Schedule& schedule) const;
  void copy_to_fmas(Schedule& schedule) const;
  llvm::Error choose_tile(Schedule& schedule) const;
  void choose_rest(Schedule& schedule) const;
  Schedule generalized(const Schedule& fast) const;
  int64_t aligned_columns(const Schedule& schedule) const;
  void choose_operands(Schedule& schedule) const;
  bool lacks_registers(const Schedule& schedule) const;
  bool affords_large_warps(const Schedule& schedule) const;
  std::optional<Schedule> widened(const Schedule& schedule) const;
  void fit_residents(Schedule& schedule) const;
  bool has_all_rows(const Schedule& schedule) const;
  bool shares_sm(const Schedule& schedule) const;
  bool fits_residents(const Schedule& schedule) const;
  void add_slots(Schedule& schedule) const;
  /// The tiles of the domain, for assumed sizes.
  int64_t tiles(const Schedule& s) const { return assumed(tile_count(body_, s)); }
  void set_warps(Schedule& schedule, bool large) const;

  const std::optional<ComputeType> compute_;
  const ScheduleSite& site_;
  const Graph& graph_;
  const Group& group_;
  const Kernel& kernel_;
  const TileBody& body_;
  const DeviceSpec& device_;
  const ScheduleOptions& options_;
  const ScheduleChoice& choice_;
  const Dim rows_, columns_;
  const bool shares_rows_;
};

llvm::Error ProductChooser::choose_compute(Schedule& s) const {
  const Op& op = graph_.op(group_.matmuls.front().op);
  const auto compute = compute_ ? compute_ : compute_type(graph_, group_, options_);
  if (!compute)
    return llvm::make_error<LocatedError>(
        ErrorCode::unsupported,
        fmt::format("matmul of {}: no kernel multiplies this type; cast the operands to a float "
                    "type",
                    graph_.type(op.operands[0]).text()),
        op.location);
  s.compute = *compute;
  switch (s.compute) {
  case ComputeType::f32: s.mainloop = MainloopKind::staged_fma; break;
  case ComputeType::f16x3: s.mainloop = MainloopKind::halves; break;
  case ComputeType::bf16x3: s.mainloop = MainloopKind::thirds; break;
  default: s.mainloop = MainloopKind::tensor;
  }
  return llvm::Error::success();
}

/// True if a tile of 128 rows would not fit into registers. Wide tiles, values that are held beside
/// the products, and operands that pass through registers take the registers of half the rows.
bool ProductChooser::lacks_registers(const Schedule& s) const {
  const auto products = static_cast<int>(product_tiles(group_));
  if (s.tile_n == 256 || body_.tile_slots > products) return true;
  // Operands are copied unchanged. But two sets of sums and fragments are held beside a set of
  // parts.
  if (s.mainloop == MainloopKind::halves) return products > 1;
  if (s.mainloop == MainloopKind::thirds) return products > 1 || s.tile_n > 64; // 32 sums a thread
  if (!s.uses_tensor_cores())
    return products > 1 && (options_.precision != MatmulPrecision::highest || has_prologue(group_));
  if (has_prologue(group_)) return true;
  const Op& op = graph_.op(group_.matmuls.front().op);
  if (products == 1) return false;
  // Two tiles of sums leave no spare registers. Only 16-bit types that are copied unchanged, and a
  // tail that joins the products without tiles of its own, fit beside them.
  const bool copied = size_of(graph_.type(op.operands[0]).dtype) == 2;
  const bool joins = group_.reductions.empty() && group_.writes.size() <= 1 &&
                     llvm::none_of(group_.reads, [&](const Read& r) { return is_wide(group_, r); });
  return !(copied && joins);
}

/// Sets the depth of a tensor-core tile and the warps that share it. Large warps of 64x64 instead
/// of 64x32 read each element of shared memory half as often. Two blocks then share an SM, so that
/// one's stages run beside the other's mainloop.
void ProductChooser::set_warps(Schedule& s, bool large) const {
  if (is_split(s.mainloop)) return set_split_warps(group_, s);
  const int64_t size = facts_of(s.compute).operand_bytes;
  s.tile_k = (large ? 128 : 64) / size; // the bytes of a line, in elements
  s.warp_m = s.tile_m == 128 ? 64 : 32;
  s.warp_n = large || s.tile_n == 256 ? 64 : 32;
  s.slots = large ? 3 : 4;
  const bool many_sums = product_tiles(group_) > 1 || s.tile_m * s.tile_n > 128 * 128;
  s.staged_loads = many_sums ? 4 : 8;
  s.min_blocks_per_sm = large && s.tile_n <= 128 ? 2 : 1;
  s.threads = 32 * (s.tile_m / s.warp_m) * (s.tile_n / s.warp_n);
}

/// The number of stores of a kernel beyond the first one. If all stores are to slices of one
/// tensor, none count: they follow each other.
int64_t further_stores(const Group& group) {
  const auto is_part = [](const Write& w) {
    return llvm::any_of(w.access.ranges, [](const AxisRange& r) { return r.is_part(); });
  };
  if (group.writes.empty() || llvm::all_of(group.writes, is_part)) return 0;
  return static_cast<int64_t>(group.writes.size()) - 1;
}

/// True for one product whose operands are copied unchanged over constant strides. At most two
/// reductions, one of them over columns, and one store may follow it, or two stores. Any other work
/// of a kernel takes registers that large warps lack.
bool ProductChooser::affords_large_warps(const Schedule& s) const {
  const Matmul& matmul = group_.matmuls.front();
  const DType dtype = graph_.type(graph_.op(matmul.op).operands[0]).dtype;
  const bool copied = dtype != DType::f32 || s.compute == ComputeType::tf32;
  const auto is_fixed = [](const Mainloop& loop) { return loop.depth.constant().has_value(); };
  return product_tiles(group_) == 1 && !has_prologue(group_) && copied && columns_.is_fixed() &&
         llvm::all_of(body_.mainloops, is_fixed) &&
         2 * further_stores(group_) + static_cast<int64_t>(group_.reductions.size()) <= 2 &&
         llvm::count_if(group_.reductions,
                        [](const auto& r) { return r.span == ReduceSpan::column; }) <= 1;
}

/// A tile of large warps that is twice as wide, if that pays. It reads three quarters of the bytes
/// per product: 0.93 of the mainloop's time on an H200. But an SM then has one block, and nothing
/// runs beside its stages. The loss equals the gain if a row of an operand has about 3200 bytes
/// (one of 2048 is 0.03 slower, one of 4096 is not). The idle time in the last wave must not cost
/// more than the gain.
std::optional<Schedule> ProductChooser::widened(const Schedule& s) const {
  const bool large = s.mainloop == MainloopKind::tensor && s.min_blocks_per_sm == 2;
  const bool copies = llvm::all_of(
      s.operands, [](const OperandSchedule& operand) { return operand.path == PathKind::direct; });
  const int64_t depth = assumed(depth_of(body_)), size = facts_of(s.compute).operand_bytes;
  if (!large || !copies || s.splits_k() || s.step_n != s.tile_n || depth * size < kDeepContraction)
    return std::nullopt;
  Schedule wide = s;
  wide.tile_n = wide.step_n = 2 * s.tile_n;
  wide.threads = 2 * s.threads;
  wide.min_blocks_per_sm = 1;
  if (step_demand(group_.reductions).divides % wide.step_n != 0 ||
      wide.tile_n > kTileWidths.back() || shared_bytes(kernel_, wide) > device_.shared_per_block)
    return std::nullopt;
  auto waves = [&](const Schedule& schedule) {
    const int64_t blocks = schedule.min_blocks_per_sm * device_.sm_count;
    return (tiles(schedule) + blocks - 1) / blocks;
  };
  if (waves(wide) == 1 || 7 * waves(wide) > 8 * waves(s)) return std::nullopt;
  return wide;
}

/// True if shared memory has room for all blocks that should share an SM.
bool ProductChooser::fits_residents(const Schedule& s) const {
  const int64_t bytes = shared_bytes(kernel_, s);
  return bytes <= device_.shared_per_block &&
         s.min_blocks_per_sm <= blocks_by_memory(bytes, device_);
}

/// Halves the depth of the slots if only then an SM has memory for all blocks that should share it,
/// and there are more tiles than SMs.
void ProductChooser::fit_residents(Schedule& s) const {
  if (s.mainloop != MainloopKind::tensor || s.min_blocks_per_sm == 1 ||
      tiles(s) <= device_.sm_count)
    return;
  constexpr int64_t kLeastLine = 64; // bytes: two steps of the products (tile/mma_stage.cuh)
  Schedule shallow = s;
  shallow.tile_k /= 2;
  if (shallow.tile_k * facts_of(s.compute).operand_bytes < kLeastLine) return;
  if (choice_.slots == 0) shallow.slots = 4;
  if (!fits_residents(s) && fits_residents(shallow)) s = shallow;
}

/// True if one tile of a split product has all rows. The other operand then passes by once, in
/// little more time than its products take.
bool ProductChooser::has_all_rows(const Schedule& s) const {
  return is_split(s.mainloop) && group_.matmuls.size() == 1 && s.tile_m <= 64 &&
         assumed(rows_) <= s.tile_m;
}

/// True for a product of few rows whose stages fit the 128 registers that two blocks of 256 threads
/// leave: at most one reduction and one store.
bool ProductChooser::shares_sm(const Schedule& s) const {
  return s.mainloop == MainloopKind::halves && has_all_rows(s) && s.tile_n == 64 &&
         group_.reductions.size() <= 1 && group_.writes.size() <= 1;
}

/// Adds slots to such a product while shared memory has room, up to 6. That is 1.1 to 1.3 times as
/// fast as two slots of twice the depth, in tiles of 64 and of 128 columns, because more loads stay
/// in flight.
void ProductChooser::add_slots(Schedule& s) const {
  constexpr int64_t kMostSlots = 6;
  for (Schedule deeper = s; deeper.slots < kMostSlots; s = deeper) {
    ++deeper.slots;
    if (!fits_residents(deeper)) return;
  }
}

/// The columns of the tile: the chosen width, or the width that the reductions demand.
llvm::Expected<TileColumns> ProductChooser::choose_columns() const {
  const StepDemand demand = step_demand(group_.reductions);
  const int64_t widest = kTileWidths.back();
  if (demand.multiple > widest)
    return make_error(ErrorCode::unsupported,
                      "local reductions need tiles of {} columns; the widest legal tile has {}",
                      demand.multiple, widest);
  if (choice_.tile_n == 0) {
    const auto columns = tile_columns(demand, assumed(columns_), widest);
    INGOT_ASSERT(columns); // legality made the same check
    return *columns;
  }
  const TileColumns columns{choice_.tile_n, choice_.tile_n / demand.multiple * demand.multiple};
  if (columns.step == 0 || demand.divides % columns.step != 0)
    return make_error(ErrorCode::unsupported, "tiles of {} columns do not hold whole segments",
                      columns.width);
  return columns;
}

void set_staged_simt(Schedule& s) {
  s.mainloop = MainloopKind::staged_fma;
  s.tile_k = 16;
  s.slots = 2;
}

/// Copies the operands of an exact product to the FMAs unchanged if both can be copied. Large tiles
/// also need constant strides and an unsplit K: both save registers.
void ProductChooser::copy_to_fmas(Schedule& s) const {
  if (s.mainloop != MainloopKind::staged_fma || s.promote_every > 0 || group_.matmuls.size() > 1 ||
      s.tile_n > 128 || !can_copy_both(kernel_, s))
    return;
  const bool numbers =
      columns_.is_fixed() && group_.space.extent(group_.matmuls.front().contraction).is_fixed();
  const bool lean = numbers && !s.splits_k();
  if (s.tile_m * s.tile_n == 128 * 128 && !lean) return;
  Schedule copied = s;
  copied.mainloop = MainloopKind::copied_fma;
  for (OperandSchedule& operand : copied.operands) operand.path = PathKind::direct;
  copied.tile_k = 32; // a line of 128 bytes covers all banks
  copied.slots = 3;
  if (shared_bytes(kernel_, copied) <= device_.shared_per_block) s = copied;
}

/// Sets tiles of 32 rows for a product of bf16 thirds of at most 32 rows: a tile computes all of
/// its rows. If tiles of the usual width fill all SMs, they become twice as wide.
void ProductChooser::flatten_tile(Schedule& s) const {
  constexpr int64_t kFlat = 32, kWide = 2 * kUsualTileWidth;
  if (s.mainloop != MainloopKind::thirds || group_.matmuls.size() > 1 || choice_.tile_m > 0 ||
      s.tile_n < kUsualTileWidth || assumed(rows_) > kFlat)
    return; // eight warps of 32 rows have 16 columns each, or more
  s.tile_m = kFlat;
  const int64_t multiple = step_demand(group_.reductions).multiple;
  if (choice_.tile_n > 0 || s.tile_n != kUsualTileWidth || kWide % multiple != 0 || shares_rows_ ||
      assumed(columns_) <= kUsualTileWidth * device_.sm_count)
    return;
  s.tile_n = kWide;
  s.step_n = kWide / multiple * multiple;
}

/// Sets tiles of 64 columns, unless they leave more partials of rows.
void ProductChooser::narrow_tile(Schedule& s) const {
  const int64_t multiple = step_demand(group_.reductions).multiple;
  if (choice_.tile_n > 0 || s.tile_n != 128 || 64 % multiple != 0 || shares_rows_) return;
  s.tile_n = 64;
  s.step_n = 64 / multiple * multiple;
}

void ProductChooser::set_simt_tile(Schedule& s) const {
  if (options_.precision == MatmulPrecision::highest) {
    // Promoted sums take three registers an element: 32 elements a thread.
    s.promote_every = sizes::kPromoteEvery;
    narrow_tile(s); // reads less shared memory
    s.tile_m = std::min(s.tile_m, 128 * 64 / s.tile_n);
  }
  set_staged_simt(s);
  s.threads = 256;
  s.min_blocks_per_sm = group_.matmuls.size() == 1 && s.tile_m * s.tile_n <= 64 * 64 ? 2 : 1;
}

llvm::Error ProductChooser::choose_tile(Schedule& s) const {
  auto columns = choose_columns();
  if (!columns) return columns.takeError();
  s.tile_m = assumed(rows_) <= 64 ? 64 : 128;
  s.tile_n = columns->width;
  s.step_n = columns->step;
  if (choice_.tile_m > 0)
    s.tile_m = choice_.tile_m;
  else if (lacks_registers(s))
    s.tile_m = 64;
  if (!s.uses_tensor_cores()) {
    set_simt_tile(s);
    return llvm::Error::success();
  }
  const bool is_pair = product_tiles(group_) > 1;
  if ((s.mainloop == MainloopKind::halves && has_all_rows(s)) ||
      (s.mainloop == MainloopKind::thirds && is_pair))
    narrow_tile(s);
  flatten_tile(s);
  const bool fits = s.tile_m == 128 && s.tile_n >= 128;
  set_warps(s, choice_.warp_n > 0 ? fits && choice_.warp_n == 64
                                  : fits && s.tile_n == 128 && affords_large_warps(s));
  if (shares_sm(s)) s.min_blocks_per_sm = 2;
  return llvm::Error::success();
}

/// The largest power of two, at most kWidestAccess, that divides the first column of every tile. No
/// access along the columns may be wider: it would be misaligned, and the last one of a tile would
/// reach into the next tile's columns.
int64_t ProductChooser::aligned_columns(const Schedule& s) const {
  const bool one_tile = columns_.is_fixed() && columns_.fixed() <= s.step_n;
  return one_tile ? kWidestAccess : std::gcd(s.step_n, kWidestAccess);
}

void ProductChooser::choose_operands(Schedule& s) const {
  for (const Mainloop& mainloop : body_.mainloops)
    for (bool is_b : {false, true})
      s.operands.push_back(
          choose_operand(kernel_, s, mainloop.operands[is_b ? 1 : 0], is_b, aligned_columns(s)));
}

/// Sets the fields that do not follow from the tile.
void ProductChooser::choose_rest(Schedule& s) const {
  if (choice_.min_blocks > 0) s.min_blocks_per_sm = choice_.min_blocks;
  if (choice_.slots > 0)
    s.slots = choice_.slots;
  else if (has_all_rows(s))
    add_slots(s);
  else if (s.mainloop == MainloopKind::halves)
    deepen_halves_tile(site_, s);
  if (choice_.group_rows > 0) s.group_rows = choice_.group_rows;
}

/// The same schedule for any alignment, in more and smaller pieces: staged elements take registers.
/// A wide tile is then too large. But it keeps its width if variants share partial states or sums
/// of parts, because these belong to a tile.
Schedule ProductChooser::generalized(const Schedule& fast) const {
  Schedule s = fast;
  switch (s.mainloop) {
  case MainloopKind::none: break;
  case MainloopKind::staged_fma:
  case MainloopKind::copied_fma: set_staged_simt(s); break;
  case MainloopKind::thirds:
  case MainloopKind::halves: s.min_blocks_per_sm = 1; break;
  case MainloopKind::wgmma:
  case MainloopKind::wgmma_swapped:
  case MainloopKind::wgmma_halves:
  case MainloopKind::wgmma_thirds:
  case MainloopKind::guard:
  case MainloopKind::tensor_guard:
  case MainloopKind::nested:
  case MainloopKind::nested_thirds:
  case MainloopKind::nested_wgmma:
  case MainloopKind::resident:
  case MainloopKind::resident_thirds:
  case MainloopKind::resident_wgmma:
    llvm_unreachable("made from schedules of sm_80 for one product");
  case MainloopKind::tensor:
    const int64_t multiple = step_demand(group_.reductions).multiple;
    const bool shares = shares_rows_ || s.splits_k();
    if (s.tile_n > kUsualTileWidth && multiple <= kUsualTileWidth && !shares) {
      s.tile_n = kUsualTileWidth;
      s.step_n = kUsualTileWidth / multiple * multiple;
    }
    set_warps(s, false);
  }
  s.operands.assign(fast.operands.size(), {PathKind::staged, 1});
  s.vec = 1;
  return s;
}

llvm::Expected<std::vector<Schedule>> ProductChooser::run() {
  Schedule fast;
  if (auto error = choose_compute(fast)) return error;
  if (auto error = choose_tile(fast)) return error;
  choose_operands(fast);
  if (choice_.split_k != 1) choose_split(site_, split_limits(site_, fast), fast);
  copy_to_fmas(fast);
  if (choice_.tile_n == 0)
    if (const auto wide = widened(fast)) fast = *wide;
  choose_rest(fast);
  const int64_t layout_vec = fast.uses_tensor_cores() ? 2 : 4;
  fast.vec = std::min(layout_vec, aligned_columns(fast));
  fast.staged_stores = fast.uses_tensor_cores();
  fit_residents(fast);
  Schedule narrow = fast; // narrow stores
  narrow.staged_stores = false;
  const Schedule general = generalized(narrow);
  if (staging_needs_sizes(kernel_, fast)) return std::vector{fast, narrow, general};
  return std::vector{fast, general};
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_product_schedules(const ScheduleSite& site,
                                                               const ScheduleChoice& choice,
                                                               std::optional<ComputeType> compute) {
  return ProductChooser(site, choice, compute).run();
}

} // namespace ingot
