// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_executable.h"

#include <malloc.h>
#include <thread>

using namespace ingot;
using namespace ingot::testing;

TEST_CASE("executable: prepare loads the kernels that its sizes may need, and runs its program") {
  SmallExecutable f;
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
  SmallExecutable f;
  CHECK(f.prepare(301, 301) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_general", "pack"});
  CHECK(f.prepare(500, 500) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_general", "pack", "main_fast"});
  CHECK(f.prepare(301, 301) == "");
  CHECK(f.compiler->num_compiles == 3);
}

TEST_CASE("executable: a launch of unaligned tensors loads variants that prepare left out, once") {
  SmallExecutable f;
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
        if (!SmallExecutable::text(f.executable->launch(f.request)).empty()) ++failures;
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
  SmallExecutable f;
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
  SmallExecutable f(std::move(module));
  f.params[0].data = kW + 4;
  REQUIRE(f.prepare(300, 300) == "");
  CHECK(f.driver.loaded == std::vector<std::string>{"main_fast", "pack", "pack_general"});
  CHECK(f.driver.launches.back().entry == "pack_general");
}

TEST_CASE("executable: sizes for which a slice lies outside of its tensor are refused") {
  Module module = small_module();
  module.requirements = {Expr::symbol("m") - 4};
  SmallExecutable f(std::move(module));
  REQUIRE(f.prepare(0, 1000) == "");
  f.set_m(3);
  CHECK(f.launch() == "'small': a tensor of the graph would have a negative extent, or a slice "
                      "outside of it: m - 4 is -1, expected at least 0; m is 3");
  CHECK(f.launch_code() == ErrorCode::invalid_argument);
  f.set_m(4);
  CHECK(f.launch() == "");
}

TEST_CASE("executable: launch names the size or tensor that does not fit") {
  SmallExecutable f;
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
  SmallExecutable f;
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
  SmallExecutable f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  auto prepare_at = [&](int device, DevicePointer prepared) {
    PrepareRequest request;
    request.dims = {{"m", 1, 1000}};
    request.params = f.params;
    request.prepared = prepared;
    f.driver.num_arguments = 2;
    f.driver.device = device;
    CHECK(SmallExecutable::text(f.executable->prepare(request)) == "");
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
  SmallExecutable f;
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
  SmallExecutable f(std::move(module));
  PrepareRequest request;
  request.dims = {{"m", 1, 1000}};
  REQUIRE(SmallExecutable::text(f.executable->prepare(request)) == "");
  CHECK(f.driver.launches.empty());
  CHECK(f.launch() == "");
  f.params[0].data = kW + 4096;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches[0].arguments[1] == kW + 4096);
}

TEST_CASE("executable: prepare names the size or device that does not fit") {
  SmallExecutable f;
  CHECK(f.prepare(5, 4) ==
        "dimension 'm' of 'small': expected a range within [0, 1048576], got [5, 4]");
  PrepareRequest request;
  request.dims = {{"n", 1, 1}};
  CHECK(SmallExecutable::text(f.executable->prepare(request)) ==
        "'small' has no named dimension 'n'");
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
  SmallExecutable f;
  REQUIRE(f.prepare(300, 300) == "");
  f.driver.device = 1;
  CHECK(f.launch().find("before prepare") != std::string::npos);
  REQUIRE(f.prepare(300, 300) == "");
  CHECK(f.driver.loaded.size() == 2); // libraries serve every device
  CHECK(f.launch() == "");
}

TEST_CASE("executable: memory sizes cover the declared ranges") {
  SmallExecutable f;
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
  SmallExecutable f(std::move(module));
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
  SmallExecutable f(std::move(module));
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
