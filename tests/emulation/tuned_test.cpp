// SPDX-License-Identifier: Apache-2.0
// Every schedule that a tuner may choose gives right results: candidates of kernels of every source
// and skeleton, one for each tile, warp, number of slots and layout of rows.
#include "codegen/schedule/candidates.h"
#include "ir/text/parser.h"
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

#include <limits>

#include <set>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Cases of the candidates whose first variants read differently.
std::vector<Case> candidate_cases(const Case& usual) {
  const Compilation c = llvm::cantFail(
      compile_graph(llvm::cantFail(parse_graph(usual.spec, "test")), options_of(usual)));
  std::vector<Case> cases;
  std::set<std::string> seen;
  for (const ScheduleCandidate& candidate : candidates(schedule_site(c, 0), {})) {
    if (!seen.insert(candidate.schedules.front().text()).second) continue;
    Case& one = cases.emplace_back(usual);
    one.choice = candidate.choice;
    one.depth = Case::Depth::results;
  }
  return cases;
}

void check_candidates(const Case& usual, size_t least) {
  const std::vector<Case> cases = candidate_cases(usual);
  REQUIRE(cases.size() >= least);
  CHECK(check_cases(cases) == "");
}

} // namespace

TEST_CASE("tuned: products of halves, with large warps and a norm behind them") {
  check_candidates({.spec = "graph g(x: bf16[136, 200], w: bf16[272, 200], b: bf16[272]) {\n"
                            "  return group_norm(linear(x, w, b), groups=34) }",
                    .sm_count = 2},
                   20);
}

TEST_CASE("tuned: products in TF32") {
  check_candidates({.spec = "graph g(x: f32[136, 72], w: f32[272, 72]) {\n"
                            "  return relu(linear(x, w)) }",
                    .precision = MatmulPrecision::high},
                   10);
}

TEST_CASE("tuned: products of f32 from halves, and in multiply-adds") {
  check_candidates({.spec = "graph g(x: f32[136, 264], w: f32[200, 264]) {\n"
                            "  return tanh(linear(x, w)) }",
                    .precision = MatmulPrecision::highest,
                    .least_products = {.halves = std::numeric_limits<int64_t>::min(),
                                       .thirds = std::numeric_limits<int64_t>::max()}},
                   4);
  check_candidates({.spec = "graph g(x: f32[9, 300], param w: f32[130, 300]) {\n"
                            "  return gelu(linear(x, w)) }",
                    .precision = MatmulPrecision::highest,
                    .least_products = {.halves = std::numeric_limits<int64_t>::min(),
                                       .thirds = std::numeric_limits<int64_t>::max()}},
                   6);
  check_candidates({.spec = "graph g(x: f32[136, 40], w: f32[200, 40]) {\n"
                            "  return tanh(linear(x, w)) }"},
                   4);
}

TEST_CASE("tuned: a product whose contraction blocks share") {
  check_candidates({"graph g(x: bf16[64, 2112], w: bf16[2112, 72]) {\n  return matmul(x, w) }"}, 6);
}

TEST_CASE("tuned: rows, held, streamed, shared by blocks, and of lanes") {
  check_candidates({"graph g(x: bf16[5, 2056], w: bf16[2056]) {\n  return softmax(x * w) }"}, 6);
  check_candidates({"graph g(x: f32[3, 40000]) {\n  return layer_norm(x) }"}, 2);
  check_candidates({"graph g(x: f16[300, 72]) {\n  return sum(x, axis=0) }"}, 4);
  Case kept = {"graph g(x: f32[m, 36864]) {\n  return layer_norm(x) }", {{{"m", 3}}}};
  kept.target = "sm_90a";
  check_candidates(kept, 20);
  check_candidates(
      {"graph g(x: bf16[3, 70, 134], y: f32[70, 134]) {\n"
       "  return softmax(x, axis=1), slice(cast(x, f32) + y, [0, 0, 4], [3, 70, 132]) }"},
      4);
  check_candidates(
      {"graph g(x: f32[40, 1000], y: bf16[40, 1000]) {\n  return exp(x) + cast(y, dtype=f32) }"},
      4);
}
