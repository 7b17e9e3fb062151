// SPDX-License-Identifier: Apache-2.0
// Schedules of kernels without matmuls: the distribution of a row over threads. See row_chooser.h.
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/row_chooser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace ingot {
namespace {

/// Threads of a row that is read once in any layout. Two warps go through it chunk by chunk, and no
/// more warps wait for one another. This needs four rows for each row that an SM has in flight;
/// with fewer, the last rows would leave SMs idle for a row's time.
constexpr int64_t kThreadsOfALongRow = 64;
constexpr int64_t kRoundsOfRows = 4;
constexpr int64_t kHeldByFew = 128 * kMostHeld; ///< up to here, columns are better held
constexpr int64_t kScanned = 16;                ///< elements of a chunk that a thread scans
constexpr int64_t kScanThreads = 256;           ///< most threads that share a scanned row
constexpr int64_t kSplitThreads = 1024;         ///< threads per SM: enough loads in flight
/// The elements and addresses of more operands along a row that a thread has, as 32-bit registers;
/// and those of a vector of each. With more, threads of 64 registers spill: by ptxas 13.0, 376
/// bytes with 16 elements of 12 operands in bf16, and none with 8.
constexpr int64_t kOperandRegisters = 160, kVectorRegisters = 40;

int64_t power_of_two_at_least(int64_t value) {
  int64_t result = 1;
  while (result < value) result *= 2;
  return result;
}

} // namespace

/// The number of elements in 16 bytes of the narrowest tensor that is accessed along the columns,
/// or along the rows.
int64_t RowChooser::widest_access(Coordinate along) const {
  int64_t widest = 1;
  const auto coordinates = stage_coordinates(group_);
  auto whole = [&](ValueId value) { return kWidestAccess / size_of(graph_.stored_type(value)); };
  auto consider = [&](const IndexMap& map, ValueId value) {
    if (map.contiguous == along) widest = std::max(widest, map.widest(whole(value)));
  };
  for (const Read& read : group_.reads)
    consider(index_map(group_, read.access, coordinates), read.access.value);
  for (const Write& write : group_.writes) consider(store_map(group_, write.access), write.value);
  return widest;
}

/// The elements of a row per thread: kUnderWay bytes of the widest tensor that is read along rows
/// and columns.
int64_t RowChooser::usual_held() const {
  int64_t size = 2;
  for (int64_t wide : wide_sizes_) size = std::max(size, wide);
  return std::clamp<int64_t>(kUnderWay / size, kMostHeld / 2, kMostHeld);
}

/// The most elements of a row for a thread that reads them of all operands.
int64_t RowChooser::most_with_operands() const {
  constexpr int64_t kAddress = 2; // registers
  if (operands_ <= kFewOperands) return kMostHeld;
  const int64_t fits = std::max<int64_t>(1, kOperandRegisters / operands_ - kAddress);
  return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(fits)));
}

/// The widest access with which a vector of each operand fits the registers.
int64_t RowChooser::widest_with_operands() const {
  if (operands_ <= kFewOperands) return widest_access();
  const int64_t fits =
      std::max<int64_t>(1, kVectorRegisters * 4 / std::max<int64_t>(1, read_bytes_));
  return std::min(widest_access(),
                  static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(fits))));
}

/// True for many rows whose elements serve a single reduction. It reads them once in any layout.
bool RowChooser::is_read_once() const {
  const bool one = group_.reductions.size() == 1 && !group_.reductions.front().global &&
                   group_.reductions.front().span == ReduceSpan::row;
  return one &&
         llvm::none_of(group_.writes, [&](const Write& w) { return has_columns(w.access); }) &&
         rows_.is_fixed() && assumed(columns_) > kHeldByFew &&
         rows_.fixed() * kThreadsOfALongRow >= kRoundsOfRows * kResidentThreads * device_.sm_count;
}

/// Chooses the skeleton for loaded rows. Rows that are not held are walked chunk by chunk: each by
/// one block, or under the split skeleton by blocks that share them. Rows for which partial states
/// are merged are shared too: each block merges all states again, so it should do much with the
/// result.
void RowChooser::choose_skeleton(Schedule& s, bool held) const {
  const bool reduces = !group_.reductions.empty();
  if (shares_rows_ || (!reduces && !held && combines() && rows_.is_fixed())) {
    s.skeleton = Skeleton::split;
    const int64_t row_tiles = (assumed(rows_) + s.tile_m - 1) / s.tile_m;
    s.parts = std::max<int64_t>(1, device_.sm_count * kSplitThreads / s.threads /
                                       std::max<int64_t>(1, row_tiles));
  } else {
    s.skeleton = held || !reduces ? Skeleton::held : Skeleton::streamed;
  }
}

/// The rows of a thread. There are several if its share of one row is less than it should have in
/// flight, and if tiles of so many rows fill all SMs.
int64_t RowChooser::rows_of_a_thread(const Schedule& s) const {
  constexpr int64_t kMostRows = 8;
  if (!is_apart() || wide_bytes_ == 0 || s.per_row > kLanes || s.skeleton != Skeleton::held)
    return 1;
  const int64_t elements = s.chunks * s.vec;
  const auto suits = [&](int64_t rows) {
    const int64_t tiles = assumed(row_tile_count(body_, rows * s.tile_m));
    return rows * elements * wide_bytes_ <= kUnderWay &&
           rows * elements * std::max(1, body_.tile_slots) <= kMostHeld &&
           tiles * s.threads >= device_.sm_count * kResidentThreads;
  };
  int64_t rows = kMostRows;
  while (rows > 1 && !suits(rows)) rows /= 2;
  return rows;
}

