// SPDX-License-Identifier: Apache-2.0
#include "runtime/nvrtc.h"

#include "runtime/build_id.h"
#include "runtime/compile_service.h"
#include "runtime/ptxas_log.h"
#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace ingot;

namespace {

constexpr const char* kScaleHeader = "#pragma once\n"
                                     "inline float scale(float x) { return 2.0f * x; }\n";
const DeviceHeader kHeaders[] = {{"math/scale.cuh", kScaleHeader, "1"}};

constexpr const char* kSource = R"(#include "math/scale.cuh"
extern "C" __global__ void __launch_bounds__(128) twice(float* x, long long n) {
  __shared__ float staged[128];
  long long i = blockIdx.x * 128ll + threadIdx.x;
  staged[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) x[i] = scale(staged[127 - threadIdx.x]);
}
extern "C" __global__ void spilling(float* x, int n) {
  float local[64];
  for (int i = 0; i < n; ++i) local[i % 64] = x[i];
  for (int i = 0; i < n; ++i) x[i] = local[(i * 7) % 64];
}
)";

/// An NVRTC of this machine; null, after saying why, where there is none.
std::shared_ptr<Nvrtc> this_machines_nvrtc() {
  auto nvrtc = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
  llvm::Expected<std::string> path = nvrtc->path();
  if (path) return nvrtc;
  ingot::testing::report_skip(take_error(path.takeError()).second);
  return nullptr;
}

} // namespace

TEST_CASE("nvrtc: one compile gives machine code, PTX and the resources of each entry") {
  std::shared_ptr<Nvrtc> nvrtc = this_machines_nvrtc();
  if (!nvrtc) return;
  for (const char* arch : {"sm_80", "sm_90", "sm_90a"}) {
    auto output = nvrtc->compile({"twice.cu", kSource, arch, {}}, kHeaders);
    REQUIRE_MESSAGE(bool(output), take_error(output.takeError()).second);
    CHECK(output->cubin.substr(1, 3) == "ELF");
    CHECK(output->ptx.find(".entry twice(") != std::string::npos);
    CHECK(output->ptx.find(std::string(".target ") + arch) != std::string::npos);
    CHECK_FALSE(ptx_version(output->ptx).empty());
    REQUIRE(output->entries.size() == 2);
    for (const EntryResources& entry : output->entries) {
      CHECK(entry.registers > 0);
      bool is_twice = entry.entry == "twice";
      CHECK((is_twice || entry.entry == "spilling"));
      CHECK(entry.static_shared_bytes == (is_twice ? 512 : 0));
      CHECK(entry.stack_bytes == (is_twice ? 0 : 256));
      CHECK(entry.spill_store_bytes == 0);
    }
  }
}

TEST_CASE("nvrtc: a compile error carries the log and the numbered lines around it") {
  std::shared_ptr<Nvrtc> nvrtc = this_machines_nvrtc();
  if (!nvrtc) return;
  auto output = nvrtc->compile(
      {"broken.cu", "// one\n// two\nint f() { return g(); }\n// four\n", "sm_80", {}}, {});
  REQUIRE_FALSE(bool(output));
  auto [code, text] = take_error(output.takeError());
  CHECK(code == ErrorCode::compile_error);
  CHECK(text.find("NVRTC refused broken.cu for sm_80:\nbroken.cu(3): error:") == 0);
  CHECK(text.find("     2 | // two\n>    3 | int f() { return g(); }\n     4 | // four\n") !=
        std::string::npos);
}

TEST_CASE("nvrtc: an unknown arch or option is a compile error with NVRTC's words") {
  std::shared_ptr<Nvrtc> nvrtc = this_machines_nvrtc();
  if (!nvrtc) return;
  auto output = nvrtc->compile({"k.cu", "", "sm_12345", {}}, {});
  REQUIRE_FALSE(bool(output));
  auto [code, text] = take_error(output.takeError());
  CHECK(code == ErrorCode::compile_error);
  CHECK(text.find("sm_12345") != std::string::npos);
}

TEST_CASE("nvrtc: the identity is the build ID, and does not load the library") {
  std::shared_ptr<Nvrtc> nvrtc = this_machines_nvrtc();
  if (!nvrtc) return;
  const auto is_loaded = [] {
    return llvm::cantFail(read_file("/proc/self/maps")).find("libnvrtc.so") != std::string::npos;
  };
  const bool was_loaded = is_loaded(); // by cases before this one; ctest runs each alone
  llvm::Expected<std::string> identity = nvrtc->identity();
  REQUIRE(bool(identity));
  CHECK(is_loaded() == was_loaded);
  llvm::StringRef id = *identity;
  CHECK(id.consume_front("nvrtc "));
  CHECK(id == elf_build_id(llvm::cantFail(nvrtc->path())));
  CHECK(id.size() == 40); // of a SHA-1 digest
}

TEST_CASE("nvrtc: the service compiles a source with embedded headers once") {
  std::shared_ptr<Nvrtc> nvrtc = this_machines_nvrtc();
  if (!nvrtc) return;
  CompileService service({.headers = kHeaders, .compiler = nvrtc});
  std::vector<CompileRequest> requests(8, CompileRequest{"twice.cu", kSource, "sm_80", {}});
  auto kernels = service.compile_all(requests);
  REQUIRE_MESSAGE(bool(kernels), take_error(kernels.takeError()).second);
  CHECK(service.statistics().compiles == 1);
  CHECK(service.statistics().memory_hits == 7);
  for (const auto& kernel : *kernels) CHECK(kernel == kernels->front());
}
