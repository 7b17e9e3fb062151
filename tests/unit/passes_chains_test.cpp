// SPDX-License-Identifier: Apache-2.0
// Whole chains: their canonical form, and that their spelling does not matter.
#include "tests/unit/passes_support.h"

using namespace ingot;
using namespace ingot::test;

namespace {

Graph parse(const std::string& text) {
  llvm::Expected<Graph> graph = parse_graph(text, "test");
  if (!graph) FAIL(take_error(graph.takeError()).second);
  return std::move(*graph);
}

const char* const kLinear =
    "graph g(x: f32[m, 64], param w: f32[96, 64], param b: f32[96], param c: f32[96],\n"
    "        param gamma: f32[96], param beta: f32[96]) {\n";

Graph chain(const std::string& body, MathMode math = MathMode::relaxed) {
  Graph graph = parse(kLinear + body + "\n}\n");
  Graph result = run_all(graph, math);
  CHECK(identical(run_all(result, math), result));
  CHECK(equivalent(run_all(graph, math), result));
  // The result of a pass is a spec like any other.
  CHECK(equivalent(parse(print_graph(result)), result));
  return result;
}

/// All bodies have one form.
void check_same_form(std::initializer_list<const char*> bodies, MathMode math) {
  Graph first = chain(*bodies.begin(), math);
  for (const char* body : bodies) {
    Graph other = chain(body, math);
    CAPTURE(body);
    CAPTURE(print_graph(first));
    CAPTURE(print_graph(other));
    CHECK(equivalent(first, other));
  }
}

} // namespace

TEST_CASE("chains: a double bias is one param, whatever the spelling") {
  check_same_form(
      {"return group_norm(mish(hardtanh(linear(x, w, b) + c)), gamma, beta, groups=8)",
       "return group_norm(mish(hardtanh(c + linear(x, w, b))), gamma, beta, groups=8)",
       "return group_norm(mish(hardtanh(linear(x, w) + (c + b))), gamma, beta, groups=8)",
       "h = b + (linear(x, w) + c)\n y = minimum(h, 1) \n"
       "return group_norm(mish(maximum(y, -1)), gamma, beta, groups=8)",
       "h = matmul(x, transpose(w, [1, 0])) + broadcast(reshape(b, [1, 96]), [m, 96]) + c\n"
       "y = clamp(reshape(h, [m, 8, 12]), -1, 1)\n"
       "return group_norm(reshape(mish(y), [m, 96]), gamma, beta, groups=8)"},
      MathMode::relaxed);
}

TEST_CASE("chains: scales and a residual of itself") {
  check_same_form({"h = linear(x, w, b) * 2\n h2 = clamp(h + h, -10, 10)\n"
                   "z = logsumexp(h2, axis=1, keepdim=true)\n return z * mish(z)",
                   "h = linear(x, w, b) + linear(x, w, b)\n h2 = clamp(2 * h, -10, 10)\n"
                   "z = logsumexp(h2, axis=1, keepdim=true)\n return mish(z) * z"},
                  MathMode::strict);
}

TEST_CASE("chains: the sum over features is a matrix-vector product") {
  const char* body = "s = sum(linear(x, w, b), axis=1, keepdim=true)\n"
                     "t = mean(amax(s, axis=1, keepdim=true), axis=1, keepdim=true)\n"
                     "return logsumexp(logsumexp(t, axis=1, keepdim=true), axis=1, keepdim=true)";
  Graph relaxed = chain(body);
  CHECK(count(relaxed, OpKind::matmul) == 0);
  CHECK(count(relaxed, OpKind::max_sumexp) == 0);
  CHECK(count(relaxed, OpKind::sum) == 3); // of w, of b, of the products
  Graph strict = chain(body, MathMode::strict);
  CHECK(count(strict, OpKind::matmul) == 1);
  CHECK(count(strict, OpKind::max_sumexp) == 0);
}

TEST_CASE("chains: a sum of scaled features keeps one scale") {
  Graph graph = chain("return sum(linear(x, w) / 2, axis=1, keepdim=true) * 1.5");
  CHECK(count(graph, OpKind::matmul) == 0);
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::constant) CHECK(graph.attributes<ConstantAttributes>(op).real == 0.75);
  }
  CHECK(count(graph, OpKind::constant) == 1);
}

TEST_CASE("chains: average pooling of features shrinks the matmul") {
  const char* body = "return amax(gelu(avg_pool1d(linear(x, w, b), 4)) * 2, axis=1)";
  Graph graph = chain(body);
  REQUIRE(count(graph, OpKind::matmul) == 1);
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::matmul) CHECK(graph.type(op.results[0]).shape[1].is(24));
  }
  Graph strict = chain(body, MathMode::strict);
  for (const Op& op : strict.ops()) {
    if (op.kind == OpKind::matmul) CHECK(strict.type(op.results[0]).shape[1].is(96));
  }
}

TEST_CASE("chains: a difference that is always zero stays computed unless finite") {
  const char* body = "t = amax(linear(x, w, b), axis=1, keepdim=true)\n"
                     "return gelu(t - mean(t, axis=1, keepdim=true))";
  CHECK(count(chain(body, MathMode::relaxed), OpKind::matmul) == 1);
  Graph finite = chain(body, MathMode::finite);
  CHECK(count(finite, OpKind::matmul) == 0);
  ValueId zero = finite.producer(finite.outputs()[0].value).operands[0];
  CHECK(finite.attributes<ConstantAttributes>(finite.producer(zero)).real == 0);
}

TEST_CASE("chains: a clamp that never binds") {
  Graph graph = chain("return hardtanh(gelu(tanh(silu(linear(x, w, b) + c))))", MathMode::strict);
  CHECK(count(graph, OpKind::minimum) == 0);
  CHECK(count(graph, OpKind::maximum) == 0);
}

TEST_CASE("chains: biases on two sides of an activation stay two") {
  Graph graph = chain("return group_norm(silu(linear(x, w, b)) + c, gamma, beta, groups=8)");
  auto params_only = depends_only_on_params(graph);
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::add) CHECK_FALSE(params_only[op.results[0].index]);
  }
  CHECK(count(graph, OpKind::matmul) == 1);
}
