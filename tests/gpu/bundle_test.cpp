// SPDX-License-Identifier: Apache-2.0
// Programs from bundles on a GPU: machine code of the card, and PTX that the driver assembles for
// it, have the results of the program that was compiled from the graph.
#include "ingot/ingot.h"
#include "tests/support/environment.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

using namespace ingot;

namespace {

constexpr int64_t kRows = 37, kColumns = 96, kDepth = 64;

/// A named dimension, params and a reduction behind a product.
constexpr const char* kSpec =
    "graph chain(x: f32[m, 64], param w: f32[96, 64], param b: f32[96]) {\n"
    "  return y = softmax(mish(linear(x, w, b))) }\n";

std::vector<float> numbers(int64_t count, int64_t step) {
  std::vector<float> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<float>((i * step) % 101 - 50) / 64);
  return result;
}

void* upload(Gpu& gpu, const std::vector<float>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  auto memory = gpu.allocate(bytes);
  REQUIRE_MESSAGE(memory.ok(), memory.status().message());
  REQUIRE(gpu.copy_to_device(*memory, values.data(), bytes).ok());
  return *memory;
}

void* zeroed(Gpu& gpu, int64_t bytes) {
  auto memory = gpu.allocate(bytes);
  REQUIRE_MESSAGE(memory.ok(), memory.status().message());
  return *memory;
}

std::vector<float> run(Gpu& gpu, Program& program) {
  const DimRange m[] = {{"m", kRows, kRows}};
  auto needs = program.memory(m); // before prepare: enough for any section
  REQUIRE_MESSAGE(needs.ok(), needs.status().message());
  std::vector<float> y(kRows * kColumns, -1);
  const int64_t x_shape[] = {kRows, kDepth}, y_shape[] = {kRows, kColumns};
  const TensorView inputs[] = {{upload(gpu, numbers(kRows * kDepth, 7)), x_shape}};
  const TensorView params[] = {{upload(gpu, numbers(kColumns * kDepth, 11))},
                               {upload(gpu, numbers(kColumns, 13))}};
  const TensorView outputs[] = {{upload(gpu, y), y_shape}};
  void* const prepared = zeroed(gpu, needs->prepared);
  void* const workspace = zeroed(gpu, needs->workspace);
  void* const state = zeroed(gpu, needs->state);
  const Status ready =
      program.prepare({.params = params, .prepared = prepared, .workspace = workspace, .dims = m});
  REQUIRE_MESSAGE(ready.ok(), ready.message());
  const Status launched = program.launch({.inputs = inputs,
                                          .params = params,
                                          .outputs = outputs,
                                          .prepared = prepared,
                                          .workspace = workspace,
                                          .state = state});
  REQUIRE_MESSAGE(launched.ok(), launched.message());
  REQUIRE(gpu.copy_to_host(y.data(), outputs[0].data, int64_t(y.size() * sizeof(float))).ok());
  return y;
}

} // namespace

TEST_CASE("gpu: a program from a bundle has the results of the compiled one") {
  auto gpu = Gpu::open();
  if (!gpu.ok()) INGOT_SKIP("a GPU: " + gpu.status().message());
  auto spec = parse(kSpec);
  REQUIRE(spec.ok());
  std::vector<std::string> bundles;
  // Whichever card is here, one of the first two has no machine code for it.
  for (const char* device : {"a100", "h100", "native"}) {
    auto bytes = bundle(*spec, {.device = device});
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
    bundles.push_back(std::move(*bytes));
  }
  auto compiled = compile(*spec);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const std::vector<float> y = run(*gpu, *compiled);
  // Bundles without a target are for sm_80, launches for the best family of the card.
  auto of_sm_80 = compile(*spec, {.target = "sm_80", .device = "native"});
  REQUIRE_MESSAGE(of_sm_80.ok(), of_sm_80.status().message());
  const std::vector<float> same_bits = run(*gpu, *of_sm_80);
  const ingot::testing::ScopedVariable hidden("INGOT_NVRTC_PATH", "/nowhere");
  for (const std::string& bytes : bundles) {
    auto program = load_bundle(bytes);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    const std::vector<float> got = run(*gpu, *program);
    double most = 0;
    for (size_t i = 0; i < y.size(); ++i) most = std::max(most, std::abs(double(got[i]) - y[i]));
    // Schedules of other cards may add in another order.
    CHECK(most < 1e-5);
    CHECK(got[1] != got[2]); // no constant
  }
  // The same schedules and machine code: the same bits.
  auto native = load_bundle(bundles.back());
  REQUIRE(native.ok());
  CHECK(run(*gpu, *native) == same_bits);
}
