// SPDX-License-Identifier: Apache-2.0
// Which code of a bundle a GPU gets, and the error if none fits.
#include "runtime/bundle_executable.h"

#include "src/support/error.h"
#include "tests/support/fake_driver.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace ingot;
using ingot::testing::FakeDriver;

namespace {

constexpr uint64_t kX = 0x10000000, kW = 0x20000000, kY = 0x30000000, kPrepared = 0x40000000,
                   kWorkspace = 0x50000000, kState = 0x60000000;

/// Fake code names itself and its entries.
BundleSection section(const std::string& device, const std::string& arch) {
  const std::string entries = " sample_main_fast  sample_main_general  sample_pack ";
  return testing::sample_section(device, arch, "cubin-" + device + entries,
                                 "ptx-" + device + entries);
}

/// A bundle on a fake GPU. Workspace of the second section is larger, state of the first.
struct Fixture {
  FakeDriver driver;
  Bundle bundle = {"0.1.0", {section("a100", "sm_80"), section("h100", "sm_90")}};
  std::unique_ptr<BundleExecutable> executable;
  std::vector<int64_t> x_shape = {300, 64}, w_shape = {64}, y_shape = {300, 64};
  std::vector<TensorArgument> inputs = {{kX, x_shape}}, params = {{kW, w_shape}},
                              outputs = {{kY, y_shape}};

  Fixture() {
    driver.num_arguments = 2;
    testing::own_manifest(bundle.sections[0]).module.state.bytes = 64;
    testing::own_manifest(bundle.sections[1]).module.workspace.bytes = Expr::symbol("m") * 16;
  }

  void create() {
    executable = llvm::cantFail(
        BundleExecutable::create(std::make_shared<const Bundle>(bundle), &driver.functions));
  }

  /// On a GPU of that capability: the code that was loaded, or the error.
  std::string prepare(int major, int minor, const std::string& name = "Fake GPU") {
    driver.compute_major = major;
    driver.compute_minor = minor;
    driver.name = name;
    driver.loaded.clear();
    if (!executable) create();
    PrepareRequest request;
    request.dims = {{"m", 300, 300}};
    request.params = params;
    request.prepared = kPrepared;
    if (llvm::Error error = executable->prepare(request)) {
      CHECK(driver.loaded.empty());
      return take_error(std::move(error)).second;
    }
    REQUIRE(driver.loaded.size() <= 1); // one image for all variants
    return driver.loaded.empty() ? "" : driver.loaded[0].substr(0, driver.loaded[0].find(' '));
  }

  std::string prepare_anew(int major, int minor, const std::string& name = "Fake GPU") {
    executable.reset();
    return prepare(major, minor, name);
  }

  llvm::Error launch() const {
    LaunchRequest request{inputs, params, outputs, kPrepared, kWorkspace, kState, nullptr};
    return executable->launch(request);
  }
};

} // namespace

TEST_CASE("bundle executable: machine code of the architecture, else of the nearest below, else "
          "PTX") {
  Fixture f;
  CHECK(f.prepare_anew(8, 0) == "cubin-a100");
  CHECK(f.prepare_anew(8, 6) == "cubin-a100");
  CHECK(f.prepare_anew(9, 0) == "cubin-h100");
  CHECK(f.prepare_anew(10, 0) == "ptx-h100");
  CHECK(f.prepare_anew(12, 0) == "ptx-h100");
  f.bundle.sections.push_back(section("native", "sm_89"));
  CHECK(f.prepare_anew(8, 6) == "cubin-a100");
  CHECK(f.prepare_anew(8, 9) == "cubin-native");
  f.bundle.sections.erase(f.bundle.sections.begin());
  CHECK(f.prepare_anew(8, 0) == "ptx-native");
}

TEST_CASE("bundle executable: of two cards of an architecture the one that is there") {
  Fixture f;
  f.bundle.sections.push_back(section("h200", "sm_90"));
  CHECK(f.prepare_anew(9, 0, "NVIDIA H100 80GB HBM3") == "cubin-h100");
  CHECK(f.prepare_anew(9, 0, "NVIDIA H200") == "cubin-h200");
  CHECK(f.prepare_anew(9, 0, "NVIDIA GH200 480GB") == "cubin-h200");
  CHECK(f.prepare_anew(9, 0, "NVIDIA L") == "cubin-h100");
}

TEST_CASE("bundle executable: code for an exact architecture is for that one alone") {
  Fixture f;
  for (BundleSection& section : f.bundle.sections)
    testing::own_manifest(section).module.family = "sm_90a";
  testing::own_manifest(f.bundle.sections[1]).module.arch = "sm_90a";
  CHECK(f.prepare_anew(9, 0) == "cubin-h100");
  CHECK(f.prepare_anew(9, 1).find("nothing in the bundle") == 0);
  CHECK(f.prepare_anew(10, 0).find("nothing in the bundle") == 0);
}

TEST_CASE("bundle executable: code for an exact architecture goes before that of its family") {
  Fixture f;
  f.bundle.sections.push_back(section("h200", "sm_90a"));
  CHECK(f.prepare_anew(9, 0, "NVIDIA H100 80GB HBM3") == "cubin-h200");
  std::swap(f.bundle.sections[1], f.bundle.sections[2]);
  CHECK(f.prepare_anew(9, 0, "NVIDIA H100 80GB HBM3") == "cubin-h200");
}

