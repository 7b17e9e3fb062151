// SPDX-License-Identifier: Apache-2.0
// Replaces values that are the same number for every finite input. Only these rules may turn a
// computed value into a constant.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) {
  auto number = [&](double value) -> Replacement {
    return {
        rewriter.broadcast(rewriter.constant(candidate.type.dtype, value), candidate.type.shape)};
  };
  auto operand_is = [&](unsigned position, double value) {
    std::optional<double> real = splat_real(rewriter.graph(), candidate.operands[position]);
    return real && *real == value;
  };
  switch (candidate.kind()) {
  case OpKind::sub:
    return candidate.operands[0] == candidate.operands[1] ? number(0) : Replacement{};
  case OpKind::mul: return operand_is(0, 0) || operand_is(1, 0) ? number(0) : Replacement{};
  case OpKind::pow: return operand_is(1, 0) ? number(1) : Replacement{};
  case OpKind::is_nan:
  case OpKind::is_inf: return number(0);
  default: return {};
  }
}

} // namespace

Graph simplify_finite(const Graph& graph, const PassContext&) { return rewrite(graph, simplify); }

} // namespace ingot
