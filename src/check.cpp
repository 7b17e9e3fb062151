// SPDX-License-Identifier: Apache-2.0
// See check.h.
#include "src/check.h"

#include "ir/random.h"
#include "runtime/device_memory.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace ingot {
namespace {

/// Sizes of named dimensions that were not given: odd and different, so that a mixed-up extent shows.
constexpr int64_t kDefaultSizes[] = {67, 131, 33, 259, 17, 97};

/// Bytes kept free on both sides of an output; a multiple of every alignment that kernels ask for.
constexpr int64_t kGuardBytes = 512;
constexpr uint8_t kPoison = 0xff; ///< NaN in every floating type

struct Sample {
  DimBindings dims;
  std::vector<std::pair<std::string, int64_t>> chosen_dims;
  std::vector<Tensor> tensors; ///< by graph input
  std::vector<const Tensor*> pointers;
};

bool is_param(const Graph& graph, ValueId id) {
  return graph.attributes<InputAttributes>(graph.producer(id)).role == InputAttributes::Role::param;
}

llvm::Expected<Sample> draw_inputs(const Graph& graph, const CheckOptions& options) {
  Sample sample;
  for (const auto& [name, size] : options.dims)
    if (!llvm::is_contained(graph.dim_names(), name))
      return make_error(ErrorCode::invalid_argument, "graph '{}' has no named dimension '{}'",
                        graph.name(), name);
  for (size_t i = 0; i < graph.dim_names().size(); ++i) {
    const std::string& name = graph.dim_names()[i];
    auto given = options.dims.find(name);
    const int64_t size = given != options.dims.end()
                             ? given->second
                             : kDefaultSizes[i % std::size(kDefaultSizes)];
    sample.dims[name] = size;
    sample.chosen_dims.emplace_back(name, size);
  }
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    auto extents = evaluate_shape(input.type.shape, sample.dims);
    if (!checked_count(extents))
      return make_error(ErrorCode::invalid_argument, "input '{}' of {} elements is too large",
                        input.name, text_of(extents));
    Tensor tensor(input.type.dtype, extents);
    fill_random(tensor, default_distribution(graph, id, extents),
                random_key(input.name, options.seed));
    sample.tensors.push_back(std::move(tensor));
  }
  for (const Tensor& tensor : sample.tensors) sample.pointers.push_back(&tensor);
  return sample;
}

CompareOptions compare_options(const CheckOptions& options) {
  CompareOptions result;
  if (options.compile.math != MathMode::strict)
    result.non_finite = CompareOptions::NonFinite::any_kind;
  return result;
}

/// Half-typed values that a kernel stores and a later one loads: rounded there once more.
std::vector<ValueId> stored_halves(const Compilation& compilation) {
  std::vector<ValueId> stored;
  const Graph& graph = compilation.rewritten;
  for (const Group& group : compilation.plan.groups)
    for (const Read& read : group.reads) {
      const DType dtype = graph.type(read.access.value).dtype;
      const bool is_half = dtype == DType::f16 || dtype == DType::bf16;
      if (is_half && graph.producer(read.access.value).kind != OpKind::input)
        stored.push_back(read.access.value);
    }
  return stored;
}

/// Compares and plants; gives everything but what only a GPU run can tell.
OutputCheck judge(const Evaluated& reference, const Tensor& result, size_t precision,
                  const CompareOptions& options) {
  OutputCheck check;
  check.output = reference.name;
  check.comparison = compare(reference, result, precision, options);
  if (!check.comparison.pass) {
    check.problem = check.comparison.problem;
    return check;
  }
  check.planted = plant_errors(reference, result, precision, options);
  for (const PlantedError& planted : check.planted)
    if (planted.applies && !planted.rejected)
      check.problem = "the comparison accepts a planted wrong result: " + planted.name;
  if (llvm::none_of(check.planted, [](const PlantedError& p) { return p.applies; }))
    check.problem = "no wrong result could be planted, so the comparison shows nothing";
  return check;
}

