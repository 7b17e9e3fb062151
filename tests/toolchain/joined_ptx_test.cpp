// SPDX-License-Identifier: Apache-2.0
// The variants of a module compile apart for PTX. An assembler takes the joined parts only if they
// define different names.
#include "codegen/program/device_headers.h"
#include "ir/text/parser.h"
#include "runtime/nvrtc.h"
#include "src/compiler.h"
#include "src/emission.h"
#include "src/support/error.h"
#include "tests/support/skip.h"

#include "llvm/Support/Regex.h"

#include <doctest/doctest.h>

#include <set>

using namespace ingot;

TEST_CASE("joined ptx: no name is defined twice, and the head stands once") {
  auto nvrtc = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
  if (auto path = nvrtc->path(); !path) INGOT_SKIP(take_error(path.takeError()).second);
  CompileService service({.headers = device_headers(), .compiler = nvrtc});
  auto graph = parse_graph(
      "graph g(x: f32[64, 128], w: f32[128, 128]) { return softmax(linear(x, w)) }", "g.ingot");
  REQUIRE_MESSAGE(bool(graph), take_error(graph.takeError()).second);
  auto compilation = compile_graph(std::move(*graph), {});
  REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
  auto code = emit_code(compilation->module, CodeKind::ptx, service);
  REQUIRE_MESSAGE(bool(code), take_error(code.takeError()).second);

  llvm::Regex definition("^\\.(visible|weak|extern|global|const|func).* "
                         "(_Z[A-Za-z0-9_]+|[a-z_]+_[0-9a-f]+_v[0-9]+)");
  std::set<llvm::StringRef> names;
  size_t entries = 0, versions = 0;
  for (llvm::StringRef rest = code->bytes, line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    versions += line.starts_with(".version");
    entries += line.contains(".entry");
    llvm::SmallVector<llvm::StringRef, 3> match;
    if (!definition.match(line, &match)) continue;
    CHECK_MESSAGE(names.insert(match[2]).second, match[2].str());
  }
  CHECK(versions == 1);
  CHECK(entries == variants_of(compilation->module).size());
  CHECK(names.size() > entries); // there are definitions besides the entries
}
