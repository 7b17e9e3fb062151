// SPDX-License-Identifier: Apache-2.0
// The cost of a computed operand beside a stored one, by hand.
#include "ir/assumed_size.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/prologue_cost.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

constexpr MachineRates kRates{
    .bytes_per_second = 2e12, .instructions_per_second = 1e13, .launch_seconds = 1e-6};

struct Analyzed {
  Graph graph;
  Group group;
};

Analyzed analyze(const std::string& body) {
  Graph graph = llvm::cantFail(parse_graph("graph g(" + body, "test"));
  const FusionLimits limits;
  std::vector<OpId> ops;
  for (uint32_t op = 0; op < graph.ops().size(); ++op)
    if (is_compute(graph.op(OpId{op}))) ops.push_back(OpId{op});
  auto result = analyze_group({graph, limits, {}}, ops, {});
  REQUIRE(std::holds_alternative<Group>(result));
  return {std::move(graph), std::get<Group>(std::move(result))};
}

Prologue prologue(const std::string& body, size_t side, const MatmulTile& tile = {}) {
  const Analyzed a = analyze(body);
  return prologue_of(a.graph, a.group, a.group.matmuls[0], side, tile);
}

} // namespace

TEST_CASE("prologue cost: storing moves an element twice and takes a launch") {
  const Prologue p{
      .elements = 1e6, .evaluations = 10, .instructions = 3, .fetched = 4, .stored = 4};
  CHECK(seconds_saved(p, kRates) == doctest::Approx(2 * 4e6 / 2e12 + 1e-6));
  CHECK(seconds_spent(p, kRates) == doctest::Approx(1e6 * 10 * 3 / 1e13));
}

TEST_CASE("prologue cost: every tile fetches inputs wider than the stored operand") {
  const Prologue p{
      .elements = 1e6, .evaluations = 11, .instructions = 0, .fetched = 4, .stored = 2};
  CHECK(seconds_spent(p, kRates) == doctest::Approx(10 * 2e6 / (2.5 * 2e12)));
}

TEST_CASE("prologue cost: each element is evaluated once for each tile that reads it") {
  const std::string body = "x: f32[300, 64], s: f32[64], w: f32[64, 500]) {\n"
                           "  return matmul(x * s + 1.0, exp(w)) }";
  const Prologue a = prologue(body, 0, {64, 128}), b = prologue(body, 1, {64, 128});
  CHECK(a.elements == 300 * 64);
  CHECK(a.evaluations == 4);
  CHECK(a.instructions == 2);
  CHECK(a.fetched == doctest::Approx(4 + 4.0 / 300));
  CHECK(a.stored == 4);
  CHECK(b.elements == 64 * 500);
  CHECK(b.evaluations == 5);
  CHECK(b.instructions == 16);
}

TEST_CASE("prologue cost: a half passes through registers that would have been copied") {
  const Prologue p =
      prologue("x: f32[8, 64], w: f16[64, 8]) { return matmul(cast(x, f16), w) }", 0);
  CHECK(p.instructions == 1 + 3);
  CHECK(p.fetched == 4);
  CHECK(p.stored == 2);
}

TEST_CASE("prologue cost: a named extent counts as usual") {
  const Prologue p = prologue("x: f32[m, 64], w: f32[64, n]) { return matmul(abs(x), w) }", 0);
  CHECK(p.elements == static_cast<double>(kAssumedSize) * 64);
  CHECK(p.evaluations == static_cast<double>(kAssumedSize) / 128);
}

TEST_CASE("prologue cost: the decision names the op, the tiles and both times") {
  const Analyzed a = analyze("x: f32[4096, 4096], w: f32[4096, 4096]) {\n"
                             "  h = exp(x)\n  return matmul(h, w) }");
  FusionLimits limits;
  limits.rates = kRates;
  const ValueId h = a.graph.op(a.group.matmuls[0].op).operands[0];
  const auto reason = costly_prologue(a.graph, a.group, {h}, limits);
  REQUIRE(reason);
  CHECK(reason->rule == "exp 'h' would be computed again for each of the 32 tiles that read an "
                        "element: that takes 859 us, and storing it and reading it back 68 us");
  CHECK(!costly_prologue(a.graph, a.group, {}, limits));
  limits.tile = [](const Group&) { return MatmulTile{4096, 4096}; };
  CHECK(!costly_prologue(a.graph, a.group, {h}, limits));
}