/// The outputs in f64. Where kernels store half-typed intermediates, bounds are those of the graph
/// that names them, the rewritten one, which must then agree with the graph as given.
llvm::Expected<std::vector<Evaluated>> evaluate_references(const Compilation& compilation,
                                                           const Sample& sample,
                                                           EvaluateOptions evaluation,
                                                           const CheckOptions& options) {
  auto given = evaluate(compilation.graph, sample.pointers, evaluation);
  evaluation.stored = stored_halves(compilation);
  if (!given || evaluation.stored.empty()) return given;
  auto rewritten = evaluate(compilation.rewritten, sample.pointers, evaluation);
  if (!rewritten) return rewritten;
  for (size_t i = 0; i < given->size(); ++i) {
    auto agreement = compare((*rewritten)[i], (*given)[i].to_tensor(), 0, compare_options(options));
    if (!agreement.pass)
      return make_error(ErrorCode::internal,
                        "the rewritten graph computes something else than the graph as given: {}",
                        agreement.problem);
  }
  return rewritten;
}

/// The caller's side of one executable on the GPU: tensors, memories and the two runs.
class GpuRun {
public:
  static llvm::Expected<GpuRun> create(const driver_api::Functions& driver, Executable& executable,
                                       const Graph& graph, const Sample& sample);

  /// Poisons what is undefined, launches and waits.
  llvm::Error launch();
  /// The bytes of an output, and whether its surroundings are untouched.
  llvm::Error fetch(size_t output, Tensor& tensor, bool& bounds_kept);
  llvm::ArrayRef<int64_t> output_extents(size_t output) const { return output_extents_[output]; }

private:
  GpuRun(Executable& executable, DeviceStream stream)
      : executable_(&executable), stream_(std::move(stream)) {}
  llvm::Error upload(const driver_api::Functions& driver, const Graph& graph, const Sample& sample);
  llvm::Error make_outputs(const driver_api::Functions& driver, const Graph& graph,
                           const Sample& sample);
  llvm::Error make_memories(const driver_api::Functions& driver, const Sample& sample);

  Executable* executable_;
  DeviceStream stream_;
  std::vector<DeviceBuffer> tensors_;
  std::vector<TensorArgument> inputs_, params_, outputs_;
  std::vector<DeviceBuffer> output_buffers_;
  std::vector<llvm::SmallVector<int64_t, 4>> output_extents_;
  std::vector<DeviceBuffer> memories_; ///< prepared, workspace, state
  std::vector<DimInfo> dims_;
};

llvm::Error GpuRun::upload(const driver_api::Functions& driver, const Graph& graph,
                           const Sample& sample) {
  for (size_t i = 0; i < sample.tensors.size(); ++i) {
    const Tensor& tensor = sample.tensors[i];
    auto buffer = DeviceBuffer::allocate(driver, tensor.size_bytes());
    if (!buffer) return buffer.takeError();
    auto bytes = llvm::ArrayRef(reinterpret_cast<const uint8_t*>(tensor.bytes()),
                                static_cast<size_t>(tensor.size_bytes()));
    if (auto error = buffer->copy_from_host(bytes)) return error;
    (is_param(graph, graph.inputs()[i]) ? params_ : inputs_)
        .push_back({buffer->data(), tensor.extents()});
    tensors_.push_back(std::move(*buffer));
  }
  // A copy from pageable memory returns before its last piece has arrived, and this run's stream
  // does not wait for the default stream.
  return check_driver(driver, driver.stream_synchronize(nullptr), "cuStreamSynchronize");
}

llvm::Error GpuRun::make_outputs(const driver_api::Functions& driver, const Graph& graph,
                                 const Sample& sample) {
  for (const GraphOutput& output : graph.outputs())
    output_extents_.push_back(evaluate_shape(graph.type(output.value).shape, sample.dims));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    auto count = checked_count(output_extents_[i]);
    if (!count)
      return make_error(ErrorCode::invalid_argument, "output '{}' of {} elements is too large",
                        graph.outputs()[i].name, text_of(output_extents_[i]));
    const int64_t bytes = *count * size_of(graph.type(graph.outputs()[i].value).dtype);
    auto buffer = DeviceBuffer::allocate(driver, bytes + 2 * kGuardBytes);
    if (!buffer) return buffer.takeError();
    outputs_.push_back({buffer->data() + kGuardBytes, output_extents_[i]});
    output_buffers_.push_back(std::move(*buffer));
  }
  return llvm::Error::success();
}

