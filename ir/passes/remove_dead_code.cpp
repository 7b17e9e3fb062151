// SPDX-License-Identifier: Apache-2.0
// Drops ops that no output needs. Inputs stay, because they are the graph's signature.
#include "ir/passes/dataflow.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {

llvm::Expected<Graph> remove_dead_code(const Graph& graph, const PassContext&) {
  std::vector<bool> live = find_live_ops(graph);
  GraphRewriter rewriter(graph);
  for (uint32_t index = 0; index < graph.ops().size(); ++index) {
    if (live[index] || graph.ops()[index].kind == OpKind::input) rewriter.copy(OpId{index});
  }
  return rewriter.finish();
}

} // namespace ingot
