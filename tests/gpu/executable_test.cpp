// SPDX-License-Identifier: Apache-2.0
// prepare and launch on a GPU, with kernels small enough to be judged by eye.
#include "runtime/executable.h"

#include "codegen/program/manifest.h"
#include "runtime/nvrtc.h"
#include "src/emission.h"
#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/gpu.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace ingot;
using ingot::testing::Gpu;

namespace {

// y[i, j] = x[i, j] * packed[j] + sums[j]: packed is made by prepare, sums is written anew by every
// launch, and state must be found 0 and left 0.
constexpr const char* kPack = R"(namespace in_pack {
extern "C" __global__ void pack(const float* w, float* packed) {
  packed[threadIdx.x] = 2.0f * w[threadIdx.x];
}
})";
constexpr const char* kSum = R"(namespace in_sum {
extern "C" __global__ void sum(const float* x, float* sums, int* state, long long m) {
  extern __shared__ __align__(128) unsigned char dynamic_shared[];
  float* row = reinterpret_cast<float*>(dynamic_shared);
  int before = threadIdx.x == 0 ? atomicAdd(state, 1) : 0;
  row[threadIdx.x] = 0.0f;
  for (long long i = 0; i < m; ++i) row[threadIdx.x] += x[i * 64 + threadIdx.x];
  sums[threadIdx.x] = row[threadIdx.x];
  if (threadIdx.x == 0) {
    if (before != 0) sums[0] = __int_as_float(0x7fc00000);
    atomicSub(state, 1);
  }
}
})";

std::string apply_source(const std::string& entry, int rows) {
  return fmt::format(R"(namespace in_{0} {{
extern "C" __global__ void {0}(const float* x, const float* packed, const float* sums, float* y,
                               long long m) {{
  for (int r = 0; r < {1}; ++r) {{
    long long i = blockIdx.x * {1}ll + r;
    long long at = i * 64 + threadIdx.x;
    if (i < m) y[at] = x[at] * packed[threadIdx.x] + sums[threadIdx.x];
  }}
}}
}})",
                     entry, rows);
}

Argument argument(ArgumentKind kind, std::string name, Expr value = 0) {
  Argument a;
  a.kind = kind;
  a.name = std::move(name);
  a.value = std::move(value);
  return a;
}

KernelVariant variant(std::string entry, std::string body, std::vector<Argument> arguments) {
  KernelVariant v;
  v.entry = std::move(entry);
  v.body = std::move(body);
  v.launch.grid = {1, 1, 1};
  v.launch.block = {64, 1, 1};
  v.launch.max_threads = 64;
  v.arguments = std::move(arguments);
  return v;
}

Module make_module(const std::string& arch) {
  Module module;
  module.name = "affine";
  module.family = "sm_80";
  module.arch = arch;
  module.dims = {{"m", 0, 1 << 20}};
  Expr m = Expr::symbol("m");
  module.inputs = {{"x", DType::f32, {m, 64}, 4}};
  module.params = {{"w", DType::f32, {64}, 4}};
  module.outputs = {{"y", DType::f32, {m, 64}, 4}};
  module.prepared = module.workspace = {256, 256};
  module.state = {4, 4};

  using enum ArgumentKind;
  Argument x = argument(input, "x"), w = argument(param, "w"), y = argument(output, "y"),
           packed = argument(prepared, ""), sums = argument(workspace, ""),
           counter = argument(state, ""), rows = argument(dim, "m", m);
  KernelVariant sum = variant("sum", kSum, {x, sums, counter, rows});
  sum.launch.shared_bytes = 90000; // more than a kernel may have without asking
  KernelVariant wide = variant("apply4", apply_source("apply4", 4), {x, packed, sums, y, rows});
  wide.launch.grid[0] = ceil_div(m, 4);
  wide.when = {{PredicateKind::divisible, m, 0, 4}};
  KernelVariant narrow = variant("apply1", apply_source("apply1", 1), {x, packed, sums, y, rows});
  narrow.launch.grid[0] = m;
  module.kernels = {{"pack", {}, "", "", {variant("pack", kPack, {w, packed})}},
                    {"sum", {}, "", "", {sum}},
                    {"apply", {}, "", "", {wide, narrow}}};
  module.prepare.steps = {{0}};
  module.launch.steps = {{1}, {2}};
  return module;
}

