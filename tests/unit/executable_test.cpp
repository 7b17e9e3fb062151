// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile_service.h"
#include "runtime/executable.h"

#include "src/support/error.h"
#include "tests/support/fake_driver.h"

#include <doctest/doctest.h>

#include <atomic>
#include <malloc.h>
#include <thread>

using namespace ingot;
using ingot::testing::FakeDriver;

namespace {

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

Argument tensor(ArgumentKind kind, std::string name) {
  Argument argument;
  argument.kind = kind;
  argument.name = std::move(name);
  return argument;
}

Argument memory(ArgumentKind kind, Expr offset) {
  Argument argument;
  argument.kind = kind;
  argument.offset = std::move(offset);
  return argument;
}

Argument dim(std::string name, Expr value) {
  Argument argument;
  argument.kind = ArgumentKind::dim;
  argument.name = std::move(name);
  argument.value = std::move(value);
  return argument;
}

KernelVariant variant(std::string entry) {
  KernelVariant v;
  v.entry = entry;
  v.body = entry + "\n";
  v.launch.grid = {1, 1, 1};
  v.launch.block = {256, 1, 1};
  return v;
}

/// y[m, 64] = f(x[m, 64], w[64]): a fast variant for an aligned x and m of multiples of 4, a
/// general one; prepared, workspace and state memories.
Module small_module() {
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

constexpr uint64_t kX = 0x10000000, kW = 0x20000000, kY = 0x30000000, kPrepared = 0x40000000,
                   kWorkspace = 0x50000000, kState = 0x60000000;

/// An executable of small_module on a fake GPU, with a caller that may be bent by a test.
struct Fixture {
  FakeDriver driver;
  std::shared_ptr<EchoCompiler> compiler = std::make_shared<EchoCompiler>();
  std::unique_ptr<Executable> executable;
  std::vector<int64_t> x_shape = {300, 64}, w_shape = {64}, y_shape = {300, 64};
  std::vector<TensorArgument> inputs = {{kX, x_shape}}, params = {{kW, w_shape}},
                              outputs = {{kY, y_shape}};
  LaunchRequest request;

  explicit Fixture(Module module = small_module()) {
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

} // namespace

TEST_CASE("executable: prepare loads the kernels that its sizes may need, and runs its program") {
  Fixture f;
  CHECK(f.prepare(300, 300) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_fast", "pack"});
  CHECK(f.compiler->num_compiles == 2);
  REQUIRE(f.driver.launches.size() == 1);
  CHECK(f.driver.launches[0].entry == "pack");
  CHECK(f.driver.launches[0].arguments == std::vector<uint64_t>{kW, kPrepared});
  CHECK(f.driver.shared_attributes[0] == std::pair<std::string, int>("main_fast", 100000));
  CHECK(f.prepare(1, 1000) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_fast", "pack", "main_general"});
}

TEST_CASE("executable: a variant that no prepared size can take is not compiled") {
  Fixture f;
  CHECK(f.prepare(301, 301) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_general", "pack"});
  CHECK(f.prepare(500, 500) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_general", "pack", "main_fast"});
  CHECK(f.prepare(301, 301) == "");
  CHECK(f.compiler->num_compiles == 3);
}

TEST_CASE("executable: a launch of unaligned tensors loads variants that prepare left out, once") {
  Fixture f;
  REQUIRE(f.prepare(300, 300) == "");
  f.inputs[0].data = kX + 4;
  f.request.inputs = f.inputs;
  f.request.params = f.params;
  f.request.outputs = f.outputs;
  f.driver.num_arguments = 2; // the number of the shortest kernel
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (!Fixture::text(f.executable->launch(f.request)).empty()) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(f.driver.loaded == std::vector<std::string>{"main_fast", "pack", "main_general"});
  CHECK(f.compiler->num_compiles == 3);
  f.inputs[0].data = kX;
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches.back().entry == "main_fast");
}

TEST_CASE(
    "executable: a launch whose missing variant does not compile says so, and may try again") {
  Fixture f;
  REQUIRE(f.prepare(300, 300) == "");
  f.inputs[0].data = kX + 4;
  f.compiler->failing = true;
  CHECK(f.launch().find("refused") != std::string::npos);
  f.compiler->failing = false;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches.back().entry == "main_general");
}

TEST_CASE("executable: prepare loads the variant that an unaligned param needs") {
  Module module = small_module();
  KernelVariant general = module.kernels[1].variants[0];
  general.entry = "pack_general";
  general.body = "pack_general\n";
  module.kernels[1].variants[0].when = {{PredicateKind::aligned, 0, 0, 16}};
  module.kernels[1].variants.push_back(general);
  Fixture f(std::move(module));
  f.params[0].data = kW + 4;
  REQUIRE(f.prepare(300, 300) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_fast", "pack", "pack_general"});
  CHECK(f.driver.launches.back().entry == "pack_general");
}

TEST_CASE("executable: launch packs grid, shared memory, stream and arguments") {
  Fixture f;
  REQUIRE(f.prepare(1, 2000) == "");
  REQUIRE(f.launch() == "");
  REQUIRE(f.driver.launches.size() == 1);
  const auto& launch = f.driver.launches[0];
  CHECK(launch.entry == "main_fast");
  CHECK(launch.grid == std::array<unsigned, 3>{3, 2, 1});
  CHECK(launch.block == std::array<unsigned, 3>{256, 1, 1});
  CHECK(launch.shared_bytes == 100000);
  CHECK(launch.stream == f.request.stream);
  CHECK(launch.arguments ==
        std::vector<uint64_t>{kX, kW, kY, kPrepared + 128, kWorkspace + 1200, kState, 300, 3});
}

TEST_CASE("executable: launch makes the tensor maps of the variant that it takes") {
  Module module = small_module();
  const Expr m = Expr::symbol("m");
  auto& variants = module.kernels[0].variants;
  Argument map = memory(ArgumentKind::tensormap, 32);
  map.map = {0, MapType::bf16, {48, m, 1}, {128, m * 128}, {64, 16, 1}};
  variants[0].arguments.push_back(map);
  variants[1].arguments.push_back(dim("m", m));
  variants[1].launch.grid = {1, 1, 1};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(0, 1 << 20) == "");
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.maps ==
        std::vector<std::vector<uint64_t>>{{kX + 32, 48, 300, 1, 128, 300 * 128, 64, 16, 1}});
  CHECK(f.driver.launches[0].arguments.back() == 0); // the first map
  f.set_m(301);
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.launches[0].entry == "main_general");
  CHECK(f.driver.launches[0].arguments.back() == 301);
  CHECK(f.driver.maps.size() == 1);
  f.set_m(1 << 19);
  CHECK(f.launch(9) ==
        "kernel main_fast, argument 8: there is no tensor map of [1, 524288, 48] elements with "
        "steps of 128 and 67108864 bytes; expected fewer than 2^31 elements along each dimension "
        "and steps below 2^40");
  f.set_m(301); // as the last launch that succeeded
  CHECK((f.launch(9) == "" && f.driver.launches.size() == 1));
}

TEST_CASE("executable: a launch with the same arguments repeats the last one, on its own stream") {
  Module module = small_module();
  Argument map = memory(ArgumentKind::tensormap, 0);
  map.map = {0, MapType::bf16, {64, Expr::symbol("m"), 1}, {128, 128}, {64, 16, 1}};
  module.kernels[0].variants[0].arguments.push_back(map);
  Fixture f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch(9) == "");
  const auto first = f.driver.launches[0];
  f.request.stream = reinterpret_cast<Stream>(0x99);
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.launches[0].arguments == first.arguments);
  CHECK((f.driver.launches[0].stream == f.request.stream && f.driver.maps.size() == 1));
  f.inputs[0].data = kX + 4096; // bound and checked anew
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.launches[0].arguments[0] == kX + 4096);
  f.set_m(1001);
  CHECK(f.launch_code() == ErrorCode::not_prepared);
  f.set_m(300);
  REQUIRE(f.launch(9) == "");
  f.params[0].data = kW + 4096; // no longer the param of the prepared memory
  CHECK(f.launch_code() == ErrorCode::not_prepared);
}

