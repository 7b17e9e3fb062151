// SPDX-License-Identifier: Apache-2.0
// See bench.h. The ceilings are measured in bench_ceilings.cpp.
#include "src/reports/bench.h"

#include "src/gpu_run.h"
#include "src/reports/bench_ceilings.h"
#include "src/reports/explain.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>

namespace ingot {
namespace {

/// The unit that multiplies in the first matmul of a launch; none without a matmul.
std::optional<ComputeType> unit_of(const Compilation& compilation) {
  for (const auto& [group, schedules] :
       llvm::zip_equal(compilation.plan.groups, compilation.schedules))
    if (!group.matmuls.empty() && group.program == ProgramKind::launch)
      return schedules.front().compute;
  return std::nullopt;
}

/// The executable and memory of a launch.
struct Launched {
  const Graph& graph;
  const GpuInputs& inputs;
  const DimBindings& dims;
  std::shared_ptr<Executable> executable;
};

/// Launches one after another, each on other memory, so that the caches hold no input of the next
/// launch. Does nothing if memory is too small.
llvm::Error measure_in_rotation(BenchReport& report, const Launched& launched,
                                const driver_api::Functions& driver, int64_t l2_bytes) {
  constexpr int64_t kMostSets = 16, kBatches = 9;
  constexpr double kBatchMilliseconds = 100;
  const int64_t sets =
      std::clamp<int64_t>(2 * l2_bytes / std::max<int64_t>(report.bytes, 1) + 2, 2, kMostSets);
  const int64_t launches =
      std::clamp(static_cast<int64_t>(kBatchMilliseconds / std::max(report.launch.median, 1e-3)),
                 sets, 3 * kMostSets);
  std::deque<GpuInputs> copies; // the runs point to these
  std::deque<GpuRun> runs;
  for (int64_t i = 0; i < sets; ++i) {
    auto copy = launched.inputs.copy(driver);
    if (!copy) return llvm::consumeError(copy.takeError()), llvm::Error::success();
    copies.push_back(std::move(*copy));
  }
  for (const GpuInputs& copy : copies) {
    auto run = GpuRun::create(driver, launched.executable, launched.graph, copy, launched.dims);
    if (!run) return llvm::consumeError(run.takeError()), llvm::Error::success();
    runs.push_back(std::move(*run));
  }
  auto timer = DeviceTimer::create(driver);
  if (!timer) return timer.takeError();
  const Stream stream = runs.front().stream();
  std::vector<double> samples;
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    if (auto error = timer->start(stream)) return error;
    for (int64_t i = 0; i < launches; ++i)
      if (auto error = runs[static_cast<size_t>(i % sets)].enqueue_on(stream)) return error;
    if (auto error = timer->stop(stream)) return error;
    auto time = timer->milliseconds();
    if (!time) return time.takeError();
    if (batch > 0) samples.push_back(*time / static_cast<double>(launches));
  }
  report.rotated = spread_of(std::move(samples));
  return llvm::Error::success();
}

struct ProductAlone {
  Graph graph;
  ScheduleChoice choice; ///< the choice that selects the mainloop of the launch
  Schedule schedule;     ///< the schedule of the launch
};

/// The first product of a launch alone, as a graph. None if its operands are computed, or if
/// nothing follows the product.
std::optional<ProductAlone> product_alone(const Compilation& compilation) {
  const Graph& graph = compilation.rewritten;
  for (size_t g = 0; g < compilation.plan.groups.size(); ++g) {
    const Group& group = compilation.plan.groups[g];
    if (group.matmuls.empty() || group.program == ProgramKind::prepare) continue;
    const Op& op = graph.op(group.matmuls.front().op);
    if (group.matmuls.size() != 1 || group.ops.size() == 1) return std::nullopt;
    Graph alone(graph.name());
    std::vector<ValueId> operands;
    for (ValueId id : op.operands) {
      const auto* input = std::get_if<InputAttributes>(&graph.producer(id).attributes);
      if (!input) return std::nullopt;
      auto added = alone.add_input(input->name, input->type, input->role);
      if (!added) return llvm::consumeError(added.takeError()), std::nullopt;
      operands.push_back(*added);
    }
    auto product = alone.add_value(op.kind, operands, op.attributes);
    if (!product) return llvm::consumeError(product.takeError()), std::nullopt;
    llvm::cantFail(alone.add_output("product", *product));
    const Schedule& s = compilation.schedules[g].front();
    return ProductAlone{std::move(alone), choice_of(s), s};
  }
  return std::nullopt;
}

/// A run of the first product, and the inputs that it points to.
struct ProductRun {
  GpuInputs inputs;
  std::optional<GpuRun> run;
};

/// The same mainloop, followed only by the store of its product; null if there is none.
llvm::Expected<std::unique_ptr<ProductRun>>
create_product(const Compilation& compilation, const BenchOptions& options, const DimBindings& dims,
               const driver_api::Functions& driver,
               const std::shared_ptr<CompileService>& service) {
  auto alone = product_alone(compilation);
  if (!alone) return nullptr;
  const Graph& graph = alone->graph;
  CompileOptions compile = options.compile;
  compile.tuned = nullptr;
  auto product = compile_graph(graph, compile);
  if (!product) return product.takeError();
  const auto index = static_cast<size_t>(
      llvm::find_if(product->plan.groups, [](const Group& g) { return !g.matmuls.empty(); }) -
      product->plan.groups.begin());
  if (index == product->plan.groups.size()) return nullptr;
  auto schedules = choose_schedules(schedule_site(*product, index), alone->choice);
  if (!schedules) return llvm::consumeError(schedules.takeError()), nullptr;
  if (!schedules->front().multiplies_like(alone->schedule)) return nullptr;
  auto executable =
      Executable::create(module_with(*product, index, std::move(*schedules)), service);
  if (!executable) return executable.takeError();
  DimBindings own;
  for (const std::string& name : graph.dim_names()) own[name] = dims.at(name);
  auto tensors = draw_tensors(graph, own, options.seed);
  if (!tensors) return tensors.takeError();
  auto inputs = GpuInputs::upload(driver, graph, pointers_to(*tensors));
  if (!inputs) return inputs.takeError();
  auto result = std::make_unique<ProductRun>(ProductRun{std::move(*inputs), std::nullopt});
  auto run = GpuRun::create(driver, std::move(*executable), graph, result->inputs, own);
  if (!run) return run.takeError();
  result->run.emplace(std::move(*run));
  return result;
}

/// The measurements that alternate with the copy.
struct Contenders {
  GpuRun& run;
  ProductRun* product;                ///< may be null
  std::optional<ComputeType> compute; ///< the unit whose ceiling is measured
};

/// Alternates launches, the product alone and the ceilings, so that all run at the same clocks.
llvm::Error measure_in_turns(BenchReport& report, const Contenders& contenders, int64_t l2_bytes,
                             const driver_api::Functions& driver, CompileService& service) {
  const auto& [run, product, compute] = contenders;
  constexpr int64_t kMostCopied = int64_t{1} << 29;
  const int64_t least = std::min(4 * l2_bytes, kMostCopied); // no cache holds much of it
  auto copy =
      CopyCeiling::create(driver, std::clamp(report.bytes / 2, least, kMostCopied), run.stream());
  if (!copy) return copy.takeError();
  std::optional<UnitCeiling> unit;
  if (compute) {
    auto created = UnitCeiling::create(driver, service, report.arch, *compute, run.stream());
    if (!created) return created.takeError();
    unit.emplace(std::move(*created));
  }
  auto launch_it = [&] { return run.enqueue(); };
  auto copy_it = [&] { return copy->enqueue(); };
  auto multiply_it = [&] { return unit->enqueue(); };
  auto product_it = [&] { return product->run->enqueue_on(run.stream()); };
  llvm::SmallVector<llvm::function_ref<llvm::Error()>, 4> turns = {launch_it, copy_it};
  if (unit) turns.push_back(multiply_it);
  if (product) turns.push_back(product_it);
  auto stopwatch = Stopwatch::create(driver, run.stream());
  if (!stopwatch) return stopwatch.takeError();
  auto spreads = stopwatch->spreads({1, 2}, turns);
  if (!spreads) return spreads.takeError();
  report.launch = (*spreads)[0];
  report.copy_ceiling = copy->per_second((*spreads)[1].median);
  if (unit) {
    report.unit = unit_name(*compute);
    report.unit_ceiling = unit->per_second((*spreads)[2].median);
  }
  if (product) report.product = spreads->back();
  return llvm::Error::success();
}

llvm::Error measure_costs(BenchReport& report, const driver_api::Functions& driver,
                          CompileService& service, GpuRun& run) {
  if (report.prepared_bytes > 0) {
    auto stopwatch = Stopwatch::create(driver, run.stream());
    if (!stopwatch) return stopwatch.takeError();
    auto prepare = stopwatch->spread({0.1, 1}, [&] { return run.enqueue_prepare(); });
    if (!prepare) return prepare.takeError();
    report.prepare = *prepare;
  }
  auto host = host_microseconds(driver, run.stream(), [&] { return run.enqueue(); });
  if (!host) return host.takeError();
  report.host_microseconds = *host;
  auto bare = measure_bare_launch(driver, service, report.arch, run.stream());
  if (!bare) return bare.takeError();
  report.bare_microseconds = *bare;
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
  report.kernels = facts->launches();
  auto gpu = OpenGpu::open();
  if (!gpu) return gpu.takeError();
  report.device = gpu->properties.name;
  DimBindings dims(report.dims.begin(), report.dims.end());
  auto tensors = draw_tensors(graph, dims, options.seed);
  if (!tensors) return tensors.takeError();
  auto inputs = GpuInputs::upload(*gpu->driver, graph, pointers_to(*tensors));
  if (!inputs) return inputs.takeError();
  auto loaded = load_executable(*compilation, service);
  if (!loaded) return loaded.takeError();
  const std::shared_ptr<Executable> executable = std::move(*loaded);
  auto run = GpuRun::create(*gpu->driver, executable, graph, *inputs, dims);
  if (!run) return run.takeError();
  auto product = create_product(*compilation, options, dims, *gpu->driver, service);
  if (!product) return product.takeError();
  if (auto error = measure_in_turns(report, {*run, product->get(), unit_of(*compilation)},
                                    gpu->properties.l2_bytes, *gpu->driver, *service))
    return error;
  product->reset(); // frees memory for the copies of the rotation
  if (auto error = measure_costs(report, *gpu->driver, *service, *run)) return error;
  if (auto error = measure_in_rotation(report, {graph, *inputs, dims, executable}, *gpu->driver,
                                       gpu->properties.l2_bytes))
    return error;
  return report;
}

} // namespace ingot
