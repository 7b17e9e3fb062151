// SPDX-License-Identifier: Apache-2.0
// Random chains, fused and emulated, against the f64 reference. INGOT_FUZZ_SEED moves on to other
// chains; a failure names its seed and prints a spec that `ingot check` takes.
#include "codegen/schedule/choosers.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/emulation/cases.h"
#include "tests/support/random_chains.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr uint64_t kChains = 25; ///< of one test case, compiled together

uint64_t first_seed() {
  const char* text = std::getenv("INGOT_FUZZ_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

MatmulPrecision precision_of(uint64_t seed) {
  return all_matmul_precisions()[seed % all_matmul_precisions().size()];
}

/// In turns, so that each family has every precision.
std::string target_of(uint64_t seed) { return seed / 4 % 2 == 0 ? "sm_80" : "sm_90a"; }

llvm::Expected<Compilation> compiled(const Graph& graph, uint64_t seed) {
  CompileOptions options;
  options.precision = precision_of(seed);
  options.target = target_of(seed);
  return compile_graph(graph, options);
}

/// A schedule by wgmma of a first kernel that computes an operand: each in turn. Small products
/// have others, because these start more slowly.
ScheduleChoice choice_of(const Compilation& compilation, uint64_t seed) {
  if (compilation.plan.groups.empty() || !compilation.plan.groups.front().computed) return {};
  const ScheduleSite site = schedule_site(compilation, 0);
  const auto candidates = nested_candidates(site, compilation.schedules.front());
  if (candidates.empty()) return {};
  ScheduleChoice choice = ingot::choice_of(candidates[seed / 8 % candidates.size()].front());
  choice.cluster = 0;
  return choice;
}

Case case_of(const Graph& graph, const DimBindings& sizes, uint64_t seed) {
  Case result{print_graph(graph), {sizes}, precision_of(seed), Case::Depth::results};
  result.target = target_of(seed);
  if (auto compilation = compiled(graph, seed))
    result.choice = choice_of(*compilation, seed);
  else
    llvm::consumeError(compilation.takeError());
  return result;
}

/// True for a chain that this version plans kernels for; else its refusal must be a clear one.
bool has_kernels(const Graph& graph, uint64_t seed) {
  auto compilation = compiled(graph, seed);
  if (compilation) return true;
  auto [code, text] = take_error(compilation.takeError());
  CHECK_MESSAGE(code == ErrorCode::unsupported, text, "\n", print_graph(graph));
  return false;
}

void check_chains(uint64_t first) {
  std::vector<Case> cases;
  std::vector<uint64_t> seeds;
  for (uint64_t seed = first; cases.size() < kChains; ++seed) {
    testing::RandomChain chain = testing::random_chain(seed, testing::ChainScale::small());
    if (!has_kernels(chain.graph, seed)) continue;
    cases.push_back(case_of(chain.graph, chain.sizes, seed));
    seeds.push_back(seed);
  }
  if (check_cases(cases).empty()) return;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string problem = check_cases({cases[i]});
    if (problem.empty()) continue;
    const testing::RandomChain chain =
        testing::random_chain(seeds[i], testing::ChainScale::small());
    const Graph small = testing::shrink(chain.graph, [&](const Graph& graph) {
      return failure_of(case_of(graph, chain.sizes, seeds[i]));
    });
    FAIL_CHECK("seed ", seeds[i], ", ", target_of(seeds[i]), ", ",
               spelling(cases[i].precision).str(), ", ", cases[i].choice.text(), ": ",
               check_cases({case_of(small, chain.sizes, seeds[i])}));
  }
}

} // namespace

// Cases of their own, so that they run side by side.
TEST_CASE("emulation: random chains 1") { check_chains(1000 * first_seed()); }
TEST_CASE("emulation: random chains 2") { check_chains(1000 * first_seed() + 100); }
TEST_CASE("emulation: random chains 3") { check_chains(1000 * first_seed() + 200); }
TEST_CASE("emulation: random chains 4") { check_chains(1000 * first_seed() + 300); }
TEST_CASE("emulation: random chains 5") { check_chains(1000 * first_seed() + 400); }
TEST_CASE("emulation: random chains 6") { check_chains(1000 * first_seed() + 500); }
TEST_CASE("emulation: random chains 7") { check_chains(1000 * first_seed() + 600); }
TEST_CASE("emulation: random chains 8") { check_chains(1000 * first_seed() + 700); }
