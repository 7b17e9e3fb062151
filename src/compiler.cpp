// SPDX-License-Identifier: Apache-2.0
// The one page that chains the stages: Graph -> rewritten Graph -> FusionPlan -> schedules ->
// Kernels -> Module -> Executable.
#include "src/compiler.h"

#include "codegen/schedule/candidates.h"
#include "codegen/schedule/cost_model.h"
#include "ir/fusion/storage.h"

#include "ir/text/diagnostic.h"
#include "ir/text/printer.h"

namespace ingot {
namespace {

/// Stages print only when somebody listens.
template <typename Print>
void report(const StageObserver& observer, const std::string& stage, Print print) {
  if (observer) observer(stage, print());
}

llvm::Expected<Target> resolve_target(const CompileOptions& options) {
  if (options.device != "native") return make_target(options.target, options.device);
  if (!options.native)
    return make_error(ErrorCode::unavailable,
                      "no GPU: device 'native' is the one present; name one of a100, h100, h200");
  auto target = make_target(options.target, "");
  if (target) target->device = *options.native;
  return target;
}

/// The schedules of each kernel: as a tuner found them on such a card, or as chosen without one.
llvm::Expected<std::vector<std::vector<Schedule>>>
schedule_plan(const Graph& graph, const FusionPlan& plan, const DeviceSpec& device,
              const CompileOptions& options, const ScheduleOptions& schedule_options,
              std::vector<ScheduleChoice>& choices) {
  std::vector<std::vector<Schedule>> result;
  choices.resize(plan.groups.size());
  for (const Group& group : plan.groups) {
    if (options.tuned)
      if (const auto choice = options.tuned->find(graph, group, device, schedule_options))
        // None: what was kept is damaged, or of another build; as without it.
        if (auto tuned = chosen_schedules(graph, group, device, schedule_options, *choice)) {
          choices[result.size()] = *choice;
          result.push_back(std::move(*tuned));
          continue;
        }
    auto schedules = choose_schedules(graph, group, device, schedule_options);
    if (!schedules) return schedules.takeError();
    result.push_back(std::move(*schedules));
  }
  return result;
}

} // namespace

std::string text_of(llvm::ArrayRef<Kernel> kernels) {
  std::string text;
  for (const Kernel& kernel : kernels) text += text_of(kernel);
  return text;
}

llvm::Expected<Compilation> compile_graph(Graph graph, const CompileOptions& options,
                                          const StageObserver& observer) {
  auto target = resolve_target(options);
  if (!target) return target.takeError();
  if (auto error = verify(graph)) return error;
  report(observer, "graph", [&] { return print_graph(graph); });

  auto rewritten = run_passes(graph, PassContext{options.math}, [&](const PassReport& pass) {
    report(observer, "passes/" + pass.pass.name.str(), [&] { return print_graph(pass.after); });
  });
  if (!rewritten) return rewritten.takeError();

  const ScheduleOptions schedule_options{options.precision, options.halves_from};
  FusionLimits limits;
  limits.blocks_to_fill = target->device.sm_count;
  limits.obstacle = [&](const Group& group) -> std::optional<Reason> {
    auto schedules = choose_schedules(*rewritten, group, target->device, schedule_options);
    if (schedules) return std::nullopt;
    return Reason{take_error(schedules.takeError()).second,
                  "use fewer reductions in one chain, or of fewer elements"};
  };
  limits.rates = machine_rates(target->device);
  limits.tile = [&](const Group& group) -> std::optional<MatmulTile> {
    auto schedules = choose_schedules(*rewritten, group, target->device, schedule_options);
    if (schedules) return matmul_tile(schedules->front(), target->device);
    llvm::consumeError(schedules.takeError());
    return std::nullopt;
  };
  limits.seconds = [&](const Group& group) -> std::optional<double> {
    auto schedules = choose_schedules(*rewritten, group, target->device, schedule_options);
    if (schedules)
      return predict(*rewritten, group, schedules->front(), target->device, {}).seconds;
    llvm::consumeError(schedules.takeError());
    return std::nullopt;
  };
  auto plan = plan_fusion(*rewritten, limits);
  if (!plan) return diagnose(plan.takeError(), graph);
  if (auto error = verify(*plan, *rewritten)) return error;
  choose_storage(*rewritten, *plan);
  report(observer, "plan", [&] { return text_of(*plan, *rewritten); });

  std::vector<ScheduleChoice> choices;
  auto schedules =
      schedule_plan(*rewritten, *plan, target->device, options, schedule_options, choices);
  if (!schedules) return diagnose(schedules.takeError(), graph);

  LoweredPlan lowered = lower_plan(*rewritten, *plan, *target, *schedules);
  report(observer, "kernels", [&] { return text_of(lowered.kernels); });
  report(observer, "source", [&] { return module_source(lowered.module); });

  return Compilation{std::move(graph),           std::move(*rewritten),     std::move(*plan),
                     std::move(*target),         std::move(*schedules),     std::move(choices),
                     std::move(lowered.kernels), std::move(lowered.module), options};
}

Module module_with(const Compilation& compilation, size_t group, std::vector<Schedule> schedules) {
  auto all = compilation.schedules;
  all[group] = std::move(schedules);
  return lower_plan(compilation.rewritten, compilation.plan, compilation.target, all).module;
}

llvm::Expected<std::unique_ptr<Executable>>
load_executable(const Compilation& compilation, std::shared_ptr<CompileService> service) {
  return Executable::create(compilation.module, std::move(service));
}

} // namespace ingot
