// SPDX-License-Identifier: Apache-2.0
// Named extents of 0: the results of the reference, and that rewrites keep them; likewise where
// f32 overflows.
#include "ir/interpreter/compare.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

using namespace ingot;

namespace {

/// The outputs for inputs of ones with every named dim 0.
std::vector<Tensor> run_empty(const Graph& graph) {
  DimBindings dims;
  for (const std::string& name : graph.dim_names()) dims[name] = 0;
  std::vector<Tensor> tensors;
  for (ValueId id : graph.inputs()) {
    Tensor& tensor =
        tensors.emplace_back(graph.type(id).dtype, evaluate_shape(graph.type(id).shape, dims));
    for (int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, 1);
  }
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  EvaluateOptions options;
  options.precisions = {MatmulPrecision::pedantic};
  std::vector<Tensor> outputs;
  for (const Evaluated& result : llvm::cantFail(evaluate(graph, inputs, options)))
    outputs.push_back(result.to_tensor());
  return outputs;
}

Graph parse(const std::string& spec) { return llvm::cantFail(parse_graph(spec, "spec")); }

Graph rewritten(const std::string& spec, MathMode math) {
  return llvm::cantFail(run_passes(parse(spec), {math}));
}

bool has(const Graph& graph, OpKind kind) {
  return llvm::any_of(graph.ops(), [&](const Op& op) { return op.kind == kind; });
}

} // namespace

TEST_CASE("the reference reduces no elements to the identity") {
  auto first = [](const std::string& spec) {
    auto outputs = run_empty(parse(spec));
    return outputs[0].count() == 0 ? -7 : outputs[0].real(0);
  };
  CHECK(first("graph g(x: i32[m, 4]) { return sum(x, 0) }") == 0);
  CHECK(first("graph g(x: i64[m, 4]) { return prod(x, 0) }") == 1);
  CHECK(first("graph g(x: i32[m, 4]) { return reduce_max(x, 0) }") == INT32_MIN);
  CHECK(first("graph g(x: i32[m, 4]) { return sum(x, 1) }") == -7);
  CHECK(first("graph g(x: i32[m, 4]) { return cumsum(x, 0) }") == -7);
  CHECK(first("graph g(x: f32[m, 4]) { return cumsum(x, 0) }") == -7);
  CHECK(first("graph g(x: f32[m, 4]) { return cumprod(x, 1) }") == -7);
  CHECK(first("graph g(x: f32[m, 4]) { return sum(x, 0) }") == 0);
  CHECK(first("graph g(x: f32[m, 4]) { return prod(x, 0) }") == 1);
  CHECK(first("graph g(x: f32[m, 4]) { return reduce_max(x, 0) }") ==
        -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(first("graph g(x: f32[m, 4]) { return mean(x, 0) }")));
  CHECK(std::isnan(first("graph g(x: f32[m, 4]) { return moments(x, 0)[0] }")));
  CHECK(std::isnan(first("graph g(x: f32[m, 4]) { return moments(x, 0)[1] }")));
}

TEST_CASE("the reference multiplies over no elements to zeros, whatever its memory held") {
  const Graph graph = parse("graph g(x: f32[12, m], w: f32[m, 8]) { return matmul(x, w) }");
  for (int tries = 0; tries < 8; ++tries) {
    // Freed at once, so that the next tensors get its memory.
    std::vector<std::vector<double>> full(16, std::vector<double>(12 * 8, 3.0));
    full.clear();
    const std::vector<Tensor> outputs = run_empty(graph);
    for (int64_t i = 0; i < outputs[0].count(); ++i) REQUIRE(outputs[0].real(i) == 0);
  }
}

TEST_CASE("rewrites keep the results of reductions over no elements") {
  for (const char* formula :
       {"maximum(sum(clamp(x, 1, 2), 0), 0.25)", "maximum(mean(clamp(x, 1, 2), 0), 0.25)",
        "maximum(reduce_max(clamp(x, 1, 2), 0), 0.25)",
        "minimum(reduce_min(clamp(x, 1, 2), 0), 5.0)", "reduce_max(maximum(x, 0.5), 0)",
        "reduce_min(minimum(x, 0.5), 0)", "reduce_max(x * -2.0, 0)", "reduce_max(x + 3.0, 0)",
        "reduce_max(broadcast(y, [m, 5]), 0)", "mean(broadcast(y, [m, 5]), 0)",
        "sum(broadcast(y, [m, 5]), 0)", "where(var(x, 0) > 1.0, 1.0, mean(x, 0))",
        "maximum(logsumexp(clamp(x, 1, 2), 0), 0.25)"}) {
    CAPTURE(formula);
    const std::string spec =
        std::string("graph g(x: f32[m, 5], y: f32[5]) { return ") + formula + " }";
    for (MathMode math : {MathMode::strict, MathMode::relaxed}) {
      const auto before = run_empty(parse(spec)), after = run_empty(rewritten(spec, math));
      const double a = before[0].real(0), b = after[0].real(0);
      CHECK_MESSAGE(((std::isnan(a) && std::isnan(b)) || a == b), a, " became ", b);
    }
  }
}

TEST_CASE("a bound stays where f32 may overflow") {
  CHECK(has(rewritten("graph g(x: f32[8]) {\n"
                      "  return minimum((clamp(x, -1e10, 1e10) * 1e30 + 1) * 1e-35, 1e6) }",
                      MathMode::strict),
            OpKind::minimum));
}

TEST_CASE("rewrites of a long chain take time in proportion to it") {
  for (const char* op : {" * x", " + x"}) {
    std::string spec = "graph g(x: f32[8]) {\n  a0 = x + x\n";
    constexpr int kOps = 20000;
    for (int i = 1; i < kOps; ++i) spec += fmt::format("  a{} = a{}{}\n", i, i - 1, op);
    spec += fmt::format("  return a{} }}", kOps - 1);
    const auto start = std::chrono::steady_clock::now();
    CHECK(rewritten(spec, MathMode::relaxed).ops().size() >= 2);
    // Quadratic passes take minutes.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  }
}

TEST_CASE("a planted error needs more than NaN, and kept dims keep an index's witness") {
  Graph graph = parse("graph g(x: f32[4, 8]) {\n"
                      "  return argmax(exp(x), axis=1, keepdim=true), x - x }");
  Tensor x(DType::f32, {4, 8});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, i % 8 == 3 ? 2 : i % 8 == 5 ? 2 + 1e-7 : 0.1);
  EvaluateOptions options;
  options.precisions = {MatmulPrecision::pedantic};
  const auto results = llvm::cantFail(evaluate(graph, {&x}, options));
  Tensor wrong = results[0].to_tensor();
  wrong.set_integer(0, 0);
  CHECK(!compare(results[0], wrong, 0).pass);
  size_t finite = 0;
  for (const PlantedError& planted : plant_errors(results[1], results[1].to_tensor(), 0))
    finite += planted.applies && planted.rejected && planted.is_finite;
  CHECK(finite > 0);
}
