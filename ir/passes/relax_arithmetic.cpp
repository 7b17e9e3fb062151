// SPDX-License-Identifier: Apache-2.0
// Identities of single elementwise ops that may change the sign of a zero or the last bit.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// Drops the zero of x + 0.0.
Replacement drop_zero(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::add) return {};
  for (unsigned side : {0u, 1u})
    if (is_real(rewriter.graph(), candidate.operands[side], 0.0))
      return {rewriter.broadcast(candidate.operands[1 - side], candidate.type.shape)};
  return {};
}

/// Rewrites 0 - x to -x.
Replacement subtract_from_zero(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::sub) return {};
  std::optional<double> number = splat_real(rewriter.graph(), candidate.operands[0]);
  if (!number || *number != 0) return {};
  ValueId negated = rewriter.make(OpKind::neg, {candidate.operands[1]});
  return {rewriter.broadcast(negated, candidate.type.shape)};
}

/// Rewrites -(a - b) to b - a.
Replacement negate_difference(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (candidate.kind() != OpKind::neg || rewriter.kind(operand) != OpKind::sub) return {};
  ValueId a = rewriter.operand(operand, 0), b = rewriter.operand(operand, 1);
  return {rewriter.make(OpKind::sub, {b, a})};
}

/// Replaces powers by an op of their own. The error of pow is up to eight units in the last place.
Replacement simplify_power(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::pow) return {};
  ValueId x = candidate.operands[0];
  std::optional<double> exponent = splat_real(rewriter.graph(), candidate.operands[1]);
  if (!exponent) return {};
  auto with = [&](ValueId value) -> Replacement {
    return {rewriter.broadcast(value, candidate.type.shape)};
  };
  if (*exponent == 1) return with(x);
  if (*exponent == 2) return with(rewriter.make(OpKind::mul, {x, x}));
  if (*exponent == 3)
    return with(rewriter.make(OpKind::mul, {rewriter.make(OpKind::mul, {x, x}), x}));
  if (*exponent == 0.5) return with(rewriter.make(OpKind::sqrt, {x}));
  if (*exponent == -0.5) return with(rewriter.make(OpKind::rsqrt, {x}));
  if (*exponent == -1) return with(rewriter.make(OpKind::reciprocal, {x}));
  return {};
}

} // namespace

Graph relax_arithmetic(const Graph& graph, const PassContext&) {
  return rewrite(graph, [](GraphRewriter& rewriter, const Candidate& candidate) {
    return first_match({drop_zero, subtract_from_zero, negate_difference, simplify_power}, rewriter,
                       candidate);
  });
}

} // namespace ingot
