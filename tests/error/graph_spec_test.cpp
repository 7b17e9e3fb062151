// SPDX-License-Identifier: Apache-2.0
// The diagnostics of wrong graph specs: tests/error/graph_specs.txt holds the specs, the golden
// file each spec with its diagnostic.
#include "ir/text/parser.h"
#include "tests/support/golden.h"

#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("wrong graph specs get the diagnostics of the golden file") {
  auto file = llvm::MemoryBuffer::getFile(INGOT_SOURCE_DIR "/tests/error/graph_specs.txt");
  REQUIRE(file);
  std::string result;
  for (llvm::StringRef rest = (*file)->getBuffer(); !rest.empty();) {
    auto [spec, others] = rest.split("=====\n");
    rest = others;
    auto graph = parse_graph(spec, "spec.ingot");
    CHECK_MESSAGE(!graph, spec.str());
    if (graph) continue;
    auto [code, message] = take_error(graph.takeError());
    CHECK((code == ErrorCode::parse_error || code == ErrorCode::type_error));
    CHECK(llvm::StringRef(message).starts_with("spec.ingot:"));
    result += spec.str() + "-----\n" + message + "\n=====\n";
  }
  testing::check_golden("graph_spec_errors.txt", result);
}
