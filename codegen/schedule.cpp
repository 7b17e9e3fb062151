// SPDX-License-Identifier: Apache-2.0
// See schedule.h.
#include "codegen/schedule.h"

#include "codegen/access.h"
#include "codegen/halves.h"
#include "codegen/shared_memory.h"
#include "codegen/split_k.h"
#include "codegen/store_formula.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/loaded_domain.h"
#include "ir/fusion/tile_step.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace ingot {

llvm::StringRef spelling(Skeleton skeleton) {
  static const char* const names[] = {"held", "streamed", "scanned", "split"};
  return names[static_cast<size_t>(skeleton)];
}

std::optional<ComputeType> compute_type(const Graph& graph, const Group& group,
                                        const ScheduleOptions& options) {
  switch (graph.type(graph.op(group.matmuls.front().op).operands[0]).dtype) {
  case DType::f16: return ComputeType::f16;
  case DType::bf16: return ComputeType::bf16;
  case DType::f32: break;
  default: return std::nullopt;
  }
  if (options.precision == MatmulPrecision::high) return ComputeType::tf32;
  if (options.precision == MatmulPrecision::medium) return ComputeType::bf16;
  return multiplies_halves(graph, group, options) ? ComputeType::f16x3 : ComputeType::f32;
}

std::string Schedule::text() const {
  static const char* const computes[] = {"f32", "f16", "bf16", "tf32", "f16x3"};
  if (source == SourceKind::loaded)
    return fmt::format("{} {}x{} threads {} per-row {} {} vec {}{}", spelling(skeleton).str(),
                       tile_m, tile_n, threads, per_row,
                       row_threads == RowThreads::along_rows ? "along-rows" : "along-columns", vec,
                       skeleton == Skeleton::split ? fmt::format(" parts {}", parts) : "");
  std::string paths;
  for (size_t i = 0; i < operands.size(); ++i)
    paths +=
        fmt::format(" {} {}*{}", i % 2 == 0 ? "a" : "b",
                    operands[i].path == PathKind::direct ? "direct" : "staged", operands[i].vec);
  return fmt::format(
      "{} {} {}x{}x{} step {} warp {}x{} stages {} threads {}{} vec {}{}{}{}",
      source == SourceKind::simt ? "simt" : "mma", computes[static_cast<int>(compute)], tile_m,
      tile_n, tile_k, step_n, warp_m, warp_n, stages, threads, paths, vec,
      staging == Staging::none ? "" : " staged-stores",
      (promote_every > 0 ? fmt::format(" promote {}", promote_every) : "") +
          (total_every > 0 ? fmt::format(" total {}", total_every) : ""),
      scheduler == TileScheduler::split_k ? fmt::format(" split-k at most {}", split_k) : "");
}

namespace {

int64_t power_of_two_at_least(int64_t value) {
  int64_t result = 1;
  while (result < value) result *= 2;
  return result;
}

constexpr int64_t kMostHeld = 32; ///< registers of one tile-wide value in a thread
constexpr int64_t kMostPerRow = kWidestHeldRow / kMostHeld; ///< threads that share a row
constexpr int64_t kWidestStaged = 8;       ///< elements of a vector that a mainloop's stage takes
constexpr int64_t kResidentThreads = 1024; ///< of an SM: 64 registers each
constexpr int64_t kScanned = 16;           ///< elements of a chunk that a thread scans
constexpr int64_t kScanThreads = 256;      ///< most that share a scanned row
constexpr int64_t kSplitThreads = 1024;    ///< of an SM: enough loads in flight
constexpr int64_t kLaneRowThreads = 256;   ///< a block's, where a lane has a row
constexpr int64_t kWidestLaneRow = kLaneRowThreads / 32 * kMostHeld; ///< held columns there

/// The size of an extent for choosing tiles: a named one counts as large. No choice differs for
/// sizes from 2^40 on, and sums with them must not overflow.
int64_t assumed(const Dim& dim) {
  return dim.is_fixed() ? std::min(dim.fixed(), int64_t{1} << 40) : int64_t{1} << 20;
}

class Chooser {
public:
  Chooser(const Graph& graph, const Group& group, const DeviceSpec& device,
          const ScheduleOptions& options)
      : graph_(graph), group_(group), device_(device), options_(options),
        rows_(group.space.extent(group.domain.rows)),
        columns_(group.space.extent(group.domain.columns)) {}

