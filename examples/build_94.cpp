// SPDX-License-Identifier: Apache-2.0
// Builds Linear -> bias -> hardtanh -> mish -> GroupNorm with the C++ interface, compiles it, and
// launches it on the first GPU. Without a GPU it says so and stops after compiling.
#include "ingot/ingot.h"

#include <cmath>
#include <cstdio>
#include <vector>

using ingot::ElementType;
using ingot::Var;

namespace {

constexpr int64_t kBatch = 1024, kFeatures = 8192, kGroups = 256;

int fail(const ingot::Status& status) {
  std::fprintf(stderr, "build_94: %s\n", status.message().c_str());
  return 1;
}

ingot::Result<ingot::GraphSpec> build_graph() {
  ingot::GraphBuilder graph("mish_groupnorm");
  Var x = graph.input("x", ElementType::f32, {kBatch, kFeatures});
  Var w = graph.param("w", ElementType::f32, {kFeatures, kFeatures});
  Var b = graph.param("b", ElementType::f32, {kFeatures});
  Var bias = graph.param("bias", ElementType::f32, {kFeatures});
  Var gamma = graph.param("gamma", ElementType::f32, {kFeatures});
  Var beta = graph.param("beta", ElementType::f32, {kFeatures});
  Var h = ingot::mish(ingot::hardtanh(ingot::linear(x, w, b) + bias));
  graph.output("y", ingot::group_norm(h, kGroups, {.gamma = gamma, .beta = beta}));
  return graph.finish();
}

/// Values in [-scale, scale) that repeat after a prime number of elements.
std::vector<float> pattern(int64_t count, float scale) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = scale * (static_cast<float>(i % 1021) / 510.5f - 1.0f);
  return values;
}

/// A tensor on the GPU filled with a pattern.
ingot::Result<ingot::TensorView> upload(ingot::Gpu& gpu, int64_t count, float scale) {
  const auto bytes = static_cast<int64_t>(count * sizeof(float));
  ingot::Result<void*> data = gpu.allocate(bytes);
  if (!data) return data.status();
  const std::vector<float> values = pattern(count, scale);
  ingot::Status status = gpu.copy_to_device(*data, values.data(), bytes);
  if (!status.ok()) return status;
  return ingot::TensorView{*data};
}

/// Each group of a row has mean 0 and variance 1 after GroupNorm with gamma 1 and beta 0; here
/// gamma and beta are patterns. So the check is one that holds for every pattern: values are
/// finite and not constant.
bool is_plausible(const std::vector<float>& y) {
  float least = y[0], most = y[0];
  for (float value : y) {
    if (!std::isfinite(value)) return false;
    least = std::fmin(least, value);
    most = std::fmax(most, value);
  }
  return most > least;
}

ingot::Status launch(ingot::Gpu& gpu, ingot::Program& program) {
  auto needs = program.memory();
  if (!needs) return needs.status();
  auto x = upload(gpu, kBatch * kFeatures, 1.0f);
  if (!x) return x.status();
  std::vector<ingot::TensorView> params;
  for (const ingot::TensorSpec& param : program.params()) {
    int64_t count = 1;
    for (const ingot::Extent& extent : param.shape) count *= extent.value();
    auto tensor = upload(gpu, count, param.shape.size() == 2 ? 0.01f : 1.0f);
    if (!tensor) return tensor.status();
    params.push_back(*tensor);
  }
  auto y = upload(gpu, kBatch * kFeatures, 0.0f);
  auto prepared = gpu.allocate(needs->prepared);
  auto workspace = gpu.allocate(needs->workspace);
  auto state = gpu.allocate(needs->state);
  for (const ingot::Status& status :
       {y.status(), prepared.status(), workspace.status(), state.status()})
    if (!status.ok()) return status;

  ingot::Status status =
      program.prepare({.params = params, .prepared = *prepared, .workspace = *workspace});
  if (!status.ok()) return status;
  const ingot::TensorView inputs[] = {*x}, outputs[] = {*y};
  status = program.launch({.inputs = inputs,
                           .params = params,
                           .outputs = outputs,
                           .prepared = *prepared,
                           .workspace = *workspace,
                           .state = *state});
  if (!status.ok()) return status;

  std::vector<float> result(static_cast<size_t>(kBatch * kFeatures));
  status =
      gpu.copy_to_host(result.data(), y->data, static_cast<int64_t>(result.size() * sizeof(float)));
  if (!status.ok()) return status;
  std::printf("y[0, 0..3] = %g %g %g %g\n", result[0], result[1], result[2], result[3]);
  if (!is_plausible(result))
    return {ingot::StatusCode::internal, "y is not finite, or the same everywhere"};
  return {};
}

} // namespace

int main() {
  auto graph = build_graph();
  if (!graph) return fail(graph.status());
  std::printf("%s", graph->text().c_str());
  auto program = ingot::compile(*graph);
  if (!program) return fail(program.status());
  std::printf("%d kernel(s) a launch\n", program->num_kernels());

  auto gpu = ingot::Gpu::open();
  if (!gpu) {
    std::printf("not launched: %s\n", gpu.status().message().c_str());
    return gpu.status().code() == ingot::StatusCode::unavailable ? 0 : 1;
  }
  std::printf("launching on %s\n", gpu->name().c_str());
  ingot::Status status = launch(*gpu, *program);
  return status.ok() ? 0 : fail(status);
}
