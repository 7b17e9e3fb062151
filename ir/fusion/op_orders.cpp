// SPDX-License-Identifier: Apache-2.0
// See op_orders.h.
#include "ir/fusion/op_orders.h"

#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The ops that `outputs` need: those of the first, then what more the next one needs.
std::vector<OpId> following(const Graph& graph, llvm::ArrayRef<ValueId> outputs) {
  std::vector<OpId> order;
  std::vector<bool> seen(graph.ops().size(), false);
  std::vector<std::pair<OpId, size_t>> open; // and how many of its operands had their turn
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

std::vector<std::vector<OpId>> orders_of_ops(const Graph& graph) {
  std::vector<OpId> written;
  for (uint32_t index = 0; index < graph.ops().size(); ++index) written.push_back(OpId{index});
  std::vector<std::vector<OpId>> orders = {std::move(written)};
  const std::vector<uint64_t> hashes = hash_definitions(graph);
  std::vector<ValueId> outputs;
  for (const GraphOutput& output : graph.outputs()) outputs.push_back(output.value);
  llvm::stable_sort(outputs,
                    [&](ValueId a, ValueId b) { return hashes[a.index] < hashes[b.index]; });
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<OpId> order = following(graph, outputs);
    if (!llvm::is_contained(orders, order)) orders.push_back(std::move(order));
    std::reverse(outputs.begin(), outputs.end());
  }
  return orders;
}

} // namespace ingot
