// SPDX-License-Identifier: Apache-2.0
// The schedules of a kernel, chosen by arithmetic over its group and a DeviceSpec.
#pragma once

#include "codegen/kernel/kernel.h"
#include "ir/machine/device_spec.h"
#include "ir/precision.h"

namespace ingot {

/// What a tuner varies about a kernel. 0: as choose_schedules does without it.
struct ScheduleChoice {
  int64_t tile_m = 0, tile_n = 0; ///< of a matmul's tile, in elements; m also of rows of lanes
  int64_t warp_n = 0;             ///< columns of a warp of it: 32, or the larger warps of 64
  int64_t stages = 0;             ///< of its mainloop
  int64_t group_rows = 0;         ///< as in Schedule
  int64_t split_k = 0;            ///< 1: no part of a contraction is a block's own
  int64_t per_row = 0;            ///< threads that share a loaded row
  int64_t held = 0;               ///< elements of a chunk of it that a thread has
  int64_t min_blocks = 0;         ///< that an SM has registers for

  /// `tile_m=128 stages=4`; empty without any.
  std::string text() const;
  /// What text() wrote. Errors: ErrorCode::invalid_argument.
  static llvm::Expected<ScheduleChoice> parse(llvm::StringRef text);
  friend bool operator==(const ScheduleChoice&, const ScheduleChoice&) = default;
};

struct ScheduleOptions {
  MatmulPrecision precision = MatmulPrecision::highest;
  /// Multiply-adds from which an f32 product is worth making halves of its operands, less the time
  /// that making them takes each launch.
  int64_t halves_from = int64_t{1} << 27;
};

/// What multiplies the operands of a group's matmuls; none: no kernel does.
std::optional<ComputeType> compute_type(const Graph& graph, const Group& group,
                                        const ScheduleOptions& options);

/// What schedules are chosen for.
struct ScheduleSite {
  const Graph& graph;
  const Group& group;
  const Kernel& kernel; ///< of the group, or its outline
  const DeviceSpec& device;
  ScheduleOptions options;
};

/// The variants of a group's kernel in the order in which launch tries them; the last one takes
/// any alignment. Errors: ErrorCode::unsupported where no source computes the group's types, or
/// `choice` fits its reductions or the shared memory in no way. The caller answers for what else
/// it asks: chosen_schedules (codegen/schedule/candidates.h) takes what a tuner may try.
llvm::Expected<std::vector<Schedule>> choose_schedules(const ScheduleSite& site,
                                                       const ScheduleChoice& choice = {});

/// The tile of a matmul's schedule, as the cost of a fusion asks.
MatmulTile matmul_tile(const Schedule& schedule, const DeviceSpec& device);

/// What a device's numbers are for the cost of a fusion.
MachineRates machine_rates(const DeviceSpec& device);

} // namespace ingot
