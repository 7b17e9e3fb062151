// SPDX-License-Identifier: Apache-2.0
// The schedules of a kernel, chosen by arithmetic over its group and a DeviceSpec.
#pragma once

#include "codegen/kernel/kernel.h"
#include "ir/machine/device_spec.h"
#include "ir/precision.h"

namespace ingot {

/// The part of a schedule that a tuner varies. 0: choose_schedules decides.
struct ScheduleChoice {
  int64_t tile_m = 0, tile_n = 0; ///< a matmul's tile in elements; tile_m: also rows of lanes
  int64_t warp_m = 0;             ///< by wgmma: rows of a warp: 16, 32, or all of the tile
  int64_t warp_n = 0;             ///< columns of a warp of the tile: 32, or 64 for large warps
  int64_t slots = 0;              ///< slots of the mainloop's pipeline
  int64_t group_rows = 0;         ///< as in Schedule
  int64_t split_k = 0;            ///< 1: K is not split; 0: it is, if that fills the machine
  int64_t per_row = 0;            ///< threads that share a loaded row
  int64_t held = 0;               ///< elements of a chunk of the row per thread
  int64_t min_blocks = 0;         ///< blocks that fit the registers of an SM
  /// Blocks that share a row in shared memory. By wgmma: blocks that share the copies of B; 0: 1.
  int64_t cluster = 0;
  int64_t tile_k = 0;  ///< by wgmma: k of a slot, 32 in TF32, else 64
  int64_t packs_a = 0; ///< 1: a product by wgmma packs its own A
  int64_t wgmma = 0;   ///< slots of a product by wgmma; 0: by mma.sync or FMA

  /// `tile_m=128 stages=4`; empty without any.
  std::string text() const;
  /// Reads the output of text(). Errors: ErrorCode::invalid_argument.
  static llvm::Expected<ScheduleChoice> parse(llvm::StringRef text);
  friend bool operator==(const ScheduleChoice&, const ScheduleChoice&) = default;
};

/// The choice that gives another kernel the mainloop of a schedule, if it is legal there.
ScheduleChoice choice_of(const Schedule& schedule);

/// The least number of multiply-adds for which an f32 product is computed on tensor cores.
struct LeastProducts {
  int64_t halves = int64_t{1} << 27; ///< after those in whose time a launch makes the halves
  /// FMA waits for each of its short slots. On an H200, us by FMA and by thirds: 8 x 768 by 256 and
  /// its mean 19.3, 13.3; 100 x 100 by 256 19.8, 15.5; 128 x 10 by 2048 22.4, 15.8.
  int64_t thirds = int64_t{1} << 20;
};

struct ScheduleOptions {
  MatmulPrecision precision = MatmulPrecision::highest;
  LeastProducts least_products;
  Family family = Family::sm_80;
};

/// The type in which a group's matmuls multiply their operands; none: no kernel multiplies them.
std::optional<ComputeType> compute_type(const Graph& graph, const Group& group,
                                        const ScheduleOptions& options);

/// The inputs of a choice of schedules.
struct ScheduleSite {
  const Graph& graph;
  const Group& group;
  const Kernel& kernel; ///< the kernel of the group, or its outline
  const DeviceSpec& device;
  ScheduleOptions options;
};

/// The variants of a group's kernel in the order in which launch tries them. The last one takes any
/// alignment. Errors: ErrorCode::unsupported if no source computes the group's types, or if
/// `choice` does not fit its reductions or the shared memory. Other limits of `choice` are not
/// checked here. chosen_schedules (codegen/schedule/candidates.h) accepts only the choices that a
/// tuner may try.
llvm::Expected<std::vector<Schedule>> choose_schedules(const ScheduleSite& site,
                                                       const ScheduleChoice& choice = {});

/// The predicted seconds of a launch of the group's kernel, and of the kernels that its schedule
/// needs beside it in each launch. `params_only`: of depends_only_on_params.
double launch_seconds(const ScheduleSite& site, const Schedule& schedule,
                      const std::vector<bool>& params_only);

/// The tile of a matmul's schedule, for the cost of a fusion.
MatmulTile matmul_tile(const Schedule& schedule, const DeviceSpec& device);

/// The rates of a device, for the cost of a fusion.
MachineRates machine_rates(const DeviceSpec& device);

/// Ways to run a kernel: the variants of each, from the fastest to the general one.
using Candidates = std::vector<std::vector<Schedule>>;

} // namespace ingot
