// SPDX-License-Identifier: Apache-2.0
// The one page that chains the compiler's phases: Graph -> rewritten Graph -> FusionPlan ->
// schedules -> Kernels -> Module -> Executable.
#include "src/compiler.h"

#include "codegen/kernel/build_kernel.h"
#include "codegen/schedule/candidates.h"
#include "codegen/schedule/cost_model.h"
#include "ir/fusion/storage.h"
#include "ir/passes/dataflow.h"
#include "ir/passes/separate_positions.h"
#include "ir/text/diagnostic.h"
#include "ir/text/printer.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

ScheduleOptions schedule_options(const CompileOptions& options, Family family) {
  return {options.precision, options.least_products, family};
}

/// Phases print only when somebody listens.
template <typename Print>
void report(const PhaseObserver& observer, const std::string& phase, Print print) {
  if (observer) observer(phase, print());
}

llvm::Expected<Target> resolve_target(const CompileOptions& options) {
  if (options.device != "native") return make_target(options.target, options.device);
  if (!options.native)
    return make_error(ErrorCode::unavailable,
                      "no GPU: device 'native' is the one present; name one of a100, h100, h200");
  return make_target(options.target, *options.native);
}

std::vector<Kernel> outline_kernels(const Graph& graph, const FusionPlan& plan,
                                    const Ranges& ranges) {
  std::vector<Kernel> result;
  result.reserve(plan.groups.size());
  for (const Group& group : plan.groups) result.push_back(outline_kernel({graph, ranges, group}));
  return result;
}

struct ChosenSchedules {
  std::vector<std::vector<Schedule>> schedules;
  std::vector<ScheduleChoice> choices;
};

/// The schedules of each kernel: as a tuner found them on such a card, or as chosen without one.
llvm::Expected<ChosenSchedules> schedule_plan(const Graph& graph, const FusionPlan& plan,
                                              llvm::ArrayRef<Kernel> outlines, const Target& target,
                                              const CompileOptions& options) {
  ChosenSchedules result;
  for (const auto& [group, outline] : llvm::zip_equal(plan.groups, outlines)) {
    const ScheduleSite site{graph, group, outline, target.device,
                            schedule_options(options, target.family)};
    ScheduleChoice& choice = result.choices.emplace_back();
    if (options.tuned)
      if (const auto found = options.tuned->find(graph, group, target.device, site.options))
        // No schedules: the stored choice is damaged or of another build, so it is ignored.
        if (auto tuned = chosen_schedules(site, *found)) {
          choice = *found;
          result.schedules.push_back(std::move(*tuned));
          continue;
        }
    auto schedules = choose_schedules(site);
    if (!schedules) return schedules.takeError();
    result.schedules.push_back(std::move(*schedules));
  }
  return result;
}

/// A group's kernel, and its schedules if there are any.
struct Trial {
  Kernel outline;
  llvm::Expected<std::vector<Schedule>> schedules;
};

/// The questions of fusion about the machine. They are answered by the schedules of a group's
/// kernel, which are chosen from its outline.
FusionLimits limits_of(const Graph& graph, const Ranges& ranges, const DeviceSpec& device,
                       const ScheduleOptions& options, MathMode math) {
  const auto try_group = [&, options](const Group& group) {
    Kernel outline = outline_kernel({graph, ranges, group});
    auto schedules = choose_schedules({graph, group, outline, device, options});
    return Trial{std::move(outline), std::move(schedules)};
  };
  FusionLimits limits;
  limits.blocks_to_fill = device.sm_count;
  limits.reassociates = math != MathMode::strict;
  limits.rates = machine_rates(device);
  limits.obstacle = [try_group](const Group& group) -> std::optional<Reason> {
    Trial trial = try_group(group);
    if (trial.schedules) return std::nullopt;
    return Reason{take_error(trial.schedules.takeError()).second,
                  "use fewer reductions in one chain, or of fewer elements"};
  };
  limits.tile = [try_group, &device](const Group& group) -> std::optional<MatmulTile> {
    const auto schedules = llvm::expectedToOptional(try_group(group).schedules);
    if (!schedules) return std::nullopt;
    return matmul_tile(schedules->front(), device);
  };
  limits.seconds =
      [try_group, options, &graph, &device,
       params_only = depends_only_on_params(graph)](const Group& group) -> std::optional<double> {
    Trial trial = try_group(group);
    const auto schedules = llvm::expectedToOptional(std::move(trial.schedules));
    if (!schedules) return std::nullopt;
    return launch_seconds({graph, group, trial.outline, device, options}, schedules->front(),
                          params_only);
  };
  return limits;
}

} // namespace

