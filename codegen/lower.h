// SPDX-License-Identifier: Apache-2.0
// Turns a fusion plan into kernels and a module. Places stored values in memory, builds and emits
// each kernel as scheduled, and lists the steps of both programs. Called by the compiler.
#pragma once

#include "codegen/kernel/kernel.h"
#include "ir/machine/device_spec.h"

namespace ingot {

struct LoweredPlan {
  /// The kernels of the plan's groups in their order, then those that pack their operands
  /// and those that guard them.
  std::vector<Kernel> kernels;
  Module module; ///< everything the runtime needs, with the code of these kernels
};

/// A plan whose kernels have schedules.
struct ScheduledPlan {
  const Graph& graph;
  const FusionPlan& plan;
  const Target& target;
  llvm::ArrayRef<Kernel> outlines;                 ///< by group
  llvm::ArrayRef<std::vector<Schedule>> schedules; ///< by group, as choose_schedules orders them
};

LoweredPlan lower_plan(const ScheduledPlan& plan);

/// The code of one group's kernel alone, the same as in lower_plan.
KernelCode lower_kernel(const ScheduledPlan& plan, size_t group);

} // namespace ingot
