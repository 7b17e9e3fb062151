// SPDX-License-Identifier: Apache-2.0
// The pipeline from a graph to a module, and on to an executable. The public API and the command
// line call it.
#pragma once

#include "codegen/lower.h"
#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "runtime/compile_service.h"
#include "runtime/executable.h"
#include "src/tuned_schedules.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ingot {

struct CompileOptions {
  std::string target = "sm_80";     ///< GPU family; decides which instructions may be used
  std::string device;               ///< a100, h100, h200, native; empty: the family's flagship card
  std::optional<DeviceSpec> native; ///< the card that is present; needed for `native`
  MatmulPrecision precision = MatmulPrecision::highest;
  MathMode math = MathMode::relaxed;
  int64_t halves_from = ScheduleOptions().halves_from; ///< see ScheduleOptions; tests lower it
  std::shared_ptr<const TunedSchedules> tuned; ///< stored choices of a tuner; null: no lookup
};

/// Receives the artefact of every phase in order, as text: "graph", "passes/NAME", "plan",
/// "kernels", "source".
using StageObserver = std::function<void(const std::string& stage, const std::string& text)>;

/// The artefacts of all phases for one graph.
struct Compilation {
  Graph graph;     ///< the graph of the caller
  Graph rewritten; ///< after the passes
  FusionPlan plan;
  Target target;
  std::vector<std::vector<Schedule>> schedules; ///< for each group, the variants of its kernel
  std::vector<ScheduleChoice> choices; ///< for each group, the tuner's choice; empty: untuned
  std::vector<Kernel> kernels;         ///< the kernels of the module, in its order
  Module module;
  CompileOptions options; ///< the options of the caller
};

/// Runs every phase that needs neither a GPU nor NVRTC.
llvm::Expected<Compilation> compile_graph(Graph graph, const CompileOptions& options,
                                          const StageObserver& observer = {});

/// The text form of all kernels.
std::string text_of(llvm::ArrayRef<Kernel> kernels);

/// The module of `compilation` with other schedules for one group's kernel.
Module module_with(const Compilation& compilation, size_t group, std::vector<Schedule> schedules);

/// Makes an executable from the module of `compilation`.
llvm::Expected<std::unique_ptr<Executable>>
load_executable(const Compilation& compilation, std::shared_ptr<CompileService> service);

} // namespace ingot