  llvm::Expected<std::vector<Schedule>> run() {
    return group_.matmuls.empty() ? loaded() : matmul();
  }

private:
  llvm::Expected<std::vector<Schedule>> matmul();
  llvm::Error choose_compute(Schedule& schedule) const;
  llvm::Error choose_tile(Schedule& schedule) const;
  int64_t aligned_columns(const Schedule& schedule) const;
  void choose_operands(Schedule& schedule) const;
  OperandSchedule choose_operand(const Schedule& schedule, const Matmul& matmul,
                                 uint32_t operand) const;
  bool lacks_registers(const Schedule& schedule) const;
  bool affords_large_warps(const Schedule& schedule) const;
  std::optional<Schedule> widened(const Schedule& schedule) const;
  void set_warps(Schedule& schedule, bool large) const;
  llvm::Expected<std::vector<Schedule>> loaded();
  int64_t widest_access() const;
  bool shares_rows() const {
    return llvm::any_of(group_.reductions, [](const Reduction& r) { return r.global; });
  }
  /// Partials are merged row by row.
  bool combines() const {
    return llvm::any_of(group_.reads, [](const Read& r) { return r.combine && !r.at_points; });
  }
  void choose_skeleton(Schedule& schedule, bool held) const;
  int64_t merging_threads() const;
  void choose_row_layout(Schedule& schedule) const;
  void choose_lane_row_layout(Schedule& schedule) const;
  std::vector<Schedule> scan() const;
  Schedule scan_layout(int64_t vec) const;

