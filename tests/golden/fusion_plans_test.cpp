// SPDX-License-Identifier: Apache-2.0
// The plans of examples/: kernels, reductions, reads and writes, and why kernels are apart.
#include "src/compiler.h"

#include "ir/text/parser.h"
#include "tests/support/golden.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("plans of the examples") {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(std::string(INGOT_SOURCE_DIR) + "/examples", error),
       end;
       !error && entry != end; entry.increment(error))
    if (llvm::sys::path::extension(entry->path()) == ".ingot") files.push_back(entry->path());
  REQUIRE(!error);
  llvm::sort(files);
  std::string text;
  for (const std::string& file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    REQUIRE(bool(buffer));
    auto graph = parse_graph((*buffer)->getBuffer(), file);
    REQUIRE(bool(graph));
    auto compilation = compile_graph(std::move(*graph), {});
    REQUIRE(bool(compilation));
    text += llvm::sys::path::filename(file).str() + "\n";
    text += text_of(compilation->plan, compilation->rewritten) + "\n";
  }
  testing::check_golden("fusion_plans.txt", text);
}