/// The number of threads that merge the states of a result: a warp, or more if each would merge
/// many.
int64_t RowChooser::merging_threads() const {
  constexpr int64_t kMostStates = 8, kPoints = kUsualTileWidth * 64; // per thread, per state
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

void RowChooser::choose_row_layout(Schedule& s) const {
  const bool reduces = !group_.reductions.empty();
  const int64_t columns = assumed(columns_);
  const int64_t packs = (columns + s.vec - 1) / s.vec;
  int64_t per_row = std::min<int64_t>(power_of_two_at_least(packs), 32);
  if (columns_.is(1) && combines()) per_row = merging_threads();
  // Enough threads that a row fits in registers, up to a whole block. A longer row is streamed or
  // kept. If there are rows for all SMs, a reduced row has the fewest threads that hold it. Fewer
  // threads wait for one another, and an SM has more rows in flight.
  constexpr int64_t kRowsOfAnSm = 8;
  const bool many = assumed(rows_) >= kRowsOfAnSm * device_.sm_count;
  const int64_t most =
      std::min(reduces && many ? kMostHeld : usual_held(), std::max(s.vec, most_with_operands()));
  const bool once = is_read_once();
  const int64_t most_threads = once ? kThreadsOfALongRow : kMostPerRow;
  while (per_row < most_threads && (packs + per_row - 1) / per_row * s.vec > most) per_row *= 2;
  // Half as many threads may have a row without a ragged end (Predictor::rows).
  const bool is_ragged = packs > per_row && packs % per_row != 0;
  const int64_t held_by_half = 2 * packs / per_row * s.vec;
  if (is_ragged && per_row > kLanes && 2 * packs % per_row == 0 && held_by_half <= kMostHeld)
    per_row /= 2;
  if (!reduces && !combines()) per_row = std::min<int64_t>(per_row, 256);
  if (choice_.per_row > 0) per_row = choice_.per_row;
  int64_t chunks = std::max<int64_t>(1, (packs + per_row - 1) / per_row);
  const bool has_choice = !reduces && !combines() && choice_.held > 0;
  const bool held =
      columns_.is_fixed() && chunks * s.vec <= kMostHeld && !shares_rows_ && !has_choice;
  if (!held) {
    if (choice_.per_row == 0) per_row = once ? kThreadsOfALongRow : reduces ? 512 : 256;
    // All variants have the same chunk width if they share partial states.
    const int64_t usual = std::min(once ? kMostHeld : usual_held(), most_with_operands());
    const int64_t elements = choice_.held > 0 ? choice_.held : usual;
    chunks = std::max(elements, widest_with_operands()) / s.vec;
  }
  s.per_row = per_row;
  s.chunks = chunks;
  s.threads = std::max<int64_t>(per_row, 128);
  s.tile_m = s.threads / per_row;
  s.tile_n = per_row * chunks * s.vec;
  choose_skeleton(s, held);
  if (choice_.per_row == 0) s.tile_m *= rows_of_a_thread(s);
  // Blocks share an SM, so that one loads while another reduces.
  if (chunks * s.vec * body_.tile_slots <= kMostHeld)
    s.min_blocks_per_sm = std::max<int64_t>(1, kResidentThreads / s.threads);
  if (choice_.min_blocks > 0) s.min_blocks_per_sm = choice_.min_blocks;
}

/// The threads of one warp share a row while a thread has at most kScanned elements of a chunk.
/// Then more warps share it, up to a whole block.
Schedule RowChooser::scan_layout(int64_t vec) const {
  Schedule s;
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

std::vector<Schedule> RowChooser::scan() const {
  if (rows_are_adjacent(group_, group_.space)) {
    Schedule s = scan_layout(1);
    s.row_threads = RowThreads::along_rows;
    s.threads = kLanes * kLaneRowWarps;
    s.tile_m = kLanes;
    s.per_row = kLaneRowWarps;
    s.chunks = std::clamp<int64_t>((assumed(columns_) + s.per_row - 1) / s.per_row, 1, kScanned);
    s.tile_n = s.step_n = s.per_row * s.chunks;
    return {s};
  }
  std::vector<Schedule> schedules;
  if (const int64_t vec = widest_access(); vec > 1) schedules.push_back(scan_layout(vec));
  schedules.push_back(scan_layout(1));
  return schedules;
}

llvm::Expected<std::vector<Schedule>> RowChooser::run() {
  if (group_.scan) return scan();
  Schedule fast;
  fast.group_rows = 1;
  if (crosses())
    if (std::vector<Schedule> schedules = crossing_lanes(); !schedules.empty()) return schedules;
  // Segments of a row need the whole row to be held.
  if (rows_are_adjacent(group_, group_.space) &&
      !(has_segments() && columns_.fixed() > kWidestLaneRow))
    return lane_rows();
  std::vector<Schedule> schedules;
  fast.vec = widest_with_operands();
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

llvm::Expected<std::vector<Schedule>> choose_row_schedules(const ScheduleSite& site,
                                                           const ScheduleChoice& choice) {
  return RowChooser(site, choice).run();
}

} // namespace ingot
