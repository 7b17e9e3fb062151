// SPDX-License-Identifier: Apache-2.0
// Drops ops that no output needs. Inputs stay, because they are the graph's signature.
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// For each op, whether an output needs it.
std::vector<bool> find_live_ops(const Graph& graph) {
  std::vector<bool> live(graph.ops().size(), false);
  for (const GraphOutput& output : graph.outputs()) {
    live[graph.value(output.value).op.index] = true;
  }
  for (size_t index = graph.ops().size(); index-- > 0;) {
    if (!live[index]) continue;
    for (ValueId operand : graph.ops()[index].operands) {
      live[graph.value(operand).op.index] = true;
    }
  }
  return live;
}

} // namespace

Graph remove_dead_code(const Graph& graph, const PassContext&) {
  std::vector<bool> live = find_live_ops(graph);
  GraphRewriter rewriter(graph);
  for (uint32_t index = 0; index < graph.ops().size(); ++index) {
    if (live[index] || graph.ops()[index].kind == OpKind::input) rewriter.copy(OpId{index});
  }
  return rewriter.finish();
}

} // namespace ingot
