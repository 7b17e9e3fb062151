// SPDX-License-Identifier: Apache-2.0
// Where buffers lie in workspace: behind each other at any size, and told in few words however many
// there are.
#include "ir/text/parser.h"
#include "src/compiler.h"

#include <doctest/doctest.h>

#include <set>

using namespace ingot;

TEST_CASE("lower: offsets of many buffers of named sizes stay short and apart") {
  std::string spec = "graph g(h: f32[m, 320], param w: f32[320, 320]) {\n";
  std::string last = "h";
  for (int layer = 0; layer < 40; ++layer) {
    spec += fmt::format("  h{0} = relu(layer_norm(linear({1}, w)) + {1})\n", layer, last);
    last = fmt::format("h{}", layer);
  }
  auto compilation =
      compile_graph(llvm::cantFail(parse_graph(spec + "  return " + last + " }", "test")), {});
  REQUIRE(bool(compilation));
  auto bytes_at = [](const Expr& e, int64_t m) {
    return *e.evaluate([&](llvm::StringRef) { return m; });
  };
  std::set<std::string> texts;
  std::set<int64_t> offsets;
  for (const KernelCode& kernel : compilation->module.kernels)
    for (const Argument& argument : kernel.variants.front().arguments)
      if (argument.kind == ArgumentKind::workspace) {
        CHECK(argument.offset.text().size() < 200);
        texts.insert(argument.offset.text());
        offsets.insert(bytes_at(argument.offset, 1000));
      }
  REQUIRE(texts.size() > 10);
  CHECK(offsets.size() == texts.size());
  int64_t end = 0;
  for (int64_t offset : offsets) {
    CHECK(offset % 256 == 0);
    CHECK((end == 0 || offset - end >= 1000 * 4)); // one number a row at least
    end = offset;
  }
  CHECK(end < bytes_at(compilation->module.workspace.bytes, 1000));
}
