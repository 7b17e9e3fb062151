// SPDX-License-Identifier: Apache-2.0
// Chains as users of PyTorch type them (tests/chains_as_typed): each parses without a warning, and
// becomes kernels.
#include "ir/text/parser.h"
#include "src/compiler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("chains as they are typed parse, verify and plan") {
  size_t count = 0;
  std::error_code error;
  const std::string folder = std::string(INGOT_SOURCE_DIR) + "/tests/chains_as_typed";
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = llvm::sys::path::filename(entry->path()).str();
    CAPTURE(name);
    auto text = llvm::MemoryBuffer::getFile(entry->path());
    REQUIRE(bool(text));
    std::vector<std::string> warnings;
    auto graph = parse_graph((*text)->getBuffer(), name, &warnings);
    if (!graph) {
      FAIL_CHECK(take_error(graph.takeError()).second);
      continue;
    }
    for (const std::string& warning : warnings) FAIL_CHECK(warning);
    CHECK(!verify(*graph));
    auto compilation = compile_graph(std::move(*graph), {});
    if (!compilation) {
      FAIL_CHECK(take_error(compilation.takeError()).second);
      continue;
    }
    CHECK(!compilation->plan.groups.empty());
    ++count;
  }
  REQUIRE(!error);
  CHECK(count >= 15);
}