std::vector<float> ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * float(int(i * 37 % 101) - 50);
  return values;
}

/// Every value is a small integer, so that f32 gives it exactly.
std::vector<float> expected(const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<float> sums(64), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) sums[i % 64] += x[i];
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * 2.0f * w[i % 64] + sums[i % 64];
  return y;
}

/// One caller's memory and sizes.
struct Caller {
  const Gpu& gpu;
  std::vector<float> x, w;
  DeviceBuffer dx, dw, dy, prepared, workspace, state;
  DeviceStream stream;
  std::vector<int64_t> x_shape, w_shape = {64};
  TensorArgument input, param, output;

  Caller(const Gpu& on, int64_t m, float scale = 1.0f)
      : gpu(on), x(ramp(size_t(m) * 64, 1.0f)), w(ramp(64, scale)), dx(gpu.upload(x)),
        dw(gpu.upload(w)), dy(gpu.allocate(x.size() * 4)), prepared(gpu.allocate(256)),
        workspace(gpu.allocate(256)), state(gpu.allocate(4)),
        stream(llvm::cantFail(DeviceStream::create(*gpu.driver))), x_shape{m, 64} {
    llvm::cantFail(state.fill(0, stream.get()));
    input = {dx.data(), x_shape};
    param = {dw.data(), w_shape};
    output = {dy.data(), x_shape};
  }

  llvm::Error prepare(Executable& executable, std::vector<DimInfo> dims) {
    PrepareRequest request;
    request.dims = std::move(dims);
    request.params = param;
    request.prepared = prepared.data();
    request.workspace = workspace.data();
    request.stream = stream.get();
    return executable.prepare(request);
  }

  llvm::Error launch(const Executable& executable) {
    LaunchRequest request;
    request.inputs = input;
    request.params = param;
    request.outputs = output;
    request.prepared = prepared.data();
    request.workspace = workspace.data();
    request.state = state.data();
    request.stream = stream.get();
    return executable.launch(request);
  }

  void poison() { llvm::cantFail(dy.fill(0xff, stream.get())); }

  bool is_right() {
    llvm::cantFail(stream.synchronize());
    return gpu.download<float>(dy) == expected(x, w);
  }
};

std::unique_ptr<Executable> make_executable(const Gpu& gpu) {
  auto service = std::make_shared<CompileService>(CompileService::Options{});
  return llvm::cantFail(Executable::create(make_module(gpu.arch()), service));
}

std::string text_of_file(const std::string& path) {
  auto text = read_file(path);
  return text ? *text : take_error(text.takeError()).second;
}

std::string text(llvm::Error error) { return error ? take_error(std::move(error)).second : ""; }

} // namespace

TEST_CASE("executable on a GPU: prepare, then launches of several sizes and parameter sets") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  auto executable = make_executable(*gpu);
  Caller a(*gpu, 1000), b(*gpu, 333, 3.0f);
  REQUIRE(text(a.prepare(*executable, {{"m", 1, 1000}})) == "");
  REQUIRE(text(b.prepare(*executable, {{"m", 1, 1000}})) == "");
  for (int round = 0; round < 3; ++round)
    for (Caller* caller : {&a, &b}) {
      caller->poison();
      CHECK_FALSE(caller->is_right());
      REQUIRE(text(caller->launch(*executable)) == "");
      CHECK(caller->is_right());
    }
  std::swap(a.param, b.param);
  CHECK(text(a.launch(*executable)).find("prepare again for this parameter set") !=
        std::string::npos);
}

TEST_CASE("executable on a GPU: a captured launch replays") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  auto executable = make_executable(*gpu);
  Caller caller(*gpu, 512);
  REQUIRE(text(caller.prepare(*executable, {{"m", 512, 512}})) == "");
  llvm::cantFail(caller.stream.synchronize());
  const driver_api::Functions& driver = *gpu->driver;
  constexpr int kCaptureGlobal = 0; // forbids calls that a launch must not make, such as allocating
  driver_api::Graph graph = nullptr;
  driver_api::GraphExec exec = nullptr;
  REQUIRE(driver.stream_begin_capture(caller.stream.get(), kCaptureGlobal) == 0);
  std::string failure = text(caller.launch(*executable));
  REQUIRE(driver.stream_end_capture(caller.stream.get(), &graph) == 0);
  REQUIRE(failure == "");
  REQUIRE(driver.graph_instantiate(&exec, graph, 0) == 0);
  for (int round = 0; round < 3; ++round) {
    caller.poison();
    REQUIRE(driver.graph_launch(exec, caller.stream.get()) == 0);
    CHECK(caller.is_right());
  }
  driver.graph_exec_destroy(exec);
  driver.graph_destroy(graph);
}

