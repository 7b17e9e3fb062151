// SPDX-License-Identifier: Apache-2.0
// See bench.h. The ceilings are measured in bench_ceilings.cpp.
#include "src/bench.h"

#include "src/bench_ceilings.h"
#include "src/explain.h"
#include "src/gpu_run.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

/// What the calling thread spends on a launch while the GPU is idle.
llvm::Expected<double> host_microseconds(GpuRun& run, const driver_api::Functions& driver) {
  std::vector<double> samples;
  for (int i = 0; i < 50; ++i) {
    const auto start = Clock::now();
    if (auto error = run.enqueue()) return error;
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (auto error =
            check_driver(driver, driver.stream_synchronize(run.stream()), "cuStreamSynchronize"))
      return error;
  }
  return spread_of(std::move(samples)).median;
}

/// What the first matmul of a launch is multiplied with; none: there is none.
std::optional<ComputeType> unit_of(const Compilation& compilation, const CompileOptions& options) {
  for (const Group& group : compilation.plan.groups)
    if (!group.matmuls.empty() && group.program == ProgramKind::launch)
      return compute_type(compilation.rewritten, group, {options.precision, options.halves_from});
  return std::nullopt;
}

llvm::Error measure(BenchReport& report, const Compilation& compilation,
                    const BenchOptions& options, const driver_api::Functions& driver,
                    CompileService& service, GpuRun& run) {
  auto copy = measure_copy(driver, run.stream());
  if (!copy) return copy.takeError();
  report.copy_ceiling = *copy;
  if (const auto unit = unit_of(compilation, options.compile)) {
    auto ceiling = measure_unit(driver, service, report.arch, *unit, run.stream());
    if (!ceiling) return ceiling.takeError();
    report.unit = unit_name(*unit);
    report.unit_ceiling = *ceiling;
  }
  auto stopwatch = Stopwatch::create(driver, run.stream());
  if (!stopwatch) return stopwatch.takeError();
  auto launch = stopwatch->spread({1, 1}, [&] { return run.enqueue(); });
  if (!launch) return launch.takeError();
  report.launch = *launch;
  if (report.prepared_bytes > 0) {
    auto prepare = stopwatch->spread({0.1, 1}, [&] { return run.enqueue_prepare(); });
    if (!prepare) return prepare.takeError();
    report.prepare = *prepare;
  }
  auto host = host_microseconds(run, driver);
  if (!host) return host.takeError();
  report.host_microseconds = *host;
  return llvm::Error::success();
}

} // namespace

llvm::Expected<BenchReport> bench_on_gpu(const Graph& graph, const BenchOptions& options,
                                         const std::shared_ptr<CompileService>& service) {
  auto compilation = compile_graph(graph, options.compile, options.observer);
  if (!compilation) return compilation.takeError();
  auto facts = explain(*compilation, options.dims);
  if (!facts) return facts.takeError();
  BenchReport report;
  report.graph = facts->graph;
  report.arch = facts->arch;
  report.precision = spelling(options.compile.precision).str();
  report.dims = facts->dims;
  report.flops = facts->flops;
  report.bytes = facts->bytes;
  report.prepared_bytes = facts->prepared_bytes;
  report.workspace_bytes = facts->workspace_bytes;
  report.kernels = llvm::count_if(facts->kernels, [](const KernelFacts& kernel) {
    return kernel.program == ProgramKind::launch;
  });
  auto driver = open_driver();
  if (!driver) return driver.takeError();
  auto context = PrimaryContext::retain(**driver, 0);
  if (!context) return context.takeError();
  auto properties = device_properties(**driver, context->device());
  if (!properties) return properties.takeError();
  report.device = properties->name;
  DimBindings dims(report.dims.begin(), report.dims.end());
  auto tensors = draw_tensors(graph, dims, options.seed);
  if (!tensors) return tensors.takeError();
  auto inputs = GpuInputs::upload(**driver, graph, pointers_to(*tensors));
  if (!inputs) return inputs.takeError();
  auto executable = load_executable(*compilation, service);
  if (!executable) return executable.takeError();
  auto run = GpuRun::create(**driver, **executable, graph, *inputs, dims);
  if (!run) return run.takeError();
  if (auto error = measure(report, *compilation, options, **driver, *service, *run)) return error;
  return report;
}

} // namespace ingot
