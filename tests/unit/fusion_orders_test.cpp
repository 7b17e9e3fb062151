// SPDX-License-Identifier: Apache-2.0
// How many kernels a graph takes, whatever the order of its outputs and ops.
#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ingot;

namespace {

struct Planned {
  Graph graph;
  FusionPlan plan;
};

Planned planned(const std::string& body, MathMode math = MathMode::relaxed) {
  const std::string spec =
      "graph g(x: f32[1024, 64], param w: f32[8192, 64], param b: f32[8192], c: f32[8192],\n"
      "        t: f32[1024, 8192], small: f32[8, 64], batch: f32[8, 48, 64],\n"
      "        weights: f32[8, 64, 80]) {\n" +
      body + "\n}\n";
  auto parsed = parse_graph(spec, "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  Graph graph = llvm::cantFail(run_passes(*parsed, {math}));
  FusionPlan plan = llvm::cantFail(plan_fusion(graph, {}));
  llvm::cantFail(verify(plan, graph));
  return {std::move(graph), std::move(plan)};
}

size_t kernels(const std::string& body) { return planned(body).plan.groups.size(); }

/// The numbers of kernels of `head` and any order of the outputs, each once.
std::vector<size_t> kernels_of_orders(const std::string& head, std::vector<std::string> outputs) {
  std::vector<size_t> counts;
  llvm::sort(outputs);
  do {
    counts.push_back(kernels(fmt::format("  {}\n  return {}", head, fmt::join(outputs, ", "))));
  } while (std::next_permutation(outputs.begin(), outputs.end()));
  llvm::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// The largest of the values that the kernels exchange or return.
int64_t most_elements_written(const Planned& p) {
  int64_t most = 0;
  for (const Group& group : p.plan.groups)
    for (const Write& write : group.writes)
      most = std::max(most, element_count(p.graph.type(write.value).shape).fixed());
  return most;
}

} // namespace

TEST_CASE("plans: the order of outputs does not change the number of kernels") {
  using Counts = std::vector<size_t>;
  for (const char* head : {"h = linear(x, w, b)", "h = relu(linear(x, w, b))"}) {
    CAPTURE(head);
    CHECK(kernels_of_orders(head, {"sum(h)", "std(h, axis=0)", "var(h)"}) == Counts{3});
    CHECK(kernels_of_orders(head, {"mean(h)", "sum(h)", "reduce_max(h) * 2.0"}) == Counts{2});
  }
}

TEST_CASE("plans: what a whole product is reduced to takes one more kernel") {
  const std::string products[] = {"h = relu(linear(x, w, b))", "h = relu(linear(small, w))",
                                  "h = tanh(matmul(batch, weights))"};
  for (const std::string& product : products)
    for (const char* outputs :
         {"sum(h)", "mean(h), sum(h)", "logsumexp(h)", "sum(h) * 2.0, reduce_min(h)",
          "argmax(reshape(h, [FLAT]), axis=0)", "argmin(reshape(h, [FLAT]), axis=0), var(h)"}) {
      const size_t flat = &product == &products[0]   ? 1024 * 8192
                          : &product == &products[1] ? 8 * 8192
                                                     : 8 * 48 * 80;
      std::string text = outputs;
      if (const size_t at = text.find("FLAT"); at != std::string::npos)
        text.replace(at, 4, std::to_string(flat));
      CAPTURE(product);
      CAPTURE(text);
      const Planned p = planned("  " + product + "\n  return " + text);
      CHECK(p.plan.groups.size() == 2);
      CHECK(most_elements_written(p) == 1);
    }
}