std::string text_of(llvm::ArrayRef<Kernel> kernels) {
  std::string text;
  for (const Kernel& kernel : kernels) text += text_of(kernel);
  return text;
}

llvm::Expected<Compilation> compile_graph(Graph graph, const CompileOptions& options,
                                          const PhaseObserver& observer) {
  auto target = resolve_target(options);
  if (!target) return target.takeError();
  if (auto error = verify(graph)) return error;
  report(observer, "graph", [&] { return print_graph(graph); });

  auto rewritten = run_passes(graph, PassContext{options.math}, [&](const PassReport& pass) {
    report(observer, "passes/" + pass.pass.name.str(), [&] { return print_graph(pass.after); });
  });
  if (!rewritten) return rewritten.takeError();
  *rewritten = separate_positions(*rewritten);
  report(observer, "passes/separate_positions", [&] { return print_graph(*rewritten); });

  const Ranges ranges = find_ranges(*rewritten);
  auto plan =
      plan_fusion(*rewritten, limits_of(*rewritten, ranges, target->device,
                                        schedule_options(options, target->family), options.math));
  if (!plan) return diagnose(plan.takeError(), graph);
  if (auto error = verify(*plan, *rewritten)) return error;
  choose_storage(*rewritten, *plan);
  report(observer, "plan", [&] { return text_of(*plan, *rewritten); });

  std::vector<Kernel> outlines = outline_kernels(*rewritten, *plan, ranges);
  auto chosen = schedule_plan(*rewritten, *plan, outlines, *target, options);
  if (!chosen) return diagnose(chosen.takeError(), graph);

  LoweredPlan lowered = lower_plan({*rewritten, *plan, *target, outlines, chosen->schedules});
  report(observer, "kernels", [&] { return text_of(lowered.kernels); });
  report(observer, "source", [&] { return module_source(lowered.module); });

  return Compilation{std::move(graph),           std::move(*rewritten),
                     std::move(*plan),           std::move(*target),
                     std::move(outlines),        std::move(chosen->schedules),
                     std::move(chosen->choices), std::move(lowered.kernels),
                     std::move(lowered.module),  options};
}

ScheduleSite schedule_site(const Compilation& c, size_t group) {
  return {c.rewritten, c.plan.groups[group], c.outlines[group], c.target.device,
          schedule_options(c.options, c.target.family)};
}

Module module_with(const Compilation& c, llvm::ArrayRef<std::vector<Schedule>> schedules) {
  return lower_plan({c.rewritten, c.plan, c.target, c.outlines, schedules}).module;
}

Module module_with(const Compilation& c, size_t group, std::vector<Schedule> schedules) {
  auto all = c.schedules;
  all[group] = std::move(schedules);
  return module_with(c, all);
}

KernelCode kernel_with(const Compilation& c, size_t group, std::vector<Schedule> schedules) {
  auto all = c.schedules;
  all[group] = std::move(schedules);
  return lower_kernel({c.rewritten, c.plan, c.target, c.outlines, all}, group);
}

llvm::Expected<std::unique_ptr<Executable>>
load_executable(const Compilation& compilation, std::shared_ptr<CompileService> service) {
  return Executable::create(compilation.module, std::move(service));
}

} // namespace ingot