llvm::Error GpuRun::make_memories(const driver_api::Functions& driver, const Sample& sample) {
  for (const auto& [name, size] : sample.chosen_dims) dims_.push_back({name, size, size});
  auto sizes = executable_->memory(dims_);
  if (!sizes) return sizes.takeError();
  for (int64_t bytes : {sizes->prepared.bytes, sizes->workspace.bytes, sizes->state.bytes}) {
    auto buffer = DeviceBuffer::allocate(driver, bytes);
    if (!buffer) return buffer.takeError();
    memories_.push_back(std::move(*buffer));
  }
  if (auto error = memories_[0].fill(kPoison, stream_.get())) return error;
  return memories_[2].fill(0, stream_.get());
}

llvm::Expected<GpuRun> GpuRun::create(const driver_api::Functions& driver, Executable& executable,
                                      const Graph& graph, const Sample& sample) {
  auto stream = DeviceStream::create(driver);
  if (!stream) return stream.takeError();
  GpuRun run(executable, std::move(*stream));
  if (auto error = run.upload(driver, graph, sample)) return error;
  if (auto error = run.make_outputs(driver, graph, sample)) return error;
  if (auto error = run.make_memories(driver, sample)) return error;
  PrepareRequest request;
  request.dims = run.dims_;
  request.params = run.params_;
  request.prepared = run.memories_[0].data();
  request.workspace = run.memories_[1].data();
  request.stream = run.stream_.get();
  if (auto error = executable.prepare(request)) return error;
  return run;
}

llvm::Error GpuRun::launch() {
  for (DeviceBuffer& buffer : output_buffers_)
    if (auto error = buffer.fill(kPoison, stream_.get())) return error;
  if (auto error = memories_[1].fill(kPoison, stream_.get())) return error;
  LaunchRequest request;
  request.inputs = inputs_;
  request.params = params_;
  request.outputs = outputs_;
  request.prepared = memories_[0].data();
  request.workspace = memories_[1].data();
  request.state = memories_[2].data();
  request.stream = stream_.get();
  if (auto error = executable_->launch(request)) return error;
  return stream_.synchronize();
}

llvm::Error GpuRun::fetch(size_t output, Tensor& tensor, bool& bounds_kept) {
  const DeviceBuffer& buffer = output_buffers_[output];
  std::vector<uint8_t> bytes(static_cast<size_t>(buffer.bytes()));
  if (auto error = buffer.copy_to_host(bytes)) return error;
  auto is_poison = [](uint8_t byte) { return byte == kPoison; };
  const auto guard = llvm::ArrayRef(bytes).take_front(kGuardBytes);
  const auto after = llvm::ArrayRef(bytes).take_back(kGuardBytes);
  bounds_kept = llvm::all_of(guard, is_poison) && llvm::all_of(after, is_poison);
  std::memcpy(tensor.bytes(), bytes.data() + kGuardBytes,
              static_cast<size_t>(tensor.size_bytes()));
  return llvm::Error::success();
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.size_bytes() == b.size_bytes() &&
         (a.size_bytes() == 0 ||
          std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(a.size_bytes())) == 0);
}

/// Launches twice and judges every output.
llvm::Error check_outputs(GpuRun& run, const Graph& graph,
                          llvm::ArrayRef<Evaluated> references, size_t precision,
                          const CompareOptions& options, CheckReport& report) {
  std::vector<Tensor> first;
  std::vector<bool> bounds_kept(graph.outputs().size(), true);
  for (int repeat = 0; repeat < 2; ++repeat) {
    if (auto error = run.launch()) return error;
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      Tensor tensor(graph.type(graph.outputs()[i].value).dtype, run.output_extents(i));
      bool kept = true;
      if (auto error = run.fetch(i, tensor, kept)) return error;
      bounds_kept[i] = bounds_kept[i] && kept;
      if (repeat == 0) {
        first.push_back(std::move(tensor));
        continue;
      }
      OutputCheck check = judge(references[i], first[i], precision, options);
      check.precision = spelling(references[i].precisions[precision]).str();
      check.same_bits = same_bytes(first[i], tensor);
      check.bounds_kept = bounds_kept[i];
      if (!check.same_bits) check.problem = "two runs differ in their bits";
      if (!check.bounds_kept) check.problem = "bytes around the output were written";
      report.checks.push_back(std::move(check));
    }
  }
  return llvm::Error::success();
}

