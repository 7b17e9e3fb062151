// SPDX-License-Identifier: Apache-2.0
// Rewrites a transposed product whose rows, but not columns, are reduced to the product of the
// transposes. A row of a product lies in one tile, a column in several.
#include "ir/passes/dataflow.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include <set>

namespace ingot {
namespace {

/// Whether reductions of `value`, behind elementwise ops, run along its last axis and never along
/// the one before, and no other op rearranges it.
bool reduces_rows_alone(const Graph& graph, const std::vector<std::vector<OpId>>& users,
                        ValueId value) {
  const int64_t last = graph.type(value).rank() - 1;
  bool reduces = false;
  std::set<ValueId> seen = {value};
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    for (OpId user : users[next.index]) {
      const Op& op = graph.op(user);
      switch (info(op.kind).op_class) {
      case OpClass::elementwise:
        if (seen.insert(op.results[0]).second) open.push_back(op.results[0]);
        break;
      case OpClass::reduce: {
        const auto& axes = graph.attributes<ReduceAttributes>(op).axes;
        if (llvm::is_contained(axes, last - 1)) return false;
        reduces |= llvm::is_contained(axes, last);
        break;
      }
      default: return false;
      }
    }
  }
  return reduces;
}

} // namespace

Graph transpose_products(const Graph& graph, const PassContext&) {
  const auto users = users_of_values(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (candidate.kind() != OpKind::transpose) return {};
    const Op product = rewriter.producer(candidate.operands[0]);
    if (product.kind != OpKind::matmul || rewriter.source_uses(candidate.source_operand()) != 1 ||
        !swaps_matrix(candidate.attributes<TransposeAttributes>().permutation) ||
        !reduces_rows_alone(graph, users, candidate.op.results[0]))
      return {};
    const auto& flags = std::get<MatmulAttributes>(product.attributes);
    return {rewriter.make(OpKind::matmul, {product.operands[1], product.operands[0]},
                          MatmulAttributes{!flags.transpose_b, !flags.transpose_a})};
  });
}

} // namespace ingot
