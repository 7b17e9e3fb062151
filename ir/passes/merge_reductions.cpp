// SPDX-License-Identifier: Apache-2.0
// Rewrites reductions and products so that fewer elements are reduced: several reductions become
// one, repeated elements are dropped, and multiplications by a number move behind the reduction.
// The results are equal in real arithmetic.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/reduction_axes.h"
#include "ir/passes/two_step_reductions.h"

#include <cmath>
#include <unordered_map>

namespace ingot {
namespace {

/// Whether a later multiplication by `factor` makes no partial result larger.
bool may_scale_later(double factor, MathMode math) {
  if (!std::isfinite(factor) || factor == 0) return false;
  return std::abs(factor) >= 1 || math == MathMode::finite;
}

/// The factor of a multiplication by a number.
std::optional<double> scale_of(const GraphRewriter& rewriter, ValueId value) {
  if (rewriter.kind(value) == OpKind::neg) return -1;
  if (rewriter.kind(value) != OpKind::mul) return std::nullopt;
  ValueId number = rewriter.operand(value, 1);
  if (rewriter.type(number).rank() != 0) return std::nullopt;
  return splat_real(rewriter.graph(), number);
}

ValueId scale(GraphRewriter& rewriter, ValueId value, double factor) {
  ValueId number = rewriter.constant(rewriter.type(value).dtype, factor);
  return rewriter.make(OpKind::mul, {value, number});
}

/// Rewrites sum(x * c) to c * sum(x).
Replacement scale_after_reduction(GraphRewriter& rewriter, const Candidate& candidate,
                                  MathMode math) {
  if (!info(candidate.kind()).is_linear()) return {};
  std::optional<double> factor = scale_of(rewriter, candidate.operands[0]);
  if (!factor || !may_scale_later(*factor, math) ||
      rewriter.source_uses(candidate.source_operand()) > 1) {
    return {};
  }
  ValueId x = rewriter.operand(candidate.operands[0]);
  return {scale(rewriter, rewriter.make(candidate.kind(), {x}, candidate.op.attributes), *factor)};
}

/// Rewrites (c * a) @ b to c * (a @ b), so that the matmul reads its operands as stored.
Replacement scale_after_matmul(GraphRewriter& rewriter, const Candidate& candidate, MathMode math) {
  if (candidate.kind() != OpKind::matmul) return {};
  for (unsigned side : {0u, 1u}) {
    std::optional<double> factor = scale_of(rewriter, candidate.operands[side]);
    if (!factor || !may_scale_later(*factor, math)) continue;
    auto operands = candidate.operands;
    operands[side] = rewriter.operand(operands[side]);
    return {
        scale(rewriter, rewriter.make(OpKind::matmul, operands, candidate.op.attributes), *factor)};
  }
  return {};
}

/// The mean of n equal elements is one of them; their sum is n times that.
Replacement drop_repeats(GraphRewriter& rewriter, const Candidate& candidate) {
  OpKind kind = candidate.kind();
  ValueId operand = candidate.operands[0];
  if (!info(kind).is_linear() || rewriter.kind(operand) != OpKind::broadcast) return {};
  Unrepeated x = without_repeats(rewriter, operand, reduced_axes(candidate.op));
  if (!x.repeats.is_fixed()) return {}; // unknown, and perhaps 0
  ValueId result = rewriter.reshape(x.value, x.shape);
  if (!x.axes.empty()) result = rewriter.make(kind, {result}, ReduceAttributes{x.axes});
  if (kind == OpKind::sum) {
    result = scale(rewriter, result, static_cast<double>(x.repeats.fixed()));
  }
  return {rewriter.broadcast(result, candidate.type.shape)};
}

/// The pair reductions of a graph, by operand. The first result of a pair is a reduction of one
/// result: a mean or a maximum.
class PairReductions {
public:
  explicit PairReductions(const Graph& graph) : graph_(graph) {
    for (const Op& op : graph.ops())
      if (op.kind == OpKind::moments || op.kind == OpKind::max_sumexp)
        ops_[op.operands[0].index].push_back(&op);
  }

  /// Rewrites mean(x) beside moments(x), and max(x) beside max_sumexp(x), to the pair's first
  /// result: one walk over x gives all. The pair is made again here, since its own place may be
  /// later. It is then a common subexpression.
  Replacement first_result(GraphRewriter& rewriter, const Candidate& candidate) const {
    const bool is_mean = candidate.kind() == OpKind::mean;
    if (!is_mean && candidate.kind() != OpKind::reduce_max) return {};
    const auto found = ops_.find(candidate.source_operand().index);
    if (found == ops_.end()) return {};
    for (const Op* op : found->second) {
      if (op->kind != (is_mean ? OpKind::moments : OpKind::max_sumexp) ||
          op->attributes != candidate.op.attributes ||
          graph_.type(op->results[0]) != candidate.type)
        continue;
      return {rewriter.make_all(op->kind, candidate.operands, op->attributes)[0]};
    }
    return {};
  }

private:
  const Graph& graph_;
  std::unordered_map<uint32_t, llvm::SmallVector<const Op*, 1>> ops_;
};

} // namespace

Graph merge_reductions(const Graph& graph, const PassContext& context) {
  const PairReductions pairs(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    Replacement result = pairs.first_result(rewriter, candidate);
    if (!result.empty()) return result;
    result = first_match({join_reductions, drop_repeats}, rewriter, candidate);
    if (result.empty()) result = scale_after_reduction(rewriter, candidate, context.math);
    if (result.empty()) result = scale_after_matmul(rewriter, candidate, context.math);
    return result;
  });
}

} // namespace ingot
