// SPDX-License-Identifier: Apache-2.0
// Launches of an executable: the calls that the driver gets, and when they are repeated.
#include "tests/support/small_executable.h"

#include <thread>

using namespace ingot;
using namespace ingot::testing;

TEST_CASE("executable: launch packs grid, shared memory, stream and arguments") {
  SmallExecutable f;
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
  SmallExecutable f(std::move(module));
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
  SmallExecutable f(std::move(module));
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
  SmallExecutable f(std::move(module));
  REQUIRE(f.prepare(0, 0) == "");
  f.set_m(0);
  REQUIRE(f.launch(9) == "");
  CHECK(f.driver.launches.size() == 1);
  CHECK(f.driver.maps.empty());
}

TEST_CASE("executable: the first variant whose predicates hold is taken") {
  SmallExecutable f;
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
  SmallExecutable f;
  REQUIRE(f.prepare(0, 10) == "");
  f.set_m(0);
  f.inputs[0].data = f.outputs[0].data = 0;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches.empty());
}

TEST_CASE("executable: a launch carries the size of clusters") {
  Module module = small_module();
  module.kernels[0].variants[0].launch.cluster = {2, 1, 1};
  SmallExecutable f(std::move(module));
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].cluster == std::array<unsigned, 3>{2, 1, 1});
  f.set_m(301);
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].cluster == std::array<unsigned, 3>{1, 1, 1});
}

TEST_CASE("executable: blocks start while the kernel before runs, where code and driver allow it") {
  Module module = small_module();
  module.arch = "sm_90";
  module.overlaps = true;
  module.kernels[0].variants[0].launch.cluster = {2, 1, 1};
  int driver_version = 13000;
  bool overlaps = false;
  SUBCASE("all do") { overlaps = true; }
  SUBCASE("the code does not wait") { module.overlaps = false; }
  SUBCASE("an earlier GPU") { module.arch = "sm_80"; }
  SUBCASE("an earlier driver") { driver_version = 12020; }
  const bool is_early = module.arch == "sm_80";
  SmallExecutable f(std::move(module));
  f.driver.compute_major = is_early ? 8 : 9;
  f.driver.driver_version = driver_version;
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].overlaps == overlaps);
  CHECK(f.driver.launches[0].cluster == std::array<unsigned, 3>{2, 1, 1});
  f.set_m(301); // a variant without clusters
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches.back().overlaps == overlaps);
  CHECK(f.driver.launches.back().cluster == std::array<unsigned, 3>{1, 1, 1});
}

TEST_CASE("executable: a launch starts no more clusters than run at once") {
  Module module = small_module();
  module.kernels[0].variants[0].launch.cluster = {2, 1, 1};
  module.kernels[0].variants[0].launch.grid = {16, 1, 1};
  SmallExecutable f(std::move(module));
  SUBCASE("all") { f.driver.most_clusters = 8; }
  SUBCASE("fewer") { f.driver.most_clusters = 3; }
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  CHECK(f.driver.launches[0].grid[0] == unsigned(2 * f.driver.most_clusters));
}

TEST_CASE("executable: a refused launch carries the driver's words") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.driver.launch_result = 719;
  CHECK(f.launch() ==
        "kernel main_fast: cuLaunchKernelEx failed: CUDA_ERROR_FAKE (719): pretended");
}

TEST_CASE("executable: threads launch side by side, also while prepare adds sizes") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.launch();
  f.driver.num_arguments = 2; // the number of the shortest kernel
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i)
        if (!SmallExecutable::text(f.executable->launch(f.request)).empty()) ++failures;
    });
  for (int64_t m = 1001; m < 1040; ++m) {
    PrepareRequest request;
    request.dims = {{"m", m, m}};
    request.params = f.params;
    request.prepared = kPrepared;
    CHECK(SmallExecutable::text(f.executable->prepare(request)) == "");
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("executable: every argument of a launch counts when it is compared with the last one") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  const auto changes_argument = [&](uint64_t& argument, uint64_t to, size_t at) {
    const uint64_t before = argument;
    argument = to;
    CHECK(f.launch() == "");
    CHECK(f.driver.launches[0].arguments[at] == to);
    argument = before;
    CHECK(f.launch() == "");
    CHECK(f.driver.launches[0].arguments[at] == before);
  };
  changes_argument(f.inputs[0].data, kX + 4096, 0);
  changes_argument(f.outputs[0].data, kY + 4096, 2);
  changes_argument(f.request.state, kState + 256, 5);
  f.request.workspace = kWorkspace + 256;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches[0].arguments[4] == kWorkspace + 256 + 1200);
  f.set_m(299);
  CHECK(f.launch() == "");
  CHECK(f.driver.launches[0].arguments[6] == 299);
  f.request.prepared = kPrepared + 256;
  CHECK(f.launch_code() == ErrorCode::not_prepared);
}

TEST_CASE("executable: a launch on another device is not a repetition") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  f.driver.device = 1;
  CHECK(f.launch_code() == ErrorCode::not_prepared);
  f.driver.device = 0;
  CHECK(f.launch() == "");
}

TEST_CASE("executable: a repetition that the driver refuses is an error") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  REQUIRE(f.launch() == "");
  f.driver.launch_result = 1;
  CHECK(f.launch_code() == ErrorCode::launch_error);
  f.driver.launch_result = 0;
  CHECK(f.launch() == "");
  CHECK(f.driver.launches.size() == 1);
}

TEST_CASE("executable: threads with different arguments get their own launches") {
  SmallExecutable f;
  REQUIRE(f.prepare(1, 1000) == "");
  f.request.inputs = f.inputs;
  f.request.params = f.params;
  f.request.outputs = f.outputs;
  f.driver.num_arguments = 8;
  f.driver.launches.clear();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  constexpr int kThreads = 6, kLaunches = 200; // more threads than an executable has records
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      LaunchRequest request = f.request;
      std::vector<TensorArgument> inputs = f.inputs;
      inputs[0].data = kX + 4096 * uint64_t(t);
      request.inputs = inputs;
      request.stream = reinterpret_cast<Stream>(uint64_t(t + 1));
      for (int i = 0; i < kLaunches; ++i)
        if (!SmallExecutable::text(f.executable->launch(request)).empty()) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(f.driver.launches.size() == size_t(kThreads) * kLaunches);
  for (const auto& launch : f.driver.launches)
    if (launch.arguments[0] != kX + 4096 * (reinterpret_cast<uint64_t>(launch.stream) - 1))
      ++failures;
  CHECK(failures == 0);
}
