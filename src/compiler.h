// SPDX-License-Identifier: Apache-2.0
// The pipeline from a graph to a module, and on to an executable. The public API and the command
// line call it.
#pragma once

#include "codegen/lower.h"
#include "codegen/schedule/choose.h"
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
  /// GPU family: sm_80 or sm_90a. Empty: the best of the card that is present, if `device` is
  /// native, else sm_80.
  std::string target;
  std::string device;               ///< a100, h100, h200, native; empty: the family's flagship card
  std::optional<DeviceSpec> native; ///< the card that is present; needed for `native`
  MatmulPrecision precision = MatmulPrecision::highest;
  MathMode math = MathMode::relaxed;
  LeastProducts least_products;                ///< tests lower them
  std::shared_ptr<const TunedSchedules> tuned; ///< stored choices of a tuner; null: no lookup
};

/// Receives the artefact of every phase in order, as text: "graph", "passes/NAME", "plan",
/// "kernels", "source".
using PhaseObserver = std::function<void(const std::string& phase, const std::string& text)>;

/// The artefacts of all phases for one graph.
struct Compilation {
  Graph graph;     ///< the graph of the caller
  Graph rewritten; ///< after the passes
  FusionPlan plan;
  Target target;
  std::vector<Kernel> outlines;                 ///< of each group's kernel
  std::vector<std::vector<Schedule>> schedules; ///< of each group's kernel: its variants
  std::vector<ScheduleChoice> choices;          ///< of each, as a tuner kept it; empty: untuned
  std::vector<Kernel> kernels;                  ///< of the module, in its order
  Module module;
  CompileOptions options; ///< the options of the caller
};

/// Runs every phase that needs neither a GPU nor NVRTC.
llvm::Expected<Compilation> compile_graph(Graph graph, const CompileOptions& options,
                                          const PhaseObserver& observer = {});

/// The text form of all kernels.
std::string text_of(llvm::ArrayRef<Kernel> kernels);

/// The data from which schedules of one group's kernel are chosen.
ScheduleSite schedule_site(const Compilation& compilation, size_t group);

/// `compilation` with other schedules: of each group's kernel, or of one.
Module module_with(const Compilation& compilation, llvm::ArrayRef<std::vector<Schedule>> schedules);
Module module_with(const Compilation& compilation, size_t group, std::vector<Schedule> schedules);

/// The code of one group's kernel with other schedules: no other kernel is built.
KernelCode kernel_with(const Compilation& compilation, size_t group,
                       std::vector<Schedule> schedules);

/// The module of `compilation`, ready to be prepared and launched.
llvm::Expected<std::unique_ptr<Executable>>
load_executable(const Compilation& compilation, std::shared_ptr<CompileService> service);

} // namespace ingot
