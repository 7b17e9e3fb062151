// SPDX-License-Identifier: Apache-2.0
// See bench.h. The ceilings are measured in bench_ceilings.cpp.
#include "src/bench.h"

#include "ir/interpreter/memory.h"
#include "ir/random.h"
#include "runtime/device_timer.h"
#include "src/bench_ceilings.h"
#include "src/explain.h"
#include "src/gpu_run.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Inputs {
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers() const {
    std::vector<const Tensor*> result;
    for (const Tensor& tensor : tensors) result.push_back(&tensor);
    return result;
  }
};

llvm::Expected<Inputs> draw(const Graph& graph, const DimBindings& dims, uint64_t seed) {
  double bytes = 0;
  for (ValueId id : graph.inputs()) {
    const Type& type = graph.type(id);
    double own = static_cast<double>(size_of(type.dtype));
    for (int64_t extent : evaluate_shape(type.shape, dims)) own *= static_cast<double>(extent);
    bytes += own;
  }
  if (auto error = check_bytes("the inputs", bytes)) return error;
  Inputs inputs;
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    Tensor& tensor =
        inputs.tensors.emplace_back(input.type.dtype, evaluate_shape(input.type.shape, dims));
    fill_random(tensor, default_distribution(graph, id, tensor.extents()),
                random_key(input.name, seed));
  }
  return inputs;
}

/// Measures pieces of work on one stream, one by one, each after the L2 cache was filled with other
/// bytes.
class Stopwatch {
public:
  static llvm::Expected<Stopwatch> create(const driver_api::Functions& driver, Stream stream) {
    auto device = current_device(driver);
    if (!device) return device.takeError();
    auto properties = device_properties(driver, *device);
    if (!properties) return properties.takeError();
    auto flush = DeviceBuffer::allocate(driver, std::max<int64_t>(4 * properties->l2_bytes, 1));
    if (!flush) return flush.takeError();
    auto timer = DeviceTimer::create(driver);
    if (!timer) return timer.takeError();
    return Stopwatch(std::move(*flush), std::move(*timer), stream);
  }

  template <typename Enqueue> llvm::Expected<double> milliseconds(Enqueue enqueue) {
    if (auto error = flush_.fill(fill_++, stream_)) return error;
    if (auto error = timer_.start(stream_)) return error;
    if (llvm::Error error = enqueue()) return error;
    if (auto error = timer_.stop(stream_)) return error;
    return timer_.milliseconds();
  }

  /// Runs for about `settle` seconds first: the clocks of a busy GPU come down.
  template <typename Enqueue> llvm::Expected<Spread> spread(double settle, Enqueue enqueue) {
    constexpr size_t kLeast = 20, kMost = 1000;
    constexpr double kSeconds = 1;
    const auto settling = Clock::now();
    do {
      auto time = milliseconds(enqueue);
      if (!time) return time.takeError();
    } while (seconds_since(settling) < settle);
    std::vector<double> samples;
    const auto start = Clock::now();
    while (samples.size() < kLeast || (samples.size() < kMost && seconds_since(start) < kSeconds)) {
      auto time = milliseconds(enqueue);
      if (!time) return time.takeError();
      samples.push_back(*time);
    }
    return spread_of(std::move(samples));
  }

private:
  Stopwatch(DeviceBuffer flush, DeviceTimer timer, Stream stream)
      : flush_(std::move(flush)), timer_(std::move(timer)), stream_(stream) {}
  DeviceBuffer flush_;
  DeviceTimer timer_;
  Stream stream_;
  uint8_t fill_ = 0;
};

/// What the calling thread spends on a launch while the GPU is idle.
llvm::Expected<double> host_microseconds(GpuRun& run, const driver_api::Functions& driver) {
  std::vector<double> samples;
  for (int i = 0; i < 50; ++i) {
    const auto start = Clock::now();
    if (auto error = run.enqueue()) return error;
    samples.push_back(seconds_since(start) * 1e6);
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
  auto launch = stopwatch->spread(1, [&] { return run.enqueue(); });
  if (!launch) return launch.takeError();
  report.launch = *launch;
  if (report.prepared_bytes > 0) {
    auto prepare = stopwatch->spread(0.1, [&] { return run.enqueue_prepare(); });
    if (!prepare) return prepare.takeError();
    report.prepare = *prepare;
  }
  auto host = host_microseconds(run, driver);
  if (!host) return host.takeError();
  report.host_microseconds = *host;
  return llvm::Error::success();
}

} // namespace

Spread spread_of(std::vector<double> samples) {
  llvm::sort(samples);
  auto at = [&](double share) {
    return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.1), at(0.9), static_cast<int64_t>(samples.size())};
}

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
  auto inputs = draw(graph, dims, options.seed);
  if (!inputs) return inputs.takeError();
  auto executable = load_executable(*compilation, service);
  if (!executable) return executable.takeError();
  auto run = GpuRun::create(**driver, **executable, graph, inputs->pointers(), dims);
  if (!run) return run.takeError();
  if (auto error = measure(report, *compilation, options, **driver, *service, *run)) return error;
  return report;
}

} // namespace ingot