TEST_CASE("executable: a tensor without elements has no tensor map") {
  Module module = small_module();
  Argument map = memory(ArgumentKind::tensormap, 0);
  map.map = {0, MapType::bf16, {64, Expr::symbol("m"), 1}, {128, 128}, {64, 16, 1}};
  module.kernels[0].variants[0].arguments.push_back(map);
  module.kernels[0].variants[0].launch.grid = {1, 1, 1};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(0, 0) == "");
  f.set_m(0);
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.launches.size() == 1);
  CHECK(f.driver.maps.empty());
}

TEST_CASE("executable: the first variant whose predicates hold is taken") {
  Fixture f;
  REQUIRE(f.prepare(1, 2000) == "");
  f.inputs[0].data = kX + 4; // not 16-byte aligned
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].entry == "main_general");
  CHECK(f.driver.launches[0].grid == std::array<unsigned, 3>{300, 1, 1});
  f.inputs[0].data = kX;
  f.set_m(1001);
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].entry == "main_general");
  f.set_m(1000);
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].entry == "main_fast");
}

TEST_CASE("executable: tensors without elements launch nothing") {
  Fixture f;
  REQUIRE(f.prepare(0, 10) == "");
  f.set_m(0);
  f.inputs[0].data = f.outputs[0].data = 0;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches.empty());
}

