// SPDX-License-Identifier: Apache-2.0
// Two products whose results are used only in their sum: which graphs have one tile for both.
#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;

namespace {

/// The plan of f(p, q), where p and q are products of the type, over these K.
FusionPlan plan_of(const std::string& f, const char* type = "f16", const char* first = "64",
                   const char* second = "96", const FusionLimits& limits = {}) {
  const std::string text = fmt::format("graph g(x: {0}[m, {1}], w: {0}[{1}, 72], y: {0}[m, {2}], "
                                       "v: {0}[{2}, 72], c: {0}[72], r: {0}[m, 72]) {{\n"
                                       "  p = matmul(x, w)\n  q = matmul(y, v)\n  return {3} }}",
                                       type, first, second, f);
  const Graph graph =
      llvm::cantFail(run_passes(llvm::cantFail(parse_graph(text, "test")), {MathMode::relaxed}));
  FusionPlan plan = llvm::cantFail(plan_fusion(graph, limits));
  llvm::cantFail(verify(plan, graph));
  return plan;
}

/// The K of the first product and its factor, if the plan is one kernel with a sum.
std::string sum_of(const FusionPlan& plan) {
  if (plan.groups.size() != 1) return fmt::format("{} kernels", plan.groups.size());
  const Group& group = plan.groups.front();
  if (!group.sum) return "none";
  CHECK(product_tiles(group) == 1);
  return fmt::format("{} times {}", group.space.extent(group.matmuls.front().contraction).text(),
                     group.sum->factor);
}

} // namespace

TEST_CASE("sums: products that are only added have one tile") {
  CHECK(sum_of(plan_of("p + q")) == "64 times 1");
  CHECK(sum_of(plan_of("relu(p + q + c) * r")) == "64 times 1");
  // The one with a factor comes first.
  CHECK(sum_of(plan_of("p + q * 0.5")) == "96 times 0.5");
  CHECK(sum_of(plan_of("p * 0.5 - q")) == "none"); // both have factors
  CHECK(sum_of(plan_of("p - q")) == "96 times -1");
  CHECK(sum_of(plan_of("q - p")) == "64 times -1");
  CHECK(sum_of(plan_of("-p + q * 1")) == "64 times -1");
  // Other terms of the sum come behind both products.
  CHECK(sum_of(plan_of("(p + c) + (q * 2 + r)")) == "96 times 2");
  CHECK(sum_of(plan_of("cast(p, f32) + cast(q, f32)")) == "64 times 1");
  CHECK(sum_of(plan_of("p + q", "bf16")) == "64 times 1");
}

TEST_CASE("sums: a factor that f32 does not hold stays two") {
  std::string large = "p";
  for (int i = 0; i < 9; ++i) large += " * 60000";
  const std::string sum = sum_of(plan_of(large + " + q"));
  CHECK(sum.find("inf") == std::string::npos);
}

TEST_CASE("sums: the first product has a fixed K") {
  CHECK(sum_of(plan_of("p + q", "f16", "k", "96")) == "96 times 1");
  CHECK(sum_of(plan_of("p * 2 + q", "f16", "k", "96")) == "none");
  CHECK(sum_of(plan_of("p + q", "f16", "k", "l")) == "none");
  const FusionPlan apart = plan_of("q + p * 3", "f16", "k", "96");
  CHECK(apart.groups.front().matmuls.front().op < apart.groups.front().matmuls.back().op);
}

TEST_CASE("sums: strict arithmetic adds each product after its own sums") {
  FusionLimits strict;
  strict.reassociates = false;
  CHECK(sum_of(plan_of("p + q", "f16", "64", "96", strict)) == "none");
}

TEST_CASE("sums: products that are used otherwise have tiles of their own") {
  CHECK(sum_of(plan_of("relu(p) + q")) == "none");
  CHECK(sum_of(plan_of("p * q")) == "none");
  CHECK(sum_of(plan_of("p + q * r")) == "none");
  CHECK(sum_of(plan_of("(p + q) * p")) == "none");
  CHECK(sum_of(plan_of("p + q, p")) == "none");
  CHECK(sum_of(plan_of("p + q", "f32")) == "none");
}
