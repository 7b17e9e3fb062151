// SPDX-License-Identifier: Apache-2.0
// The ops of random chains: enough of those that fuse least easily, and some of every kind.
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "src/compiler.h"
#include "tests/support/random_chains.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

void check_distribution(const ChainScale& scale) {
  constexpr int kChains = 1000;
  int combined = 0;
  std::map<std::string, int> counts;
  for (uint64_t seed = 0; seed < kChains; ++seed) {
    const RandomChain chain = random_chain(seed, scale);
    combined += chain.has_combination();
    for (Feature feature : chain.features) ++counts[spelling(feature)];
  }
  std::string text = fmt::format("of {} chains {} with a fed-back reduction, a reshape and several "
                                 "outputs",
                                 kChains, combined);
  for (const auto& [name, number] : counts) text += fmt::format("\n  {} {}", number, name);
  MESSAGE(text);
  CHECK(combined >= 3 * kChains / 10);
  CHECK(counts[spelling(Feature::nested)] >= kChains / 3);
  CHECK(counts.size() == kFeatures);
  for (const auto& [name, number] : counts) CHECK_MESSAGE(number >= kChains / 50, name);
}

/// The plan of a chain; none: a kernel of it is not supported.
FusionPlan plan_of(const Graph& graph, const char* target) {
  CompileOptions options;
  options.target = target;
  auto compilation = compile_graph(graph, options);
  if (compilation) return std::move(compilation->plan);
  CHECK(take_error(compilation.takeError()).first == ErrorCode::unsupported);
  return {};
}

/// Whether a kernel computes an operand of a product.
bool computes_operand(const FusionPlan& plan) {
  return llvm::any_of(plan.groups, [](const Group& group) { return group.computed.has_value(); });
}

/// Whether stages of a kernel read values of its tiles.
bool reads_tiles(const FusionPlan& plan) {
  return llvm::any_of(plan.groups, [](const Group& group) {
    return llvm::any_of(parts_of(group), [](const Group* part) {
      return llvm::any_of(part->reads, [](const Read& read) { return read.tile.has_value(); });
    });
  });
}

} // namespace

TEST_CASE(
    "random chains: three in ten combine ops that fuse least easily, and no kind is missing") {
  check_distribution(ChainScale::small());
  check_distribution(ChainScale::large());
}

TEST_CASE("random chains: a third have a kernel with a product of a product") {
  constexpr int kChains = 300;
  for (const char* target : {"sm_80", "sm_90a"}) {
    int computing = 0, reading = 0;
    for (uint64_t seed = 0; seed < kChains; ++seed) {
      const FusionPlan plan = plan_of(random_chain(seed, ChainScale::small()).graph, target);
      computing += computes_operand(plan);
      reading += reads_tiles(plan);
    }
    MESSAGE(
        fmt::format("of {} chains {} for {}, {} read tiles", kChains, computing, target, reading));
    CHECK(computing >= kChains / 3);
    CHECK(reading >= kChains / 50);
  }
}

TEST_CASE("random chains: they print and parse back, and equal seeds are equal chains") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = print_graph(random_chain(seed, ChainScale::small()).graph);
    CHECK(print_graph(random_chain(seed, ChainScale::small()).graph) == text);
    CHECK(print_graph(llvm::cantFail(parse_graph(text, "chain"))) == text);
  }
}

TEST_CASE("random chains: the reduced chain fails as the whole one did") {
  const char* spec = R"(graph g(x: f32[4, 8]) {
    a = exp(x)
    b = tanh(a)
    return sqrt(b), relu(a)
  })";
  auto has = [](const Graph& graph, OpKind kind) {
    return llvm::any_of(graph.ops(), [&](const Op& op) { return op.kind == kind; });
  };
  // With tanh a mismatch; without it, an error of another cause. The reference refuses nothing.
  auto failure = [&](const Graph& graph) -> std::string {
    if (has(graph, OpKind::tanh)) return "values";
    return has(graph, OpKind::exp) ? failure_kind(ErrorCode::internal, "plan of 'g'") : "";
  };
  const Graph whole = llvm::cantFail(parse_graph(spec, "chain"));
  const Graph small = shrink(whole, failure);
  CHECK(failure(small) == "values");
  CHECK(small.outputs().size() == 1);
  CHECK(!has(small, OpKind::exp));
}

TEST_CASE("random chains: errors are of one kind whatever they name") {
  const std::string kind = failure_kind(ErrorCode::internal, "plan of 'g': 3 slots");
  CHECK(failure_kind(ErrorCode::internal, "plan of 'other': 4 slots") == kind);
  CHECK(failure_kind(ErrorCode::internal, "a planned kernel is not legal: a rule") != kind);
  CHECK(failure_kind(ErrorCode::launch_error, "plan of 'g': 3 slots") != kind);
}