TEST_CASE("executable: sizes for which a slice lies outside of its tensor are refused") {
  Module module = small_module();
  module.requirements = {Expr::symbol("m") - 4};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(0, 1000) == "");
  f.set_m(3);
  CHECK(f.launch() == "'small': a tensor of the graph would have a negative extent, or a slice "
                      "outside of it: m - 4 is -1, expected at least 0; m is 3");
  CHECK(f.launch_code() == ErrorCode::invalid_argument);
  f.set_m(4);
  CHECK(f.launch() == "");
}

TEST_CASE("executable: launch names the size or tensor that does not fit") {
  Fixture f;
  CHECK(f.launch() == "'small' is launched on this device before prepare; prepare it once with the "
                      "sizes to be launched");
  CHECK(f.launch_code() == ErrorCode::not_prepared);
  REQUIRE(f.prepare(1, 1000) == "");
  f.set_m(1001);
  CHECK(f.launch() == "'small' is launched with m = 1001, sizes that were not prepared; prepare "
                      "them first");
  CHECK(f.launch_code() == ErrorCode::not_prepared);
  f.set_m(300);
  f.y_shape = {300, 63};
  f.outputs[0].shape = f.y_shape;
  CHECK(f.launch() == "output 'y', dimension 1: expected 64, got 63");
  f.y_shape = {299, 64};
  CHECK(f.launch() == "output 'y', dimension 0: expected 300 (m), got 299");
  f.y_shape = {300, 64, 1};
  f.outputs[0].shape = f.y_shape;
  CHECK(f.launch() == "output 'y' has 3 dimensions, expected 2");
  f.y_shape = {300, 64};
  f.outputs[0].shape = f.y_shape;
  f.inputs[0].data = kX + 2;
  CHECK(f.launch() == "input 'x' is at 0x10000002, expected a multiple of 4 bytes");
  f.inputs[0].data = 0;
  CHECK(f.launch() == "input 'x': expected device memory, got null");
  f.inputs[0].data = kX;
  f.outputs[0].data = kX + 64;
  CHECK(f.launch() == "output 'y' overlaps input 'x'; give it memory of its own");
  f.outputs[0].data = kWorkspace + 300 * 8 - 4;
  CHECK(f.launch() == "output 'y' overlaps the workspace memory; give it memory of its own");
  f.outputs[0].data = kX + 300 * 64 * 4;
  CHECK(f.launch() == "");
  f.request.workspace = 0;
  CHECK(f.launch() == "expected 2400 bytes of workspace memory, got null");
  f.request.workspace = kWorkspace + 8;
  CHECK(f.launch() == "workspace memory is at 0x50000008, expected a multiple of 16 bytes");
  f.request.workspace = kWorkspace;
  f.inputs.push_back(f.inputs[0]);
  CHECK(f.launch() == "expected 1 input tensors, got 2");
}

