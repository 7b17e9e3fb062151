// SPDX-License-Identifier: Apache-2.0
// The graph by which kernels are judged: where a kernel rounds a 16-bit value for another one,
// and where none does.
#include "ir/random.h"
#include "ir/text/parser.h"
#include "src/reports/check.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Judged {
  std::unique_ptr<Compilation> compilation;
  std::vector<Evaluated> outputs;
};

Judged judged(const std::string& spec) {
  Judged result;
  result.compilation = std::make_unique<Compilation>(
      llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(spec, "test")), {})));
  std::vector<Tensor> tensors;
  const Graph& graph = result.compilation->graph;
  for (ValueId id : graph.inputs()) {
    const Type& type = graph.type(id);
    Tensor& tensor = tensors.emplace_back(type.dtype, evaluate_shape(type.shape, {}));
    fill_random(tensor, default_distribution(graph, id, tensor.extents()), id.index);
  }
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  result.outputs = llvm::cantFail(judged_references(*result.compilation, inputs, {}, {}));
  return result;
}

bool all_finite(const Evaluated& output) {
  return llvm::all_of(output.reals(), [](double x) { return std::isfinite(x); });
}

} // namespace

TEST_CASE("judged graph: a half overflows where it is loaded, not where it is computed") {
  // A second kernel divides by the mean of all rows.
  const Judged result = judged("graph g(x: f16[300, 64], w: f16[64, 40]) {\n"
                               "  p = matmul(x, w)\n"
                               "  r = exp(p * p * 1e-3) * 1e5\n"
                               "  return r / mean(r, axis=0, keepdim=true), sqrt(r) }");
  const JudgedGraph graph = judged_graph(*result.compilation);
  REQUIRE(result.compilation->plan.groups.size() > 1);
  REQUIRE(graph.stored.size() == 1);
  CHECK(llvm::none_of(result.outputs[0].reals(), [](double x) { return std::isfinite(x); }));
  CHECK(all_finite(result.outputs[1]));
  // Unrounded, so that a kernel's own error alone is admitted: a half's is 2^-11.
  const auto values = result.outputs[1].reals();
  const auto bounds = result.outputs[1].bounds(0);
  for (size_t i = 0; i < values.size(); ++i) CHECK(bounds[i] <= values[i] * 0x1p-10);
}

TEST_CASE("judged graph: a divisor that is kept from zero may be stored as zero") {
  const Judged result = judged("graph g(x: f16[300, 64], w: f16[64, 129]) {\n"
                               "  s = matmul(x, w) * 1e-10\n"
                               "  return mean(s, axis=0, keepdim=true) / maximum(abs(s), 1e-12) }");
  REQUIRE(judged_graph(*result.compilation).stored.size() == 1);
  CHECK(all_finite(result.outputs[0]));
  CHECK(llvm::none_of(result.outputs[0].bounds(0), [](float e) { return std::isfinite(e); }));
}

TEST_CASE("judged graph: a value that no kernel loads is not rounded") {
  const Judged result = judged("graph g(x: f16[300, 64]) {\n"
                               "  r = sum(x * 256.0 * x * 256.0, axis=1)\n  return sqrt(r) }");
  CHECK(judged_graph(*result.compilation).is_given);
  CHECK(all_finite(result.outputs[0]));
}

TEST_CASE("judged graph: a value returned in another shape is rounded where a kernel reads that") {
  const Judged result = judged("graph g(x: bf16[64, 2048]) {\n"
                               "  t = reshape(x - 2.0, [64, 32, 64])\n"
                               "  return y=t + mean(t), t=t }");
  REQUIRE(result.compilation->plan.groups.size() > 1);
  CHECK(judged_graph(*result.compilation).stored.size() == 1);
}

TEST_CASE("judged graph: a movement between the kernels") {
  const Judged result = judged("graph g(x: f16[300, 64], w: f16[64, 40]) {\n"
                               "  p = matmul(x, w)\n"
                               "  r = reshape(exp(p * p * 1e-3) * 1e5, shape=[150, 80])\n"
                               "  return r / mean(r, axis=[0, 1], keepdim=true) }");
  const JudgedGraph graph = judged_graph(*result.compilation);
  CHECK(graph.stored.size() == 1);
  CHECK(llvm::none_of(result.outputs[0].reals(), [](double x) { return std::isfinite(x); }));
}

TEST_CASE("judged graph: an element of f32 is rounded to the type in which it is multiplied") {
  const Judged result = judged("graph g(q: f16[256, 64], k: f16[512, 64], v: f16[512, 64]) {\n"
                               "  s = cast(matmul(q, k, transpose_b=true), f32)\n"
                               "  return matmul(cast(softmax(s), f16), v) }");
  REQUIRE(result.compilation->plan.groups.size() == 1);
  REQUIRE(result.compilation->plan.groups[0].computed);
  const JudgedGraph graph = judged_graph(*result.compilation);
  CHECK(graph.stored.empty());
  REQUIRE(graph.rescaled.size() == 1);
  const ValueId rounded = graph.rescaled.front();
  CHECK(graph.graph.type(rounded).dtype == DType::f16);
  CHECK(graph.graph.producer(graph.graph.producer(rounded).operands[0]).kind == OpKind::exp);
  CHECK(all_finite(result.outputs[0]));
}

TEST_CASE("judged graph: a 16-bit value that a matmul computes for itself is rounded before the "
          "product") {
  const Judged result = judged("graph g(x: f16[64, 48], w: f16[48, 32]) {\n"
                               "  return matmul(exp(x) * 0.3, w) }");
  CHECK(result.compilation->plan.groups.size() == 1);
  CHECK(judged_graph(*result.compilation).stored.size() == 1);
  const Judged nested = judged("graph g(q: f16[64, 48], k: f16[96, 48], v: f16[96, 32]) {\n"
                               "  s = matmul(exp(q) * 0.3, k, transpose_b=true)\n"
                               "  return matmul(softmax(s), v) }");
  CHECK(nested.compilation->plan.groups.size() == 1);
  CHECK(judged_graph(*nested.compilation).stored.size() == 1);
  CHECK(judged_graph(*nested.compilation).rescaled.size() == 1);
}
