// SPDX-License-Identifier: Apache-2.0
// See op_orders.h.
#include "ir/fusion/op_orders.h"

#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The ops that `outputs` need: those of the first output, then the additional ones of each next
/// output.
std::vector<OpId> following(const Graph& graph, llvm::ArrayRef<ValueId> outputs) {
  std::vector<OpId> order;
  std::vector<bool> seen(graph.ops().size(), false);
  std::vector<std::pair<OpId, size_t>> open; // and the number of its operands that were visited
  auto visit = [&](ValueId value) {
    const OpId op = graph.value(value).op;
    if (!seen[op.index]) open.emplace_back(op, 0);
    seen[op.index] = true;
  };
  for (ValueId output : outputs) {
    visit(output);
    while (!open.empty()) {
      auto& [op, next] = open.back();
      if (next < graph.op(op).operands.size()) {
        visit(graph.op(op).operands[next++]);
      } else {
        order.push_back(op);
        open.pop_back();
      }
    }
  }
  return order;
}

} // namespace

std::vector<OpId> order_written(const Graph& graph) {
  std::vector<OpId> order;
  for (uint32_t index = 0; index < graph.ops().size(); ++index) order.push_back(OpId{index});
  return order;
}

std::vector<std::vector<OpId>> orders_by_output(const Graph& graph) {
  const std::vector<uint64_t> hashes = hash_definitions(graph);
  std::vector<ValueId> outputs;
  for (const GraphOutput& output : graph.outputs()) outputs.push_back(output.value);
  llvm::stable_sort(outputs,
                    [&](ValueId a, ValueId b) { return hashes[a.index] < hashes[b.index]; });
  std::vector<OpId> first = following(graph, outputs);
  std::reverse(outputs.begin(), outputs.end());
  return {std::move(first), following(graph, outputs)};
}

} // namespace ingot
