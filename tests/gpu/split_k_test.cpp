// SPDX-License-Identifier: Apache-2.0
// Blocks that share the tiles of a matmul meet in workspace and state that belong to one launch in
// flight: two streams at once, and a launch captured in a CUDA graph, give the same bits every
// time.
#include "ir/interpreter/compare.h"
#include "ir/random.h"
#include "ir/text/parser.h"
#include "src/device.h"
#include "src/reports/check.h"
#include "src/support/error.h"
#include "tests/support/gpu.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace ingot;
using ingot::testing::Gpu;

namespace {

constexpr int kRounds = 20;
constexpr uint8_t kPoison = 0xff; ///< NaN in every floating type

struct Graphs {
  const char* spec; ///< one output
  MatmulPrecision precision = MatmulPrecision::highest;
};

/// Tiles of 64 and of 128 rows, one product and two, tensor cores and FMA, plain sums of parts and
/// compensated ones; a reduction behind the sums that blocks share.
constexpr Graphs kGraphs[] = {
    {"graph g(x: f16[40, 4096], w: f16[192, 4096]) { return gelu(linear(x, w)) }"},
    {"graph g(x: bf16[200, 4096], w: bf16[256, 4096]) { return linear(x, w) }"},
    {"graph g(x: f16[130, 8000], w: f16[96, 8000], v: f16[96, 8000]) {\n"
     "  return swish(linear(x, w)) * linear(x, v) }"},
    {"graph g(x: f32[70, 2500], w: f32[130, 2500]) { return softmax(linear(x, w)) }"},
    {"graph g(x: f32[70, 2501], w: f32[130, 2501]) { return sum(relu(linear(x, w)), axis=0) }",
     MatmulPrecision::pedantic},
    {"graph g(x: f32[70, 16384], w: f32[128, 16384]) { return relu(linear(x, w)) }",
     MatmulPrecision::high},
    {"graph g(x: f32[70, 16384], w: f32[16384, 128]) { return relu(matmul(x, w)) }",
     MatmulPrecision::high},
};

/// A graph on the GPU with its reference. Its tensors are read by all callers.
struct Loaded {
  const Gpu& gpu;
  Compilation compilation;
  std::unique_ptr<Executable> executable;
  std::vector<Tensor> tensors;
  std::vector<DeviceBuffer> buffers;
  std::vector<TensorArgument> inputs;
  std::vector<Evaluated> reference;
  MemorySizes sizes;

  Loaded(const Gpu& on, const Graphs& graph) : gpu(on), compilation(compile(graph)) {
    auto service = std::make_shared<CompileService>(CompileService::options_from_environment({}));
    executable = llvm::cantFail(load_executable(compilation, service));
    for (ValueId id : compilation.graph.inputs()) {
      const Type& type = compilation.graph.type(id);
      Tensor& tensor = tensors.emplace_back(type.dtype, evaluate_shape(type.shape, {}));
      fill_random(tensor, {Distribution::Kind::uniform, -1, 1},
                  random_key(std::to_string(tensors.size()), 1));
    }
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : tensors) {
      pointers.push_back(&tensor);
      const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.bytes());
      buffers.push_back(gpu.upload(std::vector<uint8_t>(bytes, bytes + tensor.size_bytes())));
      inputs.push_back({buffers.back().data(), tensor.extents()});
    }
    // A copy may return before its last piece has arrived.
    REQUIRE(gpu.driver->stream_synchronize(nullptr) == driver_api::kSuccess);
    EvaluateOptions evaluation;
    evaluation.precisions = {graph.precision};
    reference = llvm::cantFail(judged_references(compilation, pointers, evaluation, {}));
    sizes = llvm::cantFail(executable->memory({}));
  }

  static Compilation compile(const Graphs& graph) {
    CompileOptions options;
    options.device = "native";
    options.native = llvm::cantFail(native_device_spec());
    options.precision = graph.precision;
    return llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(graph.spec, "graph")), options));
  }

  bool divides() const {
    return llvm::any_of(compilation.module.kernels, [](const KernelCode& kernel) {
      return llvm::StringRef(kernel.variants.front().schedule).contains("split-k");
    });
  }
};

/// The memory and stream of one launch in flight.
struct Caller {
  const Loaded& loaded;
  Tensor output;
  DeviceBuffer on_gpu, prepared, workspace, state;
  DeviceStream stream;

  explicit Caller(const Loaded& from)
      : loaded(from), output(make_output(from)), on_gpu(from.gpu.allocate(output.size_bytes())),
        prepared(from.gpu.allocate(from.sizes.prepared.bytes)),
        workspace(from.gpu.allocate(from.sizes.workspace.bytes)),
        state(from.gpu.allocate(from.sizes.state.bytes)),
        stream(llvm::cantFail(DeviceStream::create(*from.gpu.driver))) {
    llvm::cantFail(state.fill(0, stream.get()));
    PrepareRequest request;
    request.prepared = prepared.data();
    request.workspace = workspace.data();
    request.stream = stream.get();
    llvm::cantFail(loaded.executable->prepare(request));
    poison();
    llvm::cantFail(stream.synchronize());
  }

