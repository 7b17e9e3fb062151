// SPDX-License-Identifier: Apache-2.0
// Replaces compositions of slow functions by cheap ones. They are equal in real arithmetic and as
// accurate in f32, but do not keep the same bits.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// tanh(log1p(exp(x))) = n / (n + 2) with e = exp(x), n = e * (e + 2): one exponential and one
/// division instead of three functions. x is limited to 20, where the result is 1 in f32; a larger
/// exp would overflow to Inf / Inf. NaN passes through.
Replacement expand_tanh_of_softplus(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::tanh) return {};
  const ValueId softplus = candidate.operands[0];
  if (rewriter.kind(softplus) != OpKind::log1p) return {};
  const ValueId exponential = rewriter.operand(softplus);
  if (rewriter.kind(exponential) != OpKind::exp) return {};
  const ValueId x = rewriter.operand(exponential);
  const DType dtype = rewriter.type(x).dtype;
  const ValueId two = rewriter.constant(dtype, 2);
  const ValueId cut = rewriter.make(OpKind::minimum, {x, rewriter.constant(dtype, 20)});
  const ValueId e = rewriter.make(OpKind::exp, {cut});
  const ValueId n = rewriter.make(OpKind::mul, {e, rewriter.make(OpKind::add, {e, two})});
  return {rewriter.make(OpKind::div, {n, rewriter.make(OpKind::add, {n, two})})};
}

} // namespace

Graph expand_functions(const Graph& graph, const PassContext&) {
  return rewrite(graph, expand_tanh_of_softplus);
}

} // namespace ingot
