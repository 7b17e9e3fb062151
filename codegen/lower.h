// SPDX-License-Identifier: Apache-2.0
// From a fusion plan to kernels and a module: places stored values in memory, builds each kernel as
// scheduled, emits it, and lists the steps of both programs. Called by the compiler.
#pragma once

#include "codegen/kernel/kernel.h"
#include "ir/machine/device_spec.h"

namespace ingot {

struct LoweredPlan {
  /// Those of the plan's groups in their order, then those that make halves of their operands.
  std::vector<Kernel> kernels;
  Module module; ///< everything the runtime needs; its kernels are the code of these
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

/// The code of one group's kernel alone, as lower_plan has it.
KernelCode lower_kernel(const ScheduledPlan& plan, size_t group);

} // namespace ingot
