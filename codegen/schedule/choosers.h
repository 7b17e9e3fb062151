// SPDX-License-Identifier: Apache-2.0
// The two parts of choose_schedules: for groups with matmuls, and for loaded rows.
#pragma once

#include "codegen/schedule/choose.h"
#include "ir/assumed_size.h"

#include <algorithm>

namespace ingot {

/// True if blocks share rows of the domain.
inline bool shares_rows(const Group& group) {
  return std::any_of(group.reductions.begin(), group.reductions.end(),
                     [](const Reduction& r) { return r.global; });
}

/// The number of blocks with `bytes` bytes of shared memory for which an SM has memory.
inline int64_t blocks_by_memory(int64_t bytes, const DeviceSpec& device) {
  return device.shared_per_sm / (bytes + kReservedSharedBytes);
}

/// As choose_schedules, but shared_bytes is not set. `compute`: by default that of compute_type.
llvm::Expected<std::vector<Schedule>>
choose_product_schedules(const ScheduleSite& site, const ScheduleChoice& choice,
                         std::optional<ComputeType> compute = {});
/// The same for a product whose operand A the kernel computes.
llvm::Expected<std::vector<Schedule>> choose_nested_schedules(const ScheduleSite& site);
/// The other ways of the target's family to compute A, each before the `usual` ones.
Candidates nested_candidates(const ScheduleSite& site, llvm::ArrayRef<Schedule> usual);
llvm::Expected<std::vector<Schedule>> choose_row_schedules(const ScheduleSite& site,
                                                           const ScheduleChoice& choice);

inline constexpr int64_t kMostHeld = 32; ///< registers of one tile-wide value per thread of a row
inline constexpr int64_t kMostPerRow = kWidestHeldRow / kMostHeld; ///< threads that share a row

/// The blocks of a cluster that may share a row: up to 8 run on every card that has clusters.
inline constexpr int64_t kClusterSizes[] = {1, 2, 4, 8};

/// Schedules that keep rows in shared memory, each before those of `streamed`. None if the memory
/// does not hold the rows. `choice`: threads and blocks that share a row.
Candidates kept_candidates(const ScheduleSite& site, llvm::ArrayRef<Schedule> streamed,
                           const ScheduleChoice& choice);

/// The most parts of K, the least K of a part, and the most tiles times parts.
struct SplitLimits {
  int64_t parts, depth, blocks;
};
/// Those of a product whose operands are in memory.
SplitLimits split_limits(const ScheduleSite& site, const Schedule& schedule);
/// Splits K if that fills the machine.
void choose_split(const ScheduleSite& site, const SplitLimits& limits, Schedule& schedule);

} // namespace ingot
