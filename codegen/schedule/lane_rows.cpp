// SPDX-License-Identifier: Apache-2.0
// Schedules for lanes that have loaded rows of their own. See row_chooser.h.
#include "codegen/kernel/split_k.h"
#include "codegen/schedule/row_chooser.h"

#include "llvm/ADT/bit.h"

namespace ingot {
namespace {

/// The columns of a warp, of all its tiles, from which lanes that have a row each fill the machine:
/// an estimate.
constexpr int64_t kColumnsOfAWarp = 64;

} // namespace

/// True if a thread has one tensor's elements at a time and holds none of them. Then 64 elements of
/// 16-bit types fit the 128 registers of 512 threads.
bool RowChooser::is_lean() const { return wide_sizes_.size() <= 1 && body_.tile_slots == 0; }

/// True if one lane or a few can hold a row, and so many lanes fill the machine.
bool RowChooser::has_few_columns(bool held) const {
  constexpr int64_t kFew = 32;
  const int64_t lanes = assumed(row_tile_count(body_, kLanes)) * kLanes;
  return held && columns_.is_fixed() && columns_.fixed() <= kFew && !has_segments() &&
         4 * lanes >= 3 * device_.sm_count * kResidentThreads;
}

/// The adjacent rows of a lane. Two rows of a 16-bit type are a word, so that a warp reads lines of
/// 128 bytes. If a lane holds few columns, its rows fill an access. This needs enough tiles of that
/// width to fill the machine, and registers for the elements per thread.
int64_t RowChooser::rows_of_a_lane(const Schedule& s, bool held) const {
  if (choice_.tile_m > 0) return choice_.tile_m / kLanes;
  constexpr int64_t kWord = 2; ///< rows per word
  const bool is_narrow = llvm::all_of(wide_sizes_, [](int64_t size) { return size <= 2; });
  const bool few = has_few_columns(held);
  if (has_segments() || (!few && (!is_narrow || !is_lean()))) return 1;
  const auto suits = [&](int64_t rows) {
    const int64_t elements = rows * s.chunks, tile = rows * kLanes;
    if (held && elements * std::max(1, body_.tile_slots) > kMostHeld) return false;
    if (few && elements * wide_bytes_ > kUnderWay) return false;
    const int64_t width = rows * s.per_row * s.chunks; // as in add_warps
    const int64_t parts = shares_rows_ ? assumed(columns_) / width : 1;
    const int64_t tiles = 4 * assumed(row_tile_count(body_, tile)) * parts;
    const int64_t most = few ? kResidentThreads / kLanes / s.per_row : 1; // tiles of an SM
    const bool has_few_idle_lanes = assumed(rows_) % tile == 0 || assumed(rows_) >= 8 * tile;
    return tiles >= 3 * device_.sm_count * most && has_few_idle_lanes;
  };
  int64_t rows = widest_access(Coordinate::row);
  if (!few) rows = std::min(rows, kWord);
  while (rows > 1 && !suits(rows)) rows /= 2;
  return rows;
}

/// Adds warps: a wider tile keeps the number of threads per SM. If tiles are few, an SM gets more
/// threads.
void RowChooser::add_warps(Schedule& s) const {
  constexpr int64_t kMostWarps = 32;
  const int64_t rows = s.tile_m / kLanes;
  s.per_row *= rows;
  if (shares_rows_ || !is_lean() || !rows_.is_fixed()) return;
  while (rows * s.per_row < kMostWarps &&
         4 * assumed(row_tile_count(body_, s.tile_m)) * kLanes * s.per_row <
             3 * device_.sm_count * kResidentThreads)
    s.per_row *= 2;
  // 64 registers a thread.
  if (s.per_row == kMostWarps && choice_.held == 0) s.chunks = std::min(s.chunks, kMostHeld / 2);
}

/// Schedules for lanes that have rows of their own. The warps of a block share the columns.
std::vector<Schedule> RowChooser::lane_rows() const {
  Schedule s;
  s.group_rows = 1;
  s.row_threads = RowThreads::along_rows;
  s.per_row = choice_.per_row > 0 ? choice_.per_row : kLaneRowWarps;
  const bool held =
      columns_.is_fixed() && columns_.fixed() <= kMostHeld * s.per_row && !shares_rows_;
  // A warp has up to 8 columns before another one takes some: fewer states are merged.
  if (has_few_columns(held) && choice_.per_row == 0)
    s.per_row = static_cast<int64_t>(llvm::bit_ceil(
        static_cast<uint64_t>((columns_.fixed() + kLaneRowWarps - 1) / kLaneRowWarps)));
  s.chunks = held ? std::max<int64_t>(1, (columns_.fixed() + s.per_row - 1) / s.per_row)
             : choice_.held > 0 ? choice_.held
                                : usual_held();
  const int64_t rows = rows_of_a_lane(s, held);
  s.tile_m = rows * kLanes;
  if (!held && choice_.per_row == 0) add_warps(s);
  s.threads = kLanes * s.per_row;
  s.tile_n = s.step_n = s.per_row * s.chunks;
  choose_skeleton(s, held);
  std::vector<Schedule> schedules;
  s.vec = std::min(rows, widest_access(Coordinate::row));
  if (s.vec > 1) schedules.push_back(s);
  s.vec = 1;
  schedules.push_back(s);
  return schedules;
}

/// True if some tensors of rows and columns are contiguous along the rows, and others along the
/// columns, and lanes with a row each fill the machine.
bool RowChooser::crosses() const {
  bool along_rows = false, along_columns = false;
  const auto consider = [&](const IndexMap& map) {
    if (!is_wide(body_, map)) return;
    along_rows |= map.contiguous == Coordinate::row;
    along_columns |= map.contiguous == Coordinate::col;
  };
  const auto coordinates = stage_coordinates(group_);
  for (const Read& read : group_.reads) consider(index_map(group_, read.access, coordinates));
  for (const Write& write : group_.writes) consider(store_map(group_, write.access));
  return along_rows && along_columns && is_apart() && operands_ <= kFewOperands &&
         assumed(row_tile_count(body_, kLanes)) * assumed(columns_) >=
             kColumnsOfAWarp * kLaneRowWarps * device_.sm_count;
}

/// Schedules for lanes that have a row each and read several adjacent columns at a time. The lanes
/// of a warp touch adjacent rows, so that accesses along the rows are whole lines. Accesses along
/// the columns take parts of a sector, and L1 keeps it for the rest. Empty if the rows are too long
/// to be held.
std::vector<Schedule> RowChooser::crossing_lanes() const {
  std::vector<Schedule> schedules;
  const int64_t widest = widest_access();
  Schedule s;
  s.group_rows = 1;
  s.row_threads = RowThreads::along_both;
  s.tile_m = kLanes;
  s.per_row = choice_.per_row > 0 ? choice_.per_row : kLaneRowWarps;
  s.threads = kLanes * s.per_row;
  const int64_t share = s.per_row * widest; // columns of an access of all warps
  const int64_t accesses = (assumed(columns_) + share - 1) / share;
  const bool held = columns_.is_fixed() && accesses * widest <= kMostHeld;
  if (!held && !group_.reductions.empty()) return schedules;
  const int64_t usual = std::max(widest, usual_held());
  const int64_t elements =
      group_.reductions.empty() ? std::min(usual, accesses * widest) : accesses * widest;
  s.tile_n = s.step_n = s.per_row * elements;
  choose_skeleton(s, held);
  for (s.vec = widest;; s.vec = 1) {
    s.chunks = elements / s.vec;
    schedules.push_back(s);
    if (s.vec == 1) return schedules;
  }
}

} // namespace ingot
