// SPDX-License-Identifier: Apache-2.0
// Chooses the schedules of a kernel without matmuls. rows.cpp has threads that share rows, and
// lane_rows.cpp lanes with rows of their own.
#pragma once

#include "codegen/kernel/index_map.h"
#include "codegen/schedule/choosers.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

inline constexpr int64_t kResidentThreads = 1024; ///< threads per SM: 64 registers each
/// Bytes of a row that a thread has in flight. Little's law: 4.8 TB/s at about 1 us are 36 KB for
/// each SM, a third of the bytes that 1024 such threads request. The rest covers the barriers of a
/// row.
inline constexpr int64_t kUnderWay = 64;
inline constexpr int64_t kFewOperands = 8; ///< along a row; so many never spilled
inline constexpr int64_t kLanes = kRowsOfAWarp;
inline constexpr int64_t kLaneRowWarps = 8; ///< warps of a block whose lanes have a row each
inline constexpr int64_t kWidestLaneRow =
    kLaneRowWarps * kMostHeld; ///< most held columns of such a block

class RowChooser {
public:
  RowChooser(const ScheduleSite& site, const ScheduleChoice& choice)
      : graph_(site.graph), group_(site.group), body_(std::get<TileBody>(site.kernel.body)),
        device_(site.device), choice_(choice), rows_(group_.space.extent(group_.domain.rows)),
        columns_(group_.space.extent(group_.domain.columns)), shares_rows_(shares_rows(group_)) {
    for (const Read& read : group_.reads) {
      const int64_t size = size_of(graph_.stored_type(read.access.value));
      if (is_wide(group_, read)) {
        wide_sizes_.push_back(size);
        wide_bytes_ += size;
      }
      operands_ += has_columns(read.access) ? 1 : 0;
      read_bytes_ += has_columns(read.access) ? size : 0;
    }
    for (const Write& write : group_.writes) operands_ += has_columns(write.access) ? 1 : 0;
  }

  llvm::Expected<std::vector<Schedule>> run();

private:
  /// True if other columns have other elements.
  bool has_columns(const Access& access) const {
    return llvm::any_of(group_.space.leaves(access.dims),
                        [&](Atom atom) { return contains(group_.domain.columns, atom); });
  }
  int64_t widest_access(Coordinate along = Coordinate::col) const;
  /// True if partials are merged row by row.
  bool combines() const {
    return llvm::any_of(group_.reads, [](const Read& r) { return r.combine && !r.at_points; });
  }
  bool has_segments() const {
    return llvm::any_of(group_.reductions,
                        [](const Reduction& r) { return r.span == ReduceSpan::segment; });
  }
  /// True if no other kernel depends on the tiles, and each reduction is of whole rows.
  bool is_apart() const {
    return !combines() && !shares_rows_ && llvm::all_of(group_.reductions, [](const Reduction& r) {
      return r.span == ReduceSpan::row && !r.global;
    });
  }
  int64_t usual_held() const;
  int64_t most_with_operands() const;
  int64_t widest_with_operands() const;
  bool is_read_once() const;
  void choose_skeleton(Schedule& schedule, bool held) const;
  int64_t merging_threads() const;
  void choose_row_layout(Schedule& schedule) const;
  bool is_lean() const;
  void add_warps(Schedule& schedule) const;
  int64_t rows_of_a_thread(const Schedule& schedule) const;
  bool has_few_columns(bool held) const;
  int64_t rows_of_a_lane(const Schedule& schedule, bool held) const;
  std::vector<Schedule> lane_rows() const;
  bool crosses() const;
  std::vector<Schedule> crossing_lanes() const;
  std::vector<Schedule> scan() const;
  Schedule scan_layout(int64_t vec) const;

  const Graph& graph_;
  const Group& group_;
  const TileBody& body_;
  const DeviceSpec& device_;
  const ScheduleChoice& choice_;
  const Dim rows_, columns_;
  const bool shares_rows_;
  llvm::SmallVector<int64_t, 4> wide_sizes_; ///< bytes of an element, by wide read
  int64_t wide_bytes_ = 0;                   ///< of an element of each of those reads
  int64_t operands_ = 0;                     ///< reads and writes that have columns
  int64_t read_bytes_ = 0;                   ///< of an element of each read that has columns
};

} // namespace ingot