TEST_CASE("bundle executable: a section without a card's name is no card's") {
  Fixture f;
  f.bundle.sections.insert(f.bundle.sections.begin() + 1, section("", "sm_90"));
  CHECK(f.prepare_anew(9, 0, "NVIDIA H100 80GB HBM3") == "cubin-h100");
}

TEST_CASE(
    "bundle executable: if no code fits the GPU, the error lists the bundle's code and a remedy") {
  Fixture f;
  CHECK(f.prepare_anew(7, 5, "Tesla T4") ==
        "nothing in the bundle of 'sample' runs on Tesla T4, which is sm_75: it has machine code "
        "for sm_80 (a100), sm_90 (h100), and PTX for sm_80 and newer; expected a GPU of compute "
        "capability 8.0 or higher");
  for (BundleSection& section : f.bundle.sections) section.ptx = nullptr;
  CHECK(f.prepare_anew(10, 0, "NVIDIA B200") ==
        "nothing in the bundle of 'sample' runs on NVIDIA B200, which is sm_100: it has machine "
        "code for sm_80 (a100), sm_90 (h100), and no PTX; make one with its code by `ingot compile "
        "--emit=bundle --device=native` on a machine with such a GPU");
  PrepareRequest request;
  CHECK(take_error(f.executable->prepare(request)).first == ErrorCode::unsupported);
}

TEST_CASE("bundle executable: PTX that the driver refuses is told with the driver that it needs") {
  Fixture f;
  f.driver.load_result = 222;
  CHECK(f.prepare_anew(10, 0) ==
        "cannot load kernel sample_main_fast: cuLibraryLoadData failed: CUDA_ERROR_FAKE (222): "
        "pretended; "
        "the bundle has no machine code for this GPU, and its PTX, of version 9.0, needs a driver "
        "of branch 580 or newer");
  const std::string machine_code = f.prepare_anew(9, 0);
  CHECK(machine_code.find("cannot load kernel") == 0);
  CHECK(machine_code.find("PTX") == std::string::npos);
}

TEST_CASE("bundle executable: each device launches the code that was prepared on it") {
  Fixture f;
  f.create();
  CHECK(take_error(f.launch()).first == ErrorCode::not_prepared);
  CHECK(f.prepare(8, 0) == "cubin-a100");
  f.driver.device = 1;
  CHECK(take_error(f.launch()).first == ErrorCode::not_prepared);
  CHECK(f.prepare(9, 0) == "cubin-h100");
  CHECK(f.executable->section().device == "h100");
  CHECK(f.prepare(9, 0) == ""); // loaded already
  f.driver.device = 0;
  CHECK(f.executable->section().device == "a100");
  f.driver.launches.clear();
  f.driver.num_arguments = 8;
  llvm::Error error = f.launch();
  REQUIRE_MESSAGE(!error, take_error(std::move(error)).second);
  REQUIRE(f.driver.launches.size() == 1);
  CHECK(f.driver.launches[0].arguments[0] == kX);
}

TEST_CASE("bundle executable: memory is the most of all sections until one is prepared") {
  Fixture f;
  f.create();
  const DimInfo m[] = {{"m", 300, 300}};
  auto sizes = llvm::cantFail(f.executable->memory(m));
  CHECK(sizes.workspace.bytes == 300 * 16);
  CHECK(sizes.state.bytes == 64);
  CHECK(f.prepare(8, 0) == "cubin-a100");
  sizes = llvm::cantFail(f.executable->memory(m));
  CHECK(sizes.workspace.bytes == 300 * 8);
  CHECK(sizes.state.bytes == 64);
  // Of a device that was not prepared, all again.
  f.driver.device = 1;
  CHECK(llvm::cantFail(f.executable->memory(m)).workspace.bytes == 300 * 16);
  f.driver.device = -1;
  CHECK(llvm::cantFail(f.executable->memory(m)).workspace.bytes == 300 * 16);
}

TEST_CASE("bundle executable: threads prepare and launch at once") {
  Fixture f;
  f.create();
  REQUIRE(f.prepare(8, 0) == "cubin-a100");
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        PrepareRequest request;
        request.dims = {{"m", 300, 300}};
        request.params = f.params;
        request.prepared = kPrepared;
        if (llvm::Error error = i % 2 ? f.executable->prepare(request) : f.launch()) {
          llvm::consumeError(std::move(error));
          ++failures;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
}

TEST_CASE("bundle executable: a section that does not bind is refused when it is created") {
  Fixture f;
  auto& arguments =
      testing::own_manifest(f.bundle.sections[1]).module.kernels[1].variants[0].arguments;
  arguments.resize(513, arguments[0]);
  auto created =
      BundleExecutable::create(std::make_shared<const Bundle>(f.bundle), &f.driver.functions);
  REQUIRE_FALSE(bool(created));
  CHECK(take_error(created.takeError()).second.find("bytes of arguments, expected at most 4096") !=
        std::string::npos);
}
