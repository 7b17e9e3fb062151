// SPDX-License-Identifier: Apache-2.0
// Programs of the public API: compile, query, prepare and launch. See include/ingot/ingot.h.
#include "src/api/program.h"

#include "src/api/internal.h"
#include "src/device.h"
#include "src/dump.h"
#include "src/version.h"

#include "llvm/ADT/STLExtras.h"

#include <mutex>

namespace ingot {

static_assert(same_number(Precision::pedantic, MatmulPrecision::pedantic));
static_assert(same_number(Precision::highest, MatmulPrecision::highest));
static_assert(same_number(Precision::high, MatmulPrecision::high));
static_assert(same_number(Precision::medium, MatmulPrecision::medium));
static_assert(same_number(Math::strict, MathMode::strict));
static_assert(same_number(Math::relaxed, MathMode::relaxed));
static_assert(same_number(Math::finite, MathMode::finite));
static_assert(same_number(CodeFormat::ptx, CodeKind::ptx));
static_assert(same_number(CodeFormat::cubin, CodeKind::cubin));
static_assert(same_number(CodeFormat::cuda, CodeKind::cuda));
static_assert(same_number(CodeFormat::torch, CodeKind::torch));

namespace {

struct Warnings {
  std::mutex mutex;
  std::function<void(const std::string&)> handler;
};

Warnings& warnings() {
  static auto* instance = new Warnings; // threads of other libraries may outlive statics
  return *instance;
}

void warn(const std::string& message) {
  std::function<void(const std::string&)> handler; // called without the lock: it may set another
  {
    std::lock_guard lock(warnings().mutex);
    handler = warnings().handler;
  }
  if (handler) handler(message);
}

std::vector<DimInfo> to_dims(std::span<const DimRange> dims) {
  std::vector<DimInfo> result;
  for (const DimRange& dim : dims) result.push_back({dim.name, dim.least, dim.most});
  return result;
}

/// The inline size is large enough that launches do not allocate.
using TensorArguments = llvm::SmallVector<TensorArgument, 32>;

llvm::Error read_tensors(const char* role, const DeclaredTensors& declared,
                         std::span<const TensorView> given, TensorArguments& result) {
  if (given.size() != declared.specs.size())
    return make_error(ErrorCode::invalid_argument, "expected {} {} tensors, got {}",
                      declared.specs.size(), role, given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    TensorArgument argument;
    argument.data = reinterpret_cast<DevicePointer>(given[i].data);
    if (given[i].extents)
      argument.shape = {given[i].extents->data(), given[i].extents->size()};
    else if (declared.extents[i])
      argument.shape = *declared.extents[i];
    else
      return make_error(ErrorCode::invalid_argument,
                        "{} '{}' has a named dimension: give its extents", role,
                        declared.specs[i].name);
    result.push_back(argument);
  }
  return llvm::Error::success();
}

DevicePointer address(void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

} // namespace

void set_warning_handler(std::function<void(const std::string&)> handler) {
  std::lock_guard lock(warnings().mutex);
  warnings().handler = std::move(handler);
}

std::shared_ptr<CompileService> shared_service() {
  static auto* service = new std::shared_ptr<CompileService>(
      std::make_shared<CompileService>(CompileService::options_from_environment(warn)));
  return *service;
}

DeclaredTensors::DeclaredTensors(const std::vector<TensorInfo>& tensors) {
  for (const TensorInfo& tensor : tensors) {
    TensorSpec spec{tensor.name, to_element_type(tensor.dtype), {}};
    std::vector<int64_t> fixed;
    for (const Expr& extent : tensor.shape) {
      const auto constant = extent.constant();
      if (constant) fixed.push_back(*constant);
      spec.shape.push_back(constant ? Extent(*constant) : Extent(extent.text()));
    }
    specs.push_back(std::move(spec));
    extents.push_back(fixed.size() == tensor.shape.size() ? std::optional(std::move(fixed))
                                                          : std::nullopt);
  }
}

Program::State::State(std::unique_ptr<Launchable> the_launchable, Emit the_emit)
    : launchable(std::move(the_launchable)), emit(std::move(the_emit)), inputs(module().inputs),
      params(module().params), outputs(module().outputs) {}

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

const std::vector<TensorSpec>& Program::inputs() const { return state_->inputs.specs; }
const std::vector<TensorSpec>& Program::params() const { return state_->params.specs; }
const std::vector<TensorSpec>& Program::outputs() const { return state_->outputs.specs; }

namespace {

/// The single size that `dims` gives for dimension `name` of `tensor`.
llvm::Expected<int64_t> size_of_dim(llvm::StringRef name, llvm::StringRef tensor,
                                    std::span<const DimRange> dims) {
  const DimRange* found = nullptr;
  for (const DimRange& dim : dims) {
    if (dim.name != name) continue;
    if (found)
      return make_error(ErrorCode::invalid_argument,
                        "shape of '{}': dimension '{}' is given twice; give one size", tensor.str(),
                        name.str());
    found = &dim;
  }
  if (!found || found->least < 0 || found->least != found->most)
    return make_error(ErrorCode::invalid_argument,
                      "shape of '{}': expected one size of '{}', of at least 0", tensor.str(),
                      name.str());
  return found->least;
}

llvm::Expected<std::vector<int64_t>> shape_of(const TensorInfo& tensor,
                                              std::span<const DimRange> dims) {
  std::vector<int64_t> extents;
  for (const Expr& extent : tensor.shape) {
    llvm::Error error = llvm::Error::success();
    auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
      auto size = size_of_dim(name, tensor.name, dims);
      if (size) return *size;
      llvm::consumeError(std::move(error));
      error = size.takeError();
      return std::nullopt;
    };
    const auto size = extent.evaluate(lookup);
    if (error) return error;
    if (!size)
      return make_error(ErrorCode::invalid_argument,
                        "shape of '{}': its extent {} is larger than any for these sizes",
                        tensor.name, extent.text());
    if (*size < 0)
      return make_error(ErrorCode::invalid_argument,
                        "shape of '{}': its extent {} is {} for these sizes, expected at least 0",
                        tensor.name, extent.text(), *size);
    extents.push_back(*size);
  }
  return extents;
}

} // namespace

Result<std::vector<int64_t>> Program::shape(Role role, size_t index,
                                            std::span<const DimRange> dims) const {
  return guarded([&]() -> llvm::Expected<std::vector<int64_t>> {
    const Module& module = state_->module();
    const std::vector<TensorInfo>* tensors = role == Role::input    ? &module.inputs
                                             : role == Role::param  ? &module.params
                                             : role == Role::output ? &module.outputs
                                                                    : nullptr;
    if (!tensors)
      return make_error(ErrorCode::invalid_argument,
                        "shape: {} is no Role; expected input, param or output",
                        static_cast<int>(role));
    if (index >= tensors->size())
      return make_error(ErrorCode::invalid_argument, "shape: expected one of {} tensors, got {}",
                        tensors->size(), index);
    return shape_of((*tensors)[index], dims);
  });
}

int Program::num_kernels() const { return static_cast<int>(state_->module().launch.steps.size()); }

Result<MemoryNeeds> Program::memory(std::span<const DimRange> dims) const {
  return guarded([&]() -> llvm::Expected<MemoryNeeds> {
    auto sizes = state_->launchable->memory(to_dims(dims));
    if (!sizes) return sizes.takeError();
    return MemoryNeeds{sizes->prepared.bytes, sizes->workspace.bytes, sizes->state.bytes};
  });
}

Result<Code> Program::code(CodeFormat format) const {
  return guarded([&]() -> llvm::Expected<Code> {
    if (format > CodeFormat::torch)
      return make_error(ErrorCode::invalid_argument,
                        "code: {} is no CodeFormat; expected ptx, cubin, cuda or torch",
                        static_cast<int>(format));
    return state_->emit(static_cast<CodeKind>(format));
  });
}

Code code_of(const Module& module, CodeKind kind, EmittedCode emitted) {
  emitted.facts.file = module.name + suffix_of(kind).str();
  return {std::move(emitted.bytes), write_manifest(module, emitted.facts)};
}

Status Program::prepare(const PrepareArguments& arguments) {
  return guarded([&]() -> llvm::Error {
    TensorArguments params;
    if (auto error = read_tensors("param", state_->params, arguments.params, params)) return error;
    PrepareRequest request;
    request.dims = to_dims(arguments.dims);
    request.params = params;
    request.prepared = address(arguments.prepared);
    request.workspace = address(arguments.workspace);
    request.stream = static_cast<Stream>(arguments.stream);
    return state_->launchable->prepare(request);
  });
}

Status Program::launch(const LaunchArguments& arguments) const {
  return guarded([&]() -> llvm::Error {
    TensorArguments inputs, params, outputs;
    if (auto error = read_tensors("input", state_->inputs, arguments.inputs, inputs)) return error;
    if (auto error = read_tensors("param", state_->params, arguments.params, params)) return error;
    if (auto error = read_tensors("output", state_->outputs, arguments.outputs, outputs))
      return error;
    LaunchRequest request;
    request.inputs = inputs;
    request.params = params;
    request.outputs = outputs;
    request.prepared = address(arguments.prepared);
    request.workspace = address(arguments.workspace);
    request.state = address(arguments.state);
    request.stream = static_cast<Stream>(arguments.stream);
    return state_->launchable->launch(request);
  });
}

llvm::Expected<CompileOptions> to_given_options(const Options& options) {
  if (options.precision > Precision::medium)
    return make_error(ErrorCode::invalid_argument,
                      "compile: {} is no Precision; expected pedantic, highest, high or medium",
                      static_cast<int>(options.precision));
  if (options.math > Math::finite)
    return make_error(ErrorCode::invalid_argument,
                      "compile: {} is no Math; expected strict, relaxed or finite",
                      static_cast<int>(options.math));
  CompileOptions result;
  result.target = options.target;
  result.device = options.device;
  result.precision = static_cast<MatmulPrecision>(options.precision);
  result.math = static_cast<MathMode>(options.math);
  result.tuned = TunedSchedules::from_environment();
  return result;
}

llvm::Expected<CompileOptions> to_compile_options(const Options& options) {
  auto result = to_given_options(options);
  if (!result || (!options.device.empty() && options.device != "native")) return result;
  auto native = native_device_spec();
  if (native) {
    result->device = "native";
    result->native = std::move(*native);
  } else if (options.device == "native") {
    return native.takeError();
  } else {
    llvm::consumeError(native.takeError());
  }
  return result;
}

llvm::Expected<Compilation> compile_spec(const GraphSpec& graph, const CompileOptions& options) {
  auto settings = DumpSettings::from_environment();
  if (!settings) return settings.takeError();
  Dump dump(std::move(*settings));
  auto compilation = compile_graph(graph.state().graph, options, dump.observer());
  if (!compilation) return compilation;
  if (auto error = dump.finish()) return error;
  return compilation;
}

namespace {

Provenance provenance_of(const Compilation& compilation) {
  return {kVersion, compilation.target.device.name, spelling(compilation.options.precision).str()};
}

llvm::Expected<Code> emit(const Module& module, CodeKind kind, const Provenance& provenance) {
  auto emitted = emit_code(module, kind, *shared_service(), provenance);
  if (!emitted) return emitted.takeError();
  return code_of(module, kind, std::move(*emitted));
}

/// The code of a graph for files, whose family nobody named: for sm_80, which all cards run.
llvm::Expected<Code> emit_for_files(const Graph& graph, CompileOptions options, CodeKind kind) {
  options.target = spelling(Family::sm_80).str();
  auto compilation = compile_graph(graph, options);
  if (!compilation) return compilation.takeError();
  return emit(compilation->module, kind, provenance_of(*compilation));
}

llvm::Expected<Program> compile_program(const GraphSpec& graph, const Options& options) {
  auto compile_options = to_compile_options(options);
  if (!compile_options) return compile_options.takeError();
  auto compilation = compile_spec(graph, *compile_options);
  if (!compilation) return compilation.takeError();
  auto executable = load_executable(*compilation, shared_service());
  if (!executable) return executable.takeError();
  if (options.target.empty() && compilation->target.family != Family::sm_80)
    return Program(std::make_unique<Program::State>(
        std::move(*executable), [given = graph.state().graph, files = std::move(*compile_options)](
                                    CodeKind kind) { return emit_for_files(given, files, kind); }));
  const Module& module = (*executable)->module();
  return Program(std::make_unique<Program::State>(
      std::move(*executable), [&module, provenance = provenance_of(*compilation)](CodeKind kind) {
        return emit(module, kind, provenance);
      }));
}

} // namespace

Result<Program> compile(const GraphSpec& graph, const Options& options) {
  return guarded([&] { return compile_program(graph, options); });
}

} // namespace ingot
