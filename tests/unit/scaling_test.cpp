// SPDX-License-Identifier: Apache-2.0
// The work of a compile grows with the graph and no faster: rounds of passes are counted, the time
// of the processor is compared between graphs of N ops and of 4 N.
#include "ir/passes/passes.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "tests/support/equivalence.h"

#include <doctest/doctest.h>

#include <ctime>

using namespace ingot;

namespace {

/// A generator of its own, so that every machine draws the same graphs.
class Draw {
public:
  size_t below(size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % limit;
  }

private:
  uint64_t state_ = 20;
};

/// `statement(draw, name)` gives each value of a value before it.
template <typename Statement> Graph make_graph(int ops, Statement statement) {
  Draw draw;
  std::string spec = "graph g(h0: f32[64, 128], b: f32[128]) {\n";
  for (int i = 1; i <= ops; ++i) {
    const auto earlier = [&](size_t reach) {
      return "h" + std::to_string(i - 1 - draw.below(std::min<size_t>(reach, i)));
    };
    spec += fmt::format("  h{} = {}\n", i, statement(draw, earlier));
  }
  return llvm::cantFail(parse_graph(fmt::format("{}  return h{}\n}}\n", spec, ops), "test"));
}

/// Sums of values near each other, whose operands get an order.
Graph sums(int ops) {
  return make_graph(ops, [](Draw& draw, auto earlier) {
    const char* const functions[] = {"relu", "tanh", "sigmoid", "abs"};
    if (draw.below(3) == 0) {
      const std::string left = earlier(3);
      return left + " + " + earlier(50);
    }
    const std::string function = functions[draw.below(4)];
    return function + "(" + earlier(3) + ")";
  });
}

Graph softmaxes(int ops) {
  return make_graph(ops, [](Draw&, auto earlier) { return "softmax(" + earlier(1) + ")"; });
}

/// Rounds in which a pass changed something.
int rounds(Graph graph) {
  int last = 0;
  llvm::cantFail(run_passes(std::move(graph), PassContext{},
                            [&](const PassReport& report) { last = report.round + 1; }));
  return last;
}

double seconds_of_compile(const Graph& graph) {
  const std::clock_t start = std::clock();
  REQUIRE(bool(compile_graph(graph, {})));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

} // namespace

TEST_CASE("a graph of four times the ops takes no more rounds of passes") {
  const int few = rounds(sums(1000)), many = rounds(sums(4000));
  CAPTURE(few);
  CAPTURE(many);
  CHECK(many <= 3);
  CHECK(many <= few + 1);
}

TEST_CASE("a graph of four times the ops takes no more than eight times the time") {
  for (Graph (*make)(int) : {sums, softmaxes}) {
    const int count = make == sums ? 1000 : 150; // enough for clock()
    const double few = seconds_of_compile(make(count)), many = seconds_of_compile(make(4 * count));
    CAPTURE(few);
    CAPTURE(many);
    CHECK(many < 8 * few + 0.05);
  }
}

TEST_CASE("passes that change nothing copy nothing that could differ") {
  const Graph graph = sums(300);
  const Graph once = llvm::cantFail(run_passes(graph, PassContext{}));
  int changes = 0;
  const Graph twice =
      llvm::cantFail(run_passes(once, PassContext{}, [&](const PassReport&) { ++changes; }));
  CHECK(changes == 0);
  CHECK(equivalent(once, twice));
}
