// SPDX-License-Identifier: Apache-2.0
// From a fusion plan to a module: places stored values in memory, schedules and emits each kernel,
// and lists the steps of both programs. Called by the compiler.
#pragma once

#include "codegen/program.h"
#include "codegen/schedule.h"

namespace ingot {

/// Everything the runtime needs for `plan`. Errors: ErrorCode::unsupported where a group has no
/// source for its types.
llvm::Expected<Module> lower_plan(const Graph& graph, const FusionPlan& plan, const Target& target,
                                  const ScheduleOptions& options);

} // namespace ingot
