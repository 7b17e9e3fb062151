// SPDX-License-Identifier: Apache-2.0
// Any bytes as a graph spec. A graph that parses must verify, print, and read back as the same.
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/support/equivalence.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ingot;
  auto graph = parse_graph({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!graph) {
    INGOT_ASSERT(!take_error(graph.takeError()).second.empty());
    return 0;
  }
  llvm::cantFail(verify(*graph));
  std::string text = print_graph(*graph);
  Graph again = llvm::cantFail(parse_graph(text, "printed"));
  INGOT_ASSERT(equivalent(*graph, again));
  INGOT_ASSERT(print_graph(again) == text);
  return 0;
}
