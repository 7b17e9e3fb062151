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

Planned planned_spec(const std::string& spec, MathMode math = MathMode::relaxed) {
  auto parsed = parse_graph(spec, "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  Graph graph = llvm::cantFail(run_passes(*parsed, {math}));
  FusionPlan plan = llvm::cantFail(plan_fusion(graph, {}));
  llvm::cantFail(verify(plan, graph));
  return {std::move(graph), std::move(plan)};
}

Planned planned(const std::string& body, MathMode math = MathMode::relaxed) {
  return planned_spec(
      "graph g(x: f32[1024, 64], param w: f32[8192, 64], param b: f32[8192], c: f32[8192],\n"
      "        t: f32[1024, 8192], small: f32[8, 64], batch: f32[8, 48, 64],\n"
      "        weights: f32[8, 64, 80]) {\n" +
          body + "\n}\n",
      math);
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
  const char* loaded = "h = exp(t)";
  CHECK(kernels_of_orders(loaded, {"h / reduce_max(h)", "reduce_max(h, axis=0)"}) == Counts{2});
  CHECK(kernels_of_orders(loaded, {"sum(c)", "logsumexp(h, axis=1) * 2.0", "h / reduce_max(h)"}) ==
        Counts{3});
}

TEST_CASE("plans: reductions of a whole product take one more kernel") {
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

TEST_CASE("plans: a whole product is merged for each of its rows only where it has few tiles") {
  auto count = [](int rows) {
    return planned_spec(fmt::format("graph g(x: f32[{}, 64], w: f32[8192, 64]) {{\n"
                                    "  h = relu(linear(x, w))\n  return h / reduce_max(h) }}",
                                    rows))
        .plan.groups.size();
  };
  CHECK(count(2048) == 2);
  CHECK(count(2049) == 3);
}

TEST_CASE("plans: partials of few tiles are merged by the kernel that reduces the results") {
  const std::string pool = "  p = reduce_max(reshape(linear(x, w, b), [1024, 16, 512]), axis=2)\n";
  for (const char* body : {"return sum(p, axis=1) * 0.5", "return softmax(relu(p), axis=1)",
                           "return argmax(p, axis=1), mean(p, axis=0)"}) {
    CAPTURE(body);
    const Planned p = planned(pool + "  " + body);
    CHECK(p.plan.groups.size() == 2 + (std::string(body).find("axis=0") != std::string::npos));
    CHECK(most_elements_written(p) <= 1024 * 16);
  }
  // Parts of the columns of a product that few tiles are wide, whatever its size.
  for (const char* reduction : {"sum", "reduce_max"})
    for (int rows : {2, 8, 512}) {
      CAPTURE(rows);
      const Planned p = planned_spec(
          fmt::format("graph g(x: f32[{}, 64], w: f32[2048, 64]) {{\n"
                      "  return {}(reshape(relu(linear(x, w)), [2, {}, 2048]), axis=[1, 2]) }}",
                      2 * rows, reduction, rows));
      CHECK(p.plan.groups.size() == 2);
      CHECK(most_elements_written(p) == 2);
    }
  // Wider ones have too many partials.
  CHECK(kernels("return sum(reshape(relu(linear(x, w)), [8, 128, 8192]), axis=[1, 2])") == 3);
  // A result that several points need is merged once.
  const Planned shared =
      planned(pool + "  return sum(t * reshape(expand(reshape(p, [1024, 16, 1]), "
                     "[1024, 16, 512]), [1024, 8192]), axis=1)");
  for (const Group& group : shared.plan.groups)
    for (const Read& read : group.reads) CHECK_FALSE(read.at_points);
}

TEST_CASE("plans: strict divides no mean and no variance before all of it is summed") {
  const std::string h = "  h = reshape(relu(linear(x, w, b)), [8, 128, 8192])\n  return ";
  auto stored = [&](const char* result, MathMode math) {
    return most_elements_written(planned(h + result, math)) > 1024;
  };
  for (MathMode math : {MathMode::strict, MathMode::relaxed}) {
    CHECK_FALSE(stored("sum(h, axis=[1, 2])", math));
    CHECK_FALSE(stored("reduce_max(h, axis=[1, 2])", math));
  }
  for (const char* result : {"mean(h, axis=[1, 2])", "var(h, axis=[1, 2])"}) {
    CAPTURE(result);
    CHECK_FALSE(stored(result, MathMode::relaxed));
    CHECK(stored(result, MathMode::strict));
  }
}