TEST_CASE("executable: prepared data belongs to the params it was made from") {
  Fixture f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.params[0].data = kW + 4096;
  CHECK(f.launch() == "param 'w' is at 0x20001000, but the prepared memory was made from "
                      "0x20000000; prepare again for this parameter set");
  CHECK(f.prepare(1, 1000) == "");
  CHECK(f.launch() == "");
  f.request.prepared = kPrepared + 4096;
  CHECK(f.launch() == "the prepared memory at 0x40001000 was not filled by prepare of 'small' on "
                      "this device");
  CHECK(f.launch_code() == ErrorCode::not_prepared);
}

TEST_CASE("executable: prepared data is forgotten when other data overwrites it") {
  Module module = small_module();
  module.prepared = {512, 256};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  auto prepare_at = [&](int device, DevicePointer prepared) {
    PrepareRequest request;
    request.dims = {{"m", 1, 1000}};
    request.params = f.params;
    request.prepared = prepared;
    f.driver.num_arguments = 2;
    f.driver.device = device;
    CHECK(Fixture::text(f.executable->prepare(request)) == "");
    f.driver.device = 0;
  };
  // Right before and behind it, and at its place on another device.
  prepare_at(0, kPrepared - 512);
  prepare_at(0, kPrepared + 512);
  prepare_at(1, kPrepared);
  CHECK(f.launch() == "");
  prepare_at(0, kPrepared + 256);
  CHECK(f.launch() == "the prepared memory at 0x40000000 was not filled by prepare of 'small' on "
                      "this device");
  f.request.prepared = kPrepared - 512;
  CHECK(f.launch() == "");
}

TEST_CASE("executable: preparing again and again takes no more memory") {
  Fixture f;
  auto prepare_rounds = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      f.params[0].data = kW + 4096 * (i % 2);
      REQUIRE(f.prepare(1, 1000) == "");
      f.driver.launches.clear();
    }
    return mallinfo2().uordblks;
  };
  const size_t before = prepare_rounds(10);
  CHECK(prepare_rounds(1000) < before + 10000);
}

TEST_CASE("executable: without a prepare program, params are ordinary inputs") {
  Module module = small_module();
  module.prepare.steps.clear();
  Fixture f(std::move(module));
  PrepareRequest request;
  request.dims = {{"m", 1, 1000}};
  REQUIRE(Fixture::text(f.executable->prepare(request)) == "");
  CHECK(f.driver.launches.empty());
  CHECK(f.launch() == "");
  f.params[0].data = kW + 4096;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches[0].arguments[1] == kW + 4096);
}

TEST_CASE("executable: prepare names the size or device that does not fit") {
  Fixture f;
  CHECK(f.prepare(5, 4) ==
        "dimension 'm' of 'small': expected a range within [0, 1048576], got [5, 4]");
  PrepareRequest request;
  request.dims = {{"n", 1, 1}};
  CHECK(Fixture::text(f.executable->prepare(request)) == "'small' has no named dimension 'n'");
  f.driver.device = -1;
  CHECK(f.prepare(1, 1).find("this thread has no current CUDA context") == 0);
  f.driver.device = 0;
  f.driver.compute_major = 9;
  CHECK(f.prepare(1, 1) == "'small' was compiled for sm_80, but the current GPU, Fake A100, is "
                           "sm_90; compile it for this device");
  f.driver.compute_major = 8;
  f.driver.max_shared_bytes = 99999;
  CHECK(f.prepare(4, 4) == "kernel main_fast needs 100000 bytes of shared memory a block, but Fake "
                           "A100 offers 99999; compile it for this device (--device=native)");
}

