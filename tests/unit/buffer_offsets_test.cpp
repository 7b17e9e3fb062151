// SPDX-License-Identifier: Apache-2.0
// Where buffers lie in workspace: those that are needed at the same time apart at any size, others
// where there is room, and told in few words however many there are.
#include "codegen/workspace_layout.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace ingot;

namespace {

struct Use {
  Expr bytes;
  size_t first, last;
};

int64_t at(const Expr& e, int64_t m) {
  return *e.evaluate([&](llvm::StringRef) { return m; });
}

/// Places the buffers, and checks that no two that are needed at one step overlap.
WorkspaceLayout placed(const std::vector<Use>& uses) {
  WorkspaceLayout layout(256);
  for (const Use& use : uses) {
    const uint32_t number = layout.add(use.bytes);
    layout.use(number, use.last);
    layout.use(number, use.first);
  }
  layout.place();
  for (int64_t m : {1, 77, 5000})
    for (uint32_t i = 0; i < uses.size(); ++i) {
      const int64_t begin = at(layout.offset(i), m), end = begin + at(uses[i].bytes, m);
      CHECK(begin % 256 == 0);
      CHECK(end <= at(layout.bytes(), m));
      for (uint32_t j = 0; j < i; ++j) {
        const int64_t other = at(layout.offset(j), m), other_end = other + at(uses[j].bytes, m);
        const bool together = uses[i].first <= uses[j].last && uses[j].first <= uses[i].last;
        CHECK((!together || end <= other || other_end <= begin));
      }
    }
  return layout;
}

} // namespace

TEST_CASE("workspace: buffers of any sizes and times are apart while they are needed") {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int64_t>(random() % n); };
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<Use> uses;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<size_t>(below(30));
      const Expr fixed = 1 + below(100000);
      const Expr bytes = below(3) == 0 ? Expr::symbol("m") * (4 << below(3)) : fixed;
      uses.push_back({bytes, first, first + static_cast<size_t>(below(6))});
    }
    placed(uses);
  }
}

TEST_CASE("workspace: a chain of equal buffers needs the memory of two") {
  for (const Expr& bytes : {Expr(4096), Expr::symbol("m") * 256}) {
    std::vector<Use> uses;
    for (size_t step = 0; step < 100; ++step) uses.push_back({bytes, step, step + 1});
    CHECK(at(placed(uses).bytes(), 10) == 2 * at(bytes, 10));
  }
}

TEST_CASE("workspace: gaps are joined, and the last one grows") {
  // Two small buffers lie side by side; a large one takes the memory of both, and more.
  const WorkspaceLayout layout = placed({{256, 0, 0}, {256, 0, 0}, {1024, 1, 1}, {512, 2, 2}});
  CHECK(at(layout.bytes(), 1) == 1024);
}

TEST_CASE("workspace: a buffer that no step uses has memory of its own") {
  WorkspaceLayout layout(256);
  const uint32_t unused = layout.add(100), used = layout.add(100);
  layout.use(used, 3);
  layout.place();
  CHECK(layout.offset(unused) != layout.offset(used));
  CHECK(layout.covers(used, 3));
  CHECK(!layout.covers(used, 2));
}

TEST_CASE("lower: buffers of named sizes in a deep chain share memory, and are told in few words") {
  std::string spec = "graph g(h: f32[m, 320], param w: f32[320, 320]) {\n";
  std::string last = "h";
  for (int layer = 0; layer < 40; ++layer) {
    spec += fmt::format("  h{0} = relu(layer_norm(linear({1}, w)) + {1})\n", layer, last);
    last = fmt::format("h{}", layer);
  }
  auto compilation =
      compile_graph(llvm::cantFail(parse_graph(spec + "  return " + last + " }", "test")), {});
  REQUIRE(bool(compilation));
  std::set<std::string> texts;
  for (const KernelCode& kernel : compilation->module.kernels)
    for (const Argument& argument : kernel.variants.front().arguments)
      if (argument.kind == ArgumentKind::workspace) {
        CHECK(argument.offset.text().size() < 200);
        texts.insert(argument.offset.text());
      }
  CHECK(texts.size() > 1);
  CHECK(texts.size() < 10);
  CHECK(at(compilation->module.workspace.bytes, 1000) < 10 * 320 * 4 * 1000);
}