void conclude(CheckReport& report) {
  report.pass = !report.checks.empty() && llvm::all_of(report.checks, [](const OutputCheck& c) {
    return c.problem.empty();
  });
}

} // namespace

std::vector<MatmulPrecision> distinct_precisions(const Graph& graph) {
  for (const Op& op : graph.ops())
    if (op.kind == OpKind::matmul && graph.type(op.operands[0]).dtype == DType::f32)
      return all_matmul_precisions().vec();
  return {MatmulPrecision::highest};
}

llvm::Expected<CheckReport> check_on_gpu(const Graph& graph, const CheckOptions& options,
                                         std::shared_ptr<CompileService> service,
                                         const ProgressObserver& progress) {
  auto say = [&](const std::string& what) {
    if (progress) progress(what);
  };
  auto driver = open_driver();
  if (!driver) return driver.takeError();
  auto context = PrimaryContext::retain(**driver, 0);
  if (!context) return context.takeError();
  auto properties = device_properties(**driver, context->device());
  if (!properties) return properties.takeError();

  CheckReport report;
  report.device = properties->name;
  auto precisions = options.precisions.empty() ? distinct_precisions(graph) : options.precisions;
  say("drawing inputs");
  auto sample = draw_inputs(graph, options);
  if (!sample) return sample.takeError();
  report.dims = sample->chosen_dims;

  std::vector<Compilation> compilations;
  EvaluateOptions evaluation;
  evaluation.precisions = precisions;
  for (MatmulPrecision precision : precisions) {
    CompileOptions compile = options.compile;
    compile.precision = precision;
    auto compilation = compile_graph(graph, compile);
    if (!compilation) return compilation.takeError();
    compilations.push_back(std::move(*compilation));
  }
  report.arch = compilations.front().module.arch;
  say("evaluating the reference in f64");
  auto references = evaluate_references(compilations.front(), *sample, evaluation, options);
  if (!references) return references.takeError();

  for (size_t i = 0; i < precisions.size(); ++i) {
    say(fmt::format("running {}", spelling(precisions[i]).str()));
    auto executable = load_executable(compilations[i], service);
    if (!executable) return executable.takeError();
    auto run = GpuRun::create(**driver, **executable, graph, *sample);
    if (!run) return run.takeError();
    if (auto error =
            check_outputs(*run, graph, *references, i, compare_options(options), report))
      return error;
  }
  conclude(report);
  return report;
}

llvm::Expected<CheckReport> check_on_reference(const Graph& graph, const CheckOptions& options,
                                               const ProgressObserver& progress) {
  auto say = [&](const std::string& what) {
    if (progress) progress(what);
  };
  CheckReport report;
  say("drawing inputs");
  auto sample = draw_inputs(graph, options);
  if (!sample) return sample.takeError();
  report.dims = sample->chosen_dims;
  auto rewritten = run_passes(graph, PassContext{options.compile.math});
  if (!rewritten) return rewritten.takeError();
  EvaluateOptions evaluation;
  evaluation.precisions = {MatmulPrecision::pedantic};
  say("evaluating the graph as given");
  auto references = evaluate(graph, sample->pointers, evaluation);
  if (!references) return references.takeError();
  evaluation.precisions.clear();
  say("evaluating the rewritten graph");
  auto results = evaluate(*rewritten, sample->pointers, evaluation);
  if (!results) return results.takeError();
  for (size_t i = 0; i < references->size(); ++i) {
    OutputCheck check = judge((*references)[i], (*results)[i].to_tensor(), 0,
                              compare_options(options));
    check.precision = "rewrites";
    report.checks.push_back(std::move(check));
  }
  conclude(report);
  return report;
}

} // namespace ingot
