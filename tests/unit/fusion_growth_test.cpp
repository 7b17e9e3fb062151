// SPDX-License-Identifier: Apache-2.0
// Sets that grow by one op at a time: their analysis, and the work of a plan of a long chain.
#include "ir/fusion/grouping.h"
#include "ir/fusion/legality.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Graph parsed(const std::string& body) {
  return llvm::cantFail(parse_graph("graph g(" + body, "test"));
}

std::vector<OpId> compute_ops(const Graph& graph) {
  std::vector<OpId> ops;
  for (uint32_t index = 0; index < graph.ops().size(); ++index)
    if (is_compute(graph.op(OpId{index}))) ops.push_back(OpId{index});
  return ops;
}

std::string text_of(const std::variant<Group, Refusal>& result, const Graph& graph) {
  if (const auto* refusal = std::get_if<Refusal>(&result)) return "refused: " + refusal->rule;
  FusionPlan plan;
  plan.groups.push_back(std::get<Group>(result));
  return text_of(plan, graph);
}

/// A chain of `count` softmaxes, each behind a tanh.
Graph softmax_chain(int count) {
  std::string body = "x: f32[64, 128]) {\n", value = "x";
  for (int i = 0; i < count; ++i) {
    body += fmt::format("  v{0} = softmax(tanh({1}), axis=1)\n", i, value);
    value = fmt::format("v{}", i);
  }
  return llvm::cantFail(run_passes(parsed(body + "  return " + value + " }"), PassContext{}, {}));
}

} // namespace

TEST_CASE("growth: a set that grows by one op is analysed as if it were new") {
  for (const char* body : {
           "x: f32[6, 64], y: f32[64]) { return softmax(x * y + exp(x), axis=1) }",
           "x: f32[6, 8], y: f32[8, 6]) { return x + transpose(y) * sum(x), exp(y) }",
           "x: f16[32, 16], w: f16[64, 16], b: f16[64]) {\n  h = relu(matmul(x, transpose(w)) + "
           "b)\n"
           "  return h - reduce_max(h, axis=1, keepdim=true), sum(h, axis=0) }",
           "x: f32[12, 8], i: i32[4, 8]) {\n  t = gather(x, i, axis=0)\n"
           "  return reshape(exp(t) + t, [32]), cumsum(t, axis=1) }",
           "x: f32[4, 6]) { a = exp(x)\n b = reshape(a, [24])\n c = reshape(b * b, [8, 3])\n"
           "  return sum(c, axis=1), a }",
       }) {
    CAPTURE(body);
    const Graph graph = parsed(body);
    const FusionLimits limits;
    const GroupContext context{graph, limits, {}};
    BoundOps bound;
    std::vector<OpId> ops;
    for (OpId op : compute_ops(graph)) {
      ops.push_back(op);
      CHECK(text_of(analyze_group(context, ops, {}, &bound), graph) ==
            text_of(analyze_group(context, ops, {}), graph));
    }
  }
}

TEST_CASE("growth: the machine is asked about complete kernels alone") {
  const Graph graph = softmax_chain(100);
  FusionLimits limits;
  size_t asked = 0;
  limits.obstacle = [&](const Group&) -> std::optional<Reason> {
    ++asked;
    return std::nullopt;
  };
  const FusionPlan plan = llvm::cantFail(plan_fusion(graph, limits));
  CHECK(plan.groups.size() > 1);
  CHECK(asked == plan.groups.size());
}

TEST_CASE("growth: kernels that the machine refuses are grouped again") {
  const Graph graph = softmax_chain(20);
  FusionLimits limits;
  limits.obstacle = [](const Group& group) -> std::optional<Reason> {
    if (group.reductions.size() <= 3) return std::nullopt;
    return Reason{"three reductions are enough", "reduce less"};
  };
  const FusionPlan plan = llvm::cantFail(plan_fusion(graph, limits));
  llvm::cantFail(verify(plan, graph));
  CHECK(plan.groups.size() == 7); // of 20 reductions
  for (const Group& group : plan.groups) CHECK(group.reductions.size() <= 3);
  CHECK(llvm::all_of(plan.boundaries, [](const Boundary& boundary) {
    return boundary.reason.rule == "three reductions are enough";
  }));
}
