// SPDX-License-Identifier: Apache-2.0
// From a fusion plan to a module: places stored values in memory, emits each kernel as scheduled,
// and lists the steps of both programs. Called by the compiler.
#pragma once

#include "codegen/program.h"
#include "codegen/schedule.h"

namespace ingot {

/// Everything the runtime needs for `plan`. `schedules`: the variants of each group's kernel, as
/// choose_schedules orders them.
Module lower_plan(const Graph& graph, const FusionPlan& plan, const Target& target,
                  llvm::ArrayRef<std::vector<Schedule>> schedules);

} // namespace ingot
