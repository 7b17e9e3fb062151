// SPDX-License-Identifier: Apache-2.0
// A small executable on a fake GPU, for tests of prepare and launch.
#pragma once

#include "runtime/compile_service.h"
#include "runtime/executable.h"

#include "src/support/error.h"
#include "tests/support/arguments.h"
#include "tests/support/fake_driver.h"

#include <doctest/doctest.h>

#include <atomic>

namespace ingot::testing {

/// "Machine code" is the entry's name, found in the source as the fake driver expects it.
class EchoCompiler : public KernelCompiler {
public:
  llvm::Expected<std::string> identity() override { return "echo"; }
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader>) override {
    ++num_compiles;
    if (failing) return make_error(ErrorCode::compile_error, "refused");
    CompileOutput output;
    output.cubin = request.source.substr(0, request.source.find('\n'));
    return output;
  }
  std::atomic<int> num_compiles{0};
  bool failing = false;
};

inline KernelVariant variant(std::string entry) {
  KernelVariant v;
  v.entry = entry;
  v.body = entry + "\n";
  v.launch.grid = {1, 1, 1};
  v.launch.block = {256, 1, 1};
  return v;
}

/// y[m, 64] = f(x[m, 64], w[64]): a fast variant for an aligned x and m of multiples of 4, a
/// general one; prepared, workspace and state memories.
inline Module small_module() {
  Module module;
  module.name = "small";
  module.family = module.arch = "sm_80";
  module.dims = {{"m", 0, 1 << 20}};
  Expr m = Expr::symbol("m");
  module.inputs = {{"x", DType::f32, {m, 64}, 4}};
  module.params = {{"w", DType::f32, {64}, 4}};
  module.outputs = {{"y", DType::f32, {m, 64}, 4}};
  module.prepared = {256, 256};
  module.workspace = {m * 8, 16};
  module.state = {4, 4};

  KernelCode main;
  main.name = "main";
  KernelVariant fast = variant("main_fast");
  fast.when = {{PredicateKind::aligned, 0, 0, 16}, {PredicateKind::divisible, m, 0, 4}};
  fast.launch.grid = {ceil_div(m, 128), 2, 1};
  fast.launch.shared_bytes = 100000;
  fast.arguments = {tensor(ArgumentKind::input, "x"),
                    tensor(ArgumentKind::param, "w"),
                    tensor(ArgumentKind::output, "y"),
                    memory(ArgumentKind::prepared, 128),
                    memory(ArgumentKind::workspace, m * 4),
                    memory(ArgumentKind::state, 0),
                    dim("m", m),
                    dim("tiles", ceil_div(m, 128))};
  KernelVariant general = fast;
  general.entry = "main_general";
  general.body = "main_general\n";
  general.when.clear();
  general.launch.grid = {m, 1, 1};
  general.launch.shared_bytes = 0;
  main.variants = {fast, general};

  KernelCode pack;
  pack.name = "pack";
  pack.variants = {variant("pack")};
  pack.variants[0].arguments = {tensor(ArgumentKind::param, "w"),
                                memory(ArgumentKind::prepared, 0)};
  module.kernels = {main, pack};
  module.prepare.steps = {{1}};
  module.launch.steps = {{0}};
  return module;
}

inline constexpr uint64_t kX = 0x10000000, kW = 0x20000000, kY = 0x30000000, kPrepared = 0x40000000,
                          kWorkspace = 0x50000000, kState = 0x60000000;

/// An executable of small_module on a fake GPU, with a caller that may be bent by a test.
struct SmallExecutable {
  FakeDriver driver;
  std::shared_ptr<EchoCompiler> compiler = std::make_shared<EchoCompiler>();
  std::unique_ptr<Executable> executable;
  std::vector<int64_t> x_shape = {300, 64}, w_shape = {64}, y_shape = {300, 64};
  std::vector<TensorArgument> inputs = {{kX, x_shape}}, params = {{kW, w_shape}},
                              outputs = {{kY, y_shape}};
  LaunchRequest request;

  explicit SmallExecutable(Module module = small_module()) {
    auto service = std::make_shared<CompileService>(
        CompileService::Options{.headers = {}, .compiler = compiler, .num_threads = 1});
    auto created = Executable::create(std::move(module), service, &driver.functions);
    REQUIRE(bool(created));
    executable = std::move(*created);
    request.prepared = kPrepared;
    request.workspace = kWorkspace;
    request.state = kState;
    request.stream = reinterpret_cast<Stream>(0x77);
  }

  void set_m(int64_t m) {
    x_shape[0] = y_shape[0] = m;
    inputs[0].shape = x_shape;
    outputs[0].shape = y_shape;
  }

  std::string prepare(int64_t least, int64_t most) {
    PrepareRequest prepare;
    prepare.dims = {{"m", least, most}};
    prepare.params = params;
    prepare.prepared = kPrepared;
    driver.num_arguments = 2;
    return text(executable->prepare(prepare));
  }

  std::string launch(size_t num_arguments = 8) {
    request.inputs = inputs;
    request.params = params;
    request.outputs = outputs;
    driver.num_arguments = num_arguments;
    driver.launches.clear();
    return text(executable->launch(request));
  }

  ErrorCode launch_code() { return take_error(executable->launch(request)).first; }

  static std::string text(llvm::Error error) {
    return error ? take_error(std::move(error)).second : "";
  }
};

} // namespace ingot::testing