TEST_CASE("executable: each device is prepared on its own") {
  Fixture f;
  REQUIRE(f.prepare(300, 300) == "");
  f.driver.device = 1;
  CHECK(f.launch().find("before prepare") != std::string::npos);
  REQUIRE(f.prepare(300, 300) == "");
  CHECK(f.driver.loaded.size() == 2); // libraries serve every device
  CHECK(f.launch() == "");
}

TEST_CASE("executable: a launch carries the size of clusters") {
  Module module = small_module();
  module.kernels[0].variants[0].launch.cluster = {2, 1, 1};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].cluster == std::array<unsigned, 3>{2, 1, 1});
  f.set_m(301);
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].cluster == std::array<unsigned, 3>{1, 1, 1});
}

TEST_CASE("executable: a refused launch carries the driver's words") {
  Fixture f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.driver.launch_result = 719;
  CHECK(f.launch() ==
        "kernel main_fast: cuLaunchKernelEx failed: CUDA_ERROR_FAKE (719): pretended");
}

TEST_CASE("executable: memory sizes cover the declared ranges") {
  Fixture f;
  auto exact = f.executable->memory(DimInfo{"m", 300, 300});
  REQUIRE(bool(exact));
  CHECK(exact->workspace.bytes == 2400);
  CHECK(exact->workspace.alignment == 16);
  CHECK(exact->prepared.bytes == 256);
  CHECK(exact->state.bytes == 4);
  auto range = f.executable->memory(DimInfo{"m", 1, 1000});
  REQUIRE(bool(range));
  CHECK(range->workspace.bytes == 8000);
}

TEST_CASE("executable: tensors that no memory can hold are refused") {
  Module module = small_module();
  Expr m = Expr::symbol("m");
  module.inputs = {{"x", DType::f32, {m, m, m, m}, 4}};
  Fixture f(std::move(module));
  REQUIRE(f.prepare(1, 1 << 20) == "");
  f.set_m(1 << 16); // 2^66 bytes, which are 0 in 64 bits
  f.x_shape = {1 << 16, 1 << 16, 1 << 16, 1 << 16};
  f.inputs[0].shape = f.x_shape;
  CHECK(f.launch() == "input 'x' has extents [65536, 65536, 65536, 65536], more than 2^63 bytes");
}

TEST_CASE("executable: a launch names the extent whose dimensions no shape gives") {
  Module module = small_module();
  module.dims.push_back({"a", 0, INT64_MAX});
  module.dims.push_back({"b", 0, INT64_MAX});
  module.inputs.push_back({"z", DType::f32, {Expr::symbol("a") * Expr::symbol("b")}, 4});
  Fixture f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  // 1, as two unknown names multiplied would give, is no better than others.
  for (const int64_t extent : {1, 12}) {
    const int64_t shape[] = {extent};
    f.inputs.resize(1);
    f.inputs.push_back({0x60000000, shape});
    f.request.inputs = f.inputs;
    CHECK(f.launch() == fmt::format("input 'z', dimension 0: 'a * b' has no value, as no shape "
                                    "gives a, b; got {}",
                                    extent));
  }
}

TEST_CASE("executable: threads launch side by side, also while prepare adds sizes") {
  Fixture f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.launch();
  f.driver.num_arguments = 2; // the number of the shortest kernel
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        if (!Fixture::text(f.executable->launch(f.request)).empty()) ++failures;
    });
  for (int64_t m = 1001; m < 1040; ++m) {
    PrepareRequest request;
    request.dims = {{"m", m, m}};
    request.params = f.params;
    request.prepared = kPrepared;
    CHECK(Fixture::text(f.executable->prepare(request)) == "");
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("executable: a module that does not bind is refused when it is created") {
  Module module = small_module();
  auto& arguments = module.kernels[0].variants[0].arguments;
  arguments.resize(513, arguments[0]);
  auto created = Executable::create(std::move(module), nullptr, nullptr);
  REQUIRE_FALSE(bool(created));
  CHECK(take_error(created.takeError())
            .second.find("takes 4104 bytes of arguments, expected at most 4096") !=
        std::string::npos);
}