  static Tensor make_output(const Loaded& from) {
    const Type& type = from.compilation.graph.type(from.compilation.graph.outputs()[0].value);
    return Tensor(type.dtype, evaluate_shape(type.shape, {}));
  }

  /// The results of the last launch must not be taken for the next one's.
  void poison() {
    llvm::cantFail(on_gpu.fill(kPoison, stream.get()));
    llvm::cantFail(workspace.fill(kPoison, stream.get()));
  }

  llvm::Error launch() const {
    const TensorArgument out = {on_gpu.data(), output.extents()};
    LaunchRequest request;
    request.inputs = loaded.inputs;
    request.outputs = out;
    request.prepared = prepared.data();
    request.workspace = workspace.data();
    request.state = state.data();
    request.stream = stream.get();
    return loaded.executable->launch(request);
  }

  /// The output, after all work of the stream.
  std::vector<uint8_t> fetch() const {
    llvm::cantFail(stream.synchronize());
    return loaded.gpu.download<uint8_t>(on_gpu);
  }

  /// The error of an output; empty: none.
  std::string judge(const std::vector<uint8_t>& bytes) {
    std::memcpy(output.bytes(), bytes.data(), bytes.size());
    return compare(loaded.reference[0], output, 0, {}).problem;
  }

  bool restored() const {
    return llvm::all_of(loaded.gpu.download<uint8_t>(state), [](uint8_t b) { return b == 0; });
  }
};

/// Calls `check` with each graph that this GPU's schedules divide.
void for_each_graph(const Gpu& gpu, llvm::function_ref<void(Loaded& loaded)> check) {
  for (const Graphs& graph : kGraphs) {
    CAPTURE(graph.spec);
    Loaded loaded(gpu, graph);
    CHECK(loaded.divides());
    CHECK(loaded.sizes.state.bytes > 0);
    check(loaded);
  }
}

} // namespace

TEST_CASE("split-k on a GPU: launches on two streams at once give the same bits") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  for_each_graph(*gpu, [](Loaded& loaded) {
    Caller callers[] = {Caller(loaded), Caller(loaded)};
    CHECK(callers[0].judge(callers[0].fetch()) != ""); // nothing ran yet
    std::vector<uint8_t> first;
    for (int round = 0; round < kRounds; ++round) {
      CAPTURE(round);
      for (Caller& caller : callers) caller.poison();
      for (Caller& caller : callers) llvm::cantFail(caller.launch());
      for (Caller& caller : callers) {
        const std::vector<uint8_t> got = caller.fetch();
        if (first.empty()) {
          CHECK(caller.judge(got) == "");
          first = got;
        }
        CHECK_MESSAGE(got == first, "not the same bits");
        CHECK(caller.restored());
      }
    }
  });
}

TEST_CASE("split-k on a GPU: launches that follow each other find state and workspace as left") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  for_each_graph(*gpu, [](Loaded& loaded) {
    Caller caller(loaded);
    llvm::cantFail(caller.launch());
    const std::vector<uint8_t> first = caller.fetch();
    CHECK(caller.judge(first) == "");
    llvm::cantFail(caller.on_gpu.fill(kPoison, caller.stream.get()));
    for (int round = 0; round < kRounds; ++round) llvm::cantFail(caller.launch());
    CHECK_MESSAGE(caller.fetch() == first, "not the same bits");
  });
}

TEST_CASE("split-k on a GPU: a captured launch gives the same bits at every replay") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  for_each_graph(*gpu, [&](Loaded& loaded) {
    Caller caller(loaded);
    llvm::cantFail(caller.launch());
    const std::vector<uint8_t> first = caller.fetch();
    CHECK(caller.judge(first) == "");
    const driver_api::Functions& driver = *gpu->driver;
    constexpr int kCaptureGlobal = 0; // forbids calls that a launch must not make: allocating, ...
    driver_api::Graph graph = nullptr;
    driver_api::GraphExec exec = nullptr;
    REQUIRE(driver.stream_begin_capture(caller.stream.get(), kCaptureGlobal) == 0);
    llvm::Error error = caller.launch();
    REQUIRE(driver.stream_end_capture(caller.stream.get(), &graph) == 0);
    llvm::cantFail(std::move(error));
    REQUIRE(driver.graph_instantiate(&exec, graph, 0) == 0);
    for (int round = 0; round < kRounds; ++round) {
      CAPTURE(round);
      caller.poison();
      CHECK(caller.fetch() != first);
      REQUIRE(driver.graph_launch(exec, caller.stream.get()) == 0);
      CHECK_MESSAGE(caller.fetch() == first, "not the same bits");
      CHECK(caller.restored());
    }
    driver.graph_exec_destroy(exec);
    driver.graph_destroy(graph);
  });
}
