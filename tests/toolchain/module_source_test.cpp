// SPDX-License-Identifier: Apache-2.0
// One file with all kernels, as --emit writes it, holds the machine code that the JIT makes of
// each.
#include "codegen/program/program.h"

#include "runtime/compile_service.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/cubin.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

constexpr const char* kShared = R"(#pragma once
namespace ingot {}
extern __shared__ __align__(128) unsigned char dynamic_shared[];
template <typename Stage> __device__ void run(float* x, long long n) {
  float* staged = reinterpret_cast<float*>(dynamic_shared);
  long long i = blockIdx.x * 128ll + threadIdx.x;
  staged[threadIdx.x] = i < n ? Stage::apply(x[i]) : 0.0f;
  __syncthreads();
  if (i < n) x[i] = staged[127 - threadIdx.x];
}
)";
const DeviceHeader kHeaders[] = {{"kernels/run.cuh", kShared, "1"}};

/// Two kernels whose stage types have one name.
Module two_kernels() {
  Module module;
  for (const char* entry : {"first", "second"}) {
    KernelVariant variant;
    variant.entry = entry;
    variant.includes = {"kernels/run.cuh"};
    const char* result = entry[0] == 'f' ? "2.0f * x" : "x + 1.0f";
    variant.body = fmt::format("struct Stage {{\n"
                               "  static __device__ float apply(float x) {{ return {1}; }}\n"
                               "}};\n"
                               "extern \"C\" __global__ void __launch_bounds__(128)\n"
                               "{0}(float* x, long long n) {{ run<Stage>(x, n); }}\n",
                               entry, result);
    module.kernels.push_back({entry, {}, fmt::format("in_{}", entry), "", {variant}});
  }
  return module;
}

} // namespace

TEST_CASE("module source: every kernel has the machine code of its own file") {
  auto nvrtc = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
  if (auto path = nvrtc->path(); !path) INGOT_SKIP(take_error(path.takeError()).second);
  CompileService service({.headers = kHeaders, .compiler = nvrtc});
  Module module = two_kernels();
  auto all = service.compile({"all.cu", module_source(module), "sm_80", {}});
  REQUIRE_MESSAGE(bool(all), take_error(all.takeError()).second);
  std::string last;
  for (const KernelCode& kernel : module.kernels) {
    const KernelVariant& variant = kernel.variants.front();
    auto one =
        service.compile({variant.entry + ".cu", variant_source(kernel, variant), "sm_80", {}});
    REQUIRE_MESSAGE(bool(one), take_error(one.takeError()).second);
    std::string section = ".text." + variant.entry;
    std::string code = ingot::testing::cubin_section((*one)->output.cubin, section);
    CHECK(code.size() > 100);
    CHECK(code == ingot::testing::cubin_section((*all)->output.cubin, section));
    CHECK(code != last); // the comparison can fail
    last = code;
  }
}
