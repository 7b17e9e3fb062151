// SPDX-License-Identifier: Apache-2.0
// Identities of single elementwise ops that may change the sign of a zero or the last bit.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/ranges.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

Replacement shaped_like(GraphRewriter& rewriter, const Candidate& candidate, ValueId value) {
  return {rewriter.broadcast(value, rewriter.source().type(candidate.op.results[0]).shape)};
}

/// x + 0.0
Replacement drop_zero(GraphRewriter& rewriter, const Candidate& candidate) {
  for (unsigned side : {0u, 1u}) {
    if (candidate.kind() == OpKind::add &&
        is_real(rewriter.graph(), candidate.operands[side], 0.0)) {
      return shaped_like(rewriter, candidate, candidate.operands[1 - side]);
    }
  }
  return {};
}

/// 0 - x
Replacement subtract_from_zero(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::sub) return {};
  std::optional<double> number = splat_real(rewriter.graph(), candidate.operands[0]);
  if (!number || *number != 0) return {};
  ValueId negated = rewriter.make(OpKind::neg, {candidate.operands[1]});
  return shaped_like(rewriter, candidate, negated);
}

/// -(a - b)
Replacement negate_difference(GraphRewriter& rewriter, const Candidate& candidate) {
  ValueId operand = candidate.operands[0];
  if (candidate.kind() != OpKind::neg || rewriter.kind(operand) != OpKind::sub) return {};
  ValueId a = rewriter.operand(operand, 0), b = rewriter.operand(operand, 1);
  return {rewriter.make(OpKind::sub, {b, a})};
}

/// Powers that have an op of their own; pow itself is off by up to eight units in the last place.
Replacement simplify_power(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::pow) return {};
  ValueId x = candidate.operands[0];
  std::optional<double> exponent = splat_real(rewriter.graph(), candidate.operands[1]);
  if (!exponent) return {};
  auto with = [&](ValueId value) { return shaped_like(rewriter, candidate, value); };
  if (*exponent == 1) return with(x);
  if (*exponent == 2) return with(rewriter.make(OpKind::mul, {x, x}));
  if (*exponent == 3) {
    return with(rewriter.make(OpKind::mul, {rewriter.make(OpKind::mul, {x, x}), x}));
  }
  if (*exponent == 0.5) return with(rewriter.make(OpKind::sqrt, {x}));
  if (*exponent == -0.5) return with(rewriter.make(OpKind::rsqrt, {x}));
  if (*exponent == -1) return with(rewriter.make(OpKind::reciprocal, {x}));
  return {};
}

/// 1 / value neither overflows nor loses bits as a subnormal, unless it is 0.
bool has_normal_reciprocal(const Graph& graph, ValueId value, const std::vector<Range>& ranges) {
  const Range& range = ranges[value.index];
  constexpr double kLarge = 0x1p100;
  if (range.low < 1 / kLarge) return false;
  // The root of a finite f32 is below 2^64.
  return range.high <= kLarge || graph.producer(value).kind == OpKind::sqrt;
}

/// x / broadcast(y) is x * broadcast(1 / y): a division for each y instead of each x.
Replacement invert_divisor(GraphRewriter& rewriter, const Candidate& candidate,
                           const std::vector<Range>& ranges) {
  if (candidate.kind() != OpKind::div ||
      rewriter.kind(candidate.operands[1]) != OpKind::broadcast) {
    return {};
  }
  const Graph& source = rewriter.source();
  const Op& broadcast = source.producer(candidate.source_operand(1));
  if (broadcast.kind != OpKind::broadcast) return {};
  ValueId divisor = broadcast.operands[0];
  while (source.producer(divisor).kind == OpKind::reshape) {
    divisor = source.producer(divisor).operands[0];
  }
  if (!has_normal_reciprocal(source, divisor, ranges)) return {};
  ValueId inverse = rewriter.make(OpKind::reciprocal, {rewriter.operand(candidate.operands[1])});
  const Shape& shape = source.type(candidate.op.results[0]).shape;
  return {rewriter.make(OpKind::mul, {candidate.operands[0], rewriter.broadcast(inverse, shape)})};
}

} // namespace

llvm::Expected<Graph> relax_arithmetic(const Graph& graph, const PassContext&) {
  std::vector<Range> ranges = find_ranges(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) {
    Replacement result = first_match(
        {drop_zero, subtract_from_zero, negate_difference, simplify_power}, rewriter, candidate);
    return result.empty() ? invert_divisor(rewriter, candidate, ranges) : result;
  });
}

} // namespace ingot