TEST_CASE("executable on a GPU: threads launch on streams of their own") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  auto executable = make_executable(*gpu);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int t = 0; t < 4; ++t) {
    callers.push_back(std::make_unique<Caller>(*gpu, 100 + t, float(t + 1)));
    REQUIRE(text(callers[t]->prepare(*executable, {{"m", 1, 200}})) == "");
  }
  std::vector<int> right(4);
  std::vector<std::thread> threads;
  driver_api::Context context = nullptr;
  gpu->driver->context_get(&context);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      gpu->driver->context_set(context);
      for (int i = 0; i < 50; ++i) {
        callers[t]->poison();
        right[t] += text(callers[t]->launch(*executable)).empty() && callers[t]->is_right();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 50));
}

TEST_CASE("executable on a GPU: the cost of a launch on the host") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  auto executable = make_executable(*gpu);
  Caller caller(*gpu, 1);
  REQUIRE(text(caller.prepare(*executable, {{"m", 1, 1}})) == "");
  constexpr int kBatch = 100;
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    llvm::cantFail(caller.stream.synchronize());
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) llvm::cantFail(caller.launch(*executable));
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / kBatch);
  }
  MESSAGE("host time of a launch of two kernels: ", best, " us");
  CHECK(best < 100);
  CHECK(caller.is_right());
}

TEST_CASE("executable on a GPU: a program without Ingot launches from manifest and PTX") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) INGOT_SKIP("python3 is not installed");
  // PTX for the family, as `--emit=ptx` writes it; the driver makes machine code of it.
  Module module = make_module("sm_80");
  CompileService service{CompileService::Options{
      .compiler = std::make_shared<Nvrtc>(NvrtcSearch::from_environment())}};
  auto code = emit_code(module, CodeKind::ptx, service);
  REQUIRE_MESSAGE(bool(code), take_error(code.takeError()).second);
  ingot::testing::TemporaryFolder folder;
  code->facts.file = "affine.ptx";
  llvm::cantFail(write_file_atomically(folder / "affine.ptx", code->bytes));
  llvm::cantFail(
      write_file_atomically(folder / "affine.json", write_manifest(module, code->facts)));

  auto npy = [](std::vector<int64_t> shape, const std::vector<float>& values) {
    std::string sizes;
    for (int64_t extent : shape) sizes += std::to_string(extent) + ", ";
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + sizes + "), }";
    header.resize(117, ' ');
    header += '\n';
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
           std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  };
  std::vector<float> x = ramp(67 * 64, 1.0f), w = ramp(64, 1.0f);
  llvm::cantFail(write_file_atomically(folder / "x.npy", npy({67, 64}, x)));
  llvm::cantFail(write_file_atomically(folder / "w.npy", npy({64}, w)));
  const char* elsewhere = std::getenv("INGOT_SOURCE_DIR"); // run where the sources are not in place
  std::string command =
      fmt::format("python3 {0}/tools/launch_from_manifest.py {1}/affine.json --input x={1}/x.npy "
                  "--input w={1}/w.npy --output y={1}/y.npy --repeat 3 > {1}/log 2>&1",
                  elsewhere ? elsewhere : INGOT_SOURCE_DIR, folder.path());
  const int status = std::system(command.c_str());
  auto y = read_file(folder / "y.npy");
  if (status != 0 || !y) {
    if (!y) llvm::consumeError(y.takeError());
    FAIL_CHECK(command, " ended with status ", status, ":\n", text_of_file(folder / "log"));
    return;
  }
  if (y->size() != 128 + x.size() * 4) {
    FAIL_CHECK("y.npy has ", y->size(), " bytes, expected ", 128 + x.size() * 4);
    return;
  }
  std::string data = y->substr(128);
  std::vector<float> values(x.size());
  std::memcpy(values.data(), data.data(), data.size());
  CHECK(values == expected(x, w));
}