  const Graph& graph_;
  const Group& group_;
  const DeviceSpec& device_;
  const ScheduleOptions& options_;
  const Dim rows_, columns_;
};

llvm::Error Chooser::choose_compute(Schedule& s) const {
  const Op& op = graph_.op(group_.matmuls.front().op);
  const auto compute = compute_type(graph_, group_, options_);
  if (!compute)
    return llvm::make_error<LocatedError>(
        ErrorCode::unsupported,
        fmt::format("matmul of {}: no kernel multiplies this type; cast the operands to a float "
                    "type",
                    graph_.type(op.operands[0]).text()),
        op.location);
  s.compute = *compute;
  s.source = s.compute == ComputeType::f32 ? SourceKind::simt : SourceKind::mma;
  return llvm::Error::success();
}

/// True when a tile of 128 rows would not fit into registers: what is wide, held beside the
/// products, or on its way to the mainloop takes those of half the rows.
bool Chooser::lacks_registers(const Schedule& s) const {
  const auto products = static_cast<int>(group_.matmuls.size());
  if (s.tile_n == 256 || plan_stages(graph_, group_).slots > products) return true;
  if (s.compute == ComputeType::f16x3) return false; // operands are copied as they are
  if (s.source == SourceKind::simt)
    return products > 1 && (options_.precision != MatmulPrecision::highest || has_prologue(group_));
  if (has_prologue(group_)) return true;
  const Op& op = graph_.op(group_.matmuls.front().op);
  if (products == 1) return false;
  // Two tiles of sums leave nothing to spare: only halves, copied as they are, and what joins the
  // products without tiles of its own fit beside them.
  const bool copied = size_of(graph_.type(op.operands[0]).dtype) == 2;
  const bool joins =
      group_.reductions.empty() && group_.writes.size() <= 1 &&
      llvm::none_of(group_.reads, [&](const Read& r) { return is_wide_read(group_, r); });
  return !(copied && joins);
}

/// The depth of a tensor-core tile and the warps that share it. Large warps: 64x64 instead of 64x32
/// read each element of shared memory half as often; two blocks share an SM, so that one's stages
/// run beside the other's mainloop.
void Chooser::set_warps(Schedule& s, bool large) const {
  if (s.compute == ComputeType::f16x3) return set_halves_warps(group_, s);
  const int64_t size = s.compute == ComputeType::tf32 ? 4 : 2;
  s.tile_k = (large ? 128 : 64) / size; // bytes of a line
  s.warp_m = s.tile_m == 128 ? 64 : 32;
  s.warp_n = large || s.tile_n == 256 ? 64 : 32;
  s.stages = large ? 3 : 4;
  const bool many_sums = group_.matmuls.size() > 1 || s.tile_m * s.tile_n > 128 * 128;
  s.staged_loads = many_sums ? 4 : 8;
  s.min_blocks_per_sm = large ? 2 : 1;
  s.threads = 32 * (s.tile_m / s.warp_m) * (s.tile_n / s.warp_n);
}

/// True for one product of operands that are copied as they are over strides that are numbers, at
/// most one reduction along its rows behind it and one store: what else a kernel does takes
/// registers that large warps lack.
bool Chooser::affords_large_warps(const Schedule& s) const {
  const Matmul& matmul = group_.matmuls.front();
  const DType dtype = graph_.type(graph_.op(matmul.op).operands[0]).dtype;
  const bool copied = dtype != DType::f32 || s.compute == ComputeType::tf32;
  return group_.matmuls.size() == 1 && !has_prologue(group_) && copied && columns_.is_fixed() &&
         group_.space.extent(matmul.contraction).is_fixed() && group_.writes.size() <= 1 &&
         group_.reductions.size() <= 1 && llvm::none_of(group_.reductions, [](const Reduction& r) {
           return r.span == ReduceSpan::column;
         });
}

/// A tile of large warps twice as wide, where that pays: it reads three quarters of the bytes for a
/// product, which the L2 cache hardly gives in time. One block has an SM then, and what its tiles
/// leave of the last wave idle must not cost more.
std::optional<Schedule> Chooser::widened(const Schedule& s) const {
  const bool large = s.source == SourceKind::mma && s.min_blocks_per_sm == 2;
  const bool copied =
      llvm::all_of(s.operands, [](const OperandSchedule& o) { return o.path == PathKind::direct; });
  if (!large || !copied || s.scheduler == TileScheduler::split_k || s.step_n != s.tile_n)
    return std::nullopt;
  Schedule wide = s;
  wide.tile_n = wide.step_n = 2 * s.tile_n;
  wide.threads = 2 * s.threads;
  wide.min_blocks_per_sm = 1;
  if (step_demand(group_.reductions).divides % wide.step_n != 0 ||
      wide.tile_n > kTileWidths.back() ||
      shared_bytes(graph_, group_, wide) > device_.shared_per_block)
    return std::nullopt;
  auto waves = [&](int64_t columns, int64_t blocks) {
    const Dim batch = group_.space.extent(group_.domain.batch);
    const int64_t rows = (assumed(rows_) + s.tile_m - 1) / s.tile_m;
    const int64_t tiles = std::min(assumed(batch), int64_t{1} << 20) * rows *
                          ((assumed(columns_) + columns - 1) / columns);
    return (tiles + blocks - 1) / blocks;
  };
  const int64_t by_one = waves(wide.tile_n, device_.sm_count);
  if (by_one == 1 || 7 * by_one > 8 * waves(s.tile_n, 2 * device_.sm_count)) return std::nullopt;
  return wide;
}

llvm::Error Chooser::choose_tile(Schedule& s) const {
  const StepDemand demand = step_demand(group_.reductions);
  const int64_t multiple = demand.multiple, widest = kTileWidths.back();
  if (multiple > widest)
    return make_error(ErrorCode::unsupported,
                      "local reductions need tiles of {} columns; the widest legal tile has {}",
                      multiple, widest);
  s.tile_m = assumed(rows_) <= 64 ? 64 : 128;
  const auto columns = tile_columns(demand, assumed(columns_), widest);
  INGOT_ASSERT(columns); // legality asked the same
  s.tile_n = columns->width;
  if (lacks_registers(s)) s.tile_m = 64;
  if (s.source == SourceKind::simt) {
    if (options_.precision == MatmulPrecision::highest) {
      // Promoted sums take three registers an element: 32 elements a thread.
      s.promote_every = 32;
      // Narrow tiles read less shared memory, and leave more partials of rows.
      const bool partials = llvm::any_of(group_.reductions, [](auto& r) { return r.global; });
      if (s.tile_n == 128 && 64 % multiple == 0 && !partials) s.tile_n = 64;
      s.tile_m = std::min(s.tile_m, 128 * 64 / s.tile_n);
    }
    s.tile_k = 16;
    s.stages = 2;
    s.threads = 256;
    s.min_blocks_per_sm = group_.matmuls.size() == 1 && s.tile_m * s.tile_n <= 64 * 64 ? 2 : 1;
  } else {
    set_warps(s, s.tile_m == 128 && s.tile_n == 128 && affords_large_warps(s));
  }
  s.step_n = s.tile_n == columns->width ? columns->step : s.tile_n / multiple * multiple;
  return llvm::Error::success();
}

/// The largest power of two, at most 16, that divides the first column of every tile. No access
/// along the columns may be wider: it would be misaligned, and the last one of a tile would reach
/// into the next tile's columns.
int64_t Chooser::aligned_columns(const Schedule& s) const {
  const bool one_tile = columns_.is_fixed() && columns_.fixed() <= s.step_n;
  return one_tile ? 16 : std::gcd<int64_t>(s.step_n, 16);
}

OperandSchedule Chooser::choose_operand(const Schedule& s, const Matmul& matmul,
                                        uint32_t operand) const {
  const MatmulOperand& from = matmul.operands[operand];
  const Access& access = group_.reads[from.read].access;
  const DType dtype = graph_.type(access.value).dtype;
  const int64_t whole = std::min<int64_t>(16 / size_of(dtype), kWidestStaged);
  const IndexFormula formula =
      index_formula(group_, access, operand_coordinates(group_, matmul, operand), whole);
  OperandSchedule result;
  // Neighbours along the batch (0) are no neighbours in a tile. Tiles begin at multiples of tile_m
  // rows and of step_n columns.
  const bool bounded = operand == 1 && formula.contiguous == 1;
  result.vec = formula.contiguous == 0 ? 1
               : bounded               ? std::min(formula.widest, aligned_columns(s))
                                       : formula.widest;
  // What is computed or converted on the way needs registers; SIMT tiles are transposed while
  // staged.
  const bool converts =
      s.source == SourceKind::simt || (dtype == DType::f32 && s.compute != ComputeType::tf32);
  const bool copied = from.prologue.empty() && !converts && result.vec * size_of(dtype) == 16;
  result.path = copied ? PathKind::direct : PathKind::staged;
  return result;
}

void Chooser::choose_operands(Schedule& s) const {
  for (const Matmul& matmul : group_.matmuls)
    for (uint32_t operand : {0, 1}) s.operands.push_back(choose_operand(s, matmul, operand));
}

llvm::Expected<std::vector<Schedule>> Chooser::matmul() {
  Schedule fast;
  if (auto error = choose_compute(fast)) return error;
  if (auto error = choose_tile(fast)) return error;
  choose_operands(fast);
  choose_split(group_, device_, fast);
  const Schedule usual = fast;
  const auto wide = widened(usual);
  if (wide) fast = *wide;
  if (fast.compute == ComputeType::f16x3) deepen_halves_stages(group_, device_, fast);
  const int64_t layout_vec = fast.source == SourceKind::simt ? 4 : 2;
  fast.vec = std::min(layout_vec, aligned_columns(fast));
  Schedule narrow = fast; // of stores
  if (fast.source == SourceKind::mma) fast.staging = Staging::drained_stage;
  Schedule general = narrow;
  // Of the same tile, in more and smaller pieces: what is staged takes registers. A wide tile is
  // too large then, but partial states, which variants share, are a tile's.
  if (general.source == SourceKind::mma && general.compute != ComputeType::f16x3) {
    if (wide && !shares_rows()) {
      general.tile_n = usual.tile_n;
      general.step_n = usual.step_n;
    }
    set_warps(general, false);
  }
  general.operands.assign(fast.operands.size(), {PathKind::staged, 1});
  general.vec = 1;
  if (staging_needs_sizes(graph_, group_, fast)) return std::vector{fast, narrow, general};
  return std::vector{fast, general};
}

/// Elements of 16 bytes of the narrowest tensor that is read or written along the columns.
int64_t Chooser::widest_access() const {
  int64_t widest = 1;
  const auto coordinates = stage_coordinates(group_);
  auto consider = [&](const Access& access) {
    const int64_t whole = 16 / size_of(graph_.type(access.value).dtype);
    const IndexFormula formula = index_formula(group_, access, coordinates, whole);
    if (formula.contiguous == 2) widest = std::max(widest, formula.widest);
  };
  for (const Read& read : group_.reads) consider(read.access);
  for (const Write& write : group_.writes) consider(write.access);
  return widest;
}

/// What walks loaded rows that are not held, chunk by chunk: a block each, or where blocks share
/// them the split skeleton. Shared too are rows of which partial states are merged: each block
/// merges all of them again, and had better do much with the result.
void Chooser::choose_skeleton(Schedule& s, bool held) const {
  const bool reduces = !group_.reductions.empty();
  if (shares_rows() || (!reduces && !held && combines() && rows_.is_fixed())) {
    s.skeleton = Skeleton::split;
    const int64_t row_tiles = (assumed(rows_) + s.tile_m - 1) / s.tile_m;
    s.parts = std::max<int64_t>(1, device_.sm_count * kSplitThreads / s.threads /
                                       std::max<int64_t>(1, row_tiles));
  } else {
    s.skeleton = held || !reduces ? Skeleton::held : Skeleton::streamed;
  }
}

void Chooser::choose_lane_row_layout(Schedule& s) const {
  s.row_threads = RowThreads::along_rows;
  s.vec = 1;
  s.threads = kLaneRowThreads;
  s.tile_m = kRowsOfAWarp;
  const int64_t warps = s.threads / 32;
  s.per_row = warps;
  const bool held = columns_.is_fixed() && columns_.fixed() <= kWidestLaneRow && !shares_rows();
  s.chunks = held ? std::max<int64_t>(1, (columns_.fixed() + warps - 1) / warps) : 16;
  s.tile_n = warps * s.chunks;
  choose_skeleton(s, held);
}

/// Threads that merge the states of a result: a warp, and more where each would take many.
int64_t Chooser::merging_threads() const {
  constexpr int64_t kMostStates = 8, kPoints = kUsualTileWidth * 64; // of a thread, of a state
  int64_t threads = 32;
  for (const Read& read : group_.reads) {
    if (!read.combine) continue;
    const Op& op = graph_.producer(read.access.value);
    const int64_t states = assumed(element_count(graph_.type(op.operands[0]).shape)) / kPoints /
                           std::max<int64_t>(1, assumed(element_count(read.access.shape)));
    while (threads < kMostPerRow && states > kMostStates * threads) threads *= 2;
  }
  return threads;
}

void Chooser::choose_row_layout(Schedule& s) const {
  const bool reduces = !group_.reductions.empty();
  const int64_t columns = assumed(columns_);
  const int64_t packs = (columns + s.vec - 1) / s.vec;
  int64_t per_row = std::min<int64_t>(power_of_two_at_least(packs), 32);
  if (columns_.is(1) && combines()) per_row = merging_threads();
  // Enough threads that a row fits in registers, up to a whole block; then stream.
  while (per_row < kMostPerRow && (packs + per_row - 1) / per_row * s.vec > kMostHeld / 2)
    per_row *= 2;
  if (!reduces && !combines()) per_row = std::min<int64_t>(per_row, 256);
  int64_t chunks = std::max<int64_t>(1, (packs + per_row - 1) / per_row);
  // All variants have one chunk width where they share partial states.
  const bool held = columns_.is_fixed() && chunks * s.vec <= kMostHeld && !shares_rows();
  if (!held) {
    per_row = reduces ? 512 : 256;
    chunks = std::max<int64_t>(1, 16 / s.vec);
  }
  s.per_row = per_row;
  s.chunks = chunks;
  s.threads = std::max<int64_t>(per_row, 128);
  s.tile_m = s.threads / per_row;
  s.tile_n = per_row * chunks * s.vec;
  choose_skeleton(s, held);
  // Two blocks of a long row share an SM, so that one loads while the other reduces.
  if (chunks * s.vec <= kMostHeld / 2 && plan_stages(graph_, group_).slots <= 2)
    s.min_blocks_per_sm = std::max<int64_t>(1, kResidentThreads / s.threads);
}

/// Threads of one warp share a row while that leaves a thread no more than kScanned elements of a
/// chunk; then more warps do, up to a whole block.
Schedule Chooser::scan_layout(int64_t vec) const {
  Schedule s;
  s.source = SourceKind::loaded;
  s.skeleton = Skeleton::scanned;
  s.group_rows = 1;
  s.vec = vec;
  const int64_t packs = (assumed(columns_) + vec - 1) / vec;
  const int64_t most_chunks = std::max<int64_t>(1, kScanned / vec);
  s.per_row = std::min<int64_t>(power_of_two_at_least(packs), 32);
  while (s.per_row < kScanThreads && packs > s.per_row * most_chunks) s.per_row *= 2;
  s.chunks = std::clamp<int64_t>((packs + s.per_row - 1) / s.per_row, 1, most_chunks);
  s.threads = std::max<int64_t>(s.per_row, 128);
  s.tile_m = s.threads / s.per_row;
  s.tile_n = s.step_n = s.per_row * s.chunks * vec;
  return s;
}

std::vector<Schedule> Chooser::scan() const {
  if (rows_are_adjacent(group_, group_.space)) {
    Schedule s = scan_layout(1);
    s.row_threads = RowThreads::along_rows;
    s.threads = kLaneRowThreads;
    s.tile_m = 32;
    s.per_row = s.threads / 32;
    s.chunks = std::clamp<int64_t>((assumed(columns_) + s.per_row - 1) / s.per_row, 1, kScanned);
    s.tile_n = s.step_n = s.per_row * s.chunks;
    return {s};
  }
  std::vector<Schedule> schedules;
  if (const int64_t vec = widest_access(); vec > 1) schedules.push_back(scan_layout(vec));
  schedules.push_back(scan_layout(1));
  return schedules;
}

llvm::Expected<std::vector<Schedule>> Chooser::loaded() {
  if (group_.scan) return scan();
  Schedule fast;
  fast.source = SourceKind::loaded;
  fast.group_rows = 1;
  const bool segments = llvm::any_of(
      group_.reductions, [](const Reduction& r) { return r.span == ReduceSpan::segment; });
  // Parts of a row need all of it held.
  if (rows_are_adjacent(group_, group_.space) && !(segments && columns_.fixed() > kWidestLaneRow)) {
    choose_lane_row_layout(fast);
    fast.step_n = fast.tile_n;
    return std::vector<Schedule>{fast};
  }
  std::vector<Schedule> schedules;
  fast.vec = widest_access();
  if (fast.vec > 1) {
    choose_row_layout(fast);
    fast.step_n = fast.tile_n;
    schedules.push_back(fast);
  }
  Schedule general;
  general.group_rows = 1;
  choose_row_layout(general);
  general.step_n = general.tile_n;
  schedules.push_back(general);
  return schedules;
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_schedules(const Graph& graph, const Group& group,
                                                       const DeviceSpec& device,
                                                       const ScheduleOptions& options) {
  auto schedules = Chooser(graph, group, device, options).run();
  if (!schedules) return schedules.takeError();
  for (Schedule& schedule : *schedules) {
    schedule.shared_bytes = shared_bytes(graph, group, schedule);
    if (schedule.shared_bytes > device.shared_per_block)
      return make_error(ErrorCode::unsupported,
                        "a kernel needs {} bytes of shared memory, {} has {}: its segments do not "
                        "divide the tile",
                        schedule.shared_bytes, device.name, device.shared_per_block);
  }
  return schedules;
}

MatmulTile matmul_tile(const Schedule& schedule, const DeviceSpec& device) {
  // A multiply-add counts as two; operands of 32 bits take twice the time of halves.
  const double flops = schedule.compute == ComputeType::f32     ? device.f32_flops
                       : schedule.compute == ComputeType::tf32  ? device.tensor_flops / 2
                       : schedule.compute == ComputeType::f16x3 ? device.tensor_flops / 3
                                                                : device.tensor_flops;
  return {schedule.tile_m, schedule.step_n, flops / 2};
}

MachineRates machine_rates(const DeviceSpec& device) {
  MachineRates rates;
  rates.bytes_per_second = device.bytes_per_second;
  rates.instructions_per_second = device.f32_flops / 2; // a multiply-add counts as two
  return rates;
}

} // namespace ingot
