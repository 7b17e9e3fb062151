// SPDX-License-Identifier: Apache-2.0
// Moves factors that the reduced elements share behind a sum or mean: sum(x / norm * y) becomes
// sum(x * y) / norm. The sum then waits for no other reduction, such as that of the norm, and fewer
// elements are divided.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/reduction_axes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <vector>

namespace ingot {
namespace {

/// A value of the new graph that multiplies or divides a product.
struct Factor {
  ValueId value;
  bool divides;
};

class Factors {
public:
  Factors(GraphRewriter& rewriter, const Candidate& candidate)
      : rewriter_(rewriter), candidate_(candidate) {
    collect(candidate.source_operand(), false, 0);
  }

  /// The reduction of the factors that vary, times the shared ones. None if there is no shared
  /// factor, or if no tensor that varies is multiplied: nothing is made then.
  Replacement hoisted() {
    const auto multiplies = [&](const Factor& factor) {
      return !factor.divides && rewriter_.type(factor.value).rank() > 0;
    };
    const auto first = llvm::find_if(varying_, multiplies);
    if (shared_.empty() || first == varying_.end()) return {};
    std::rotate(varying_.begin(), first, first + 1);
    ValueId product = varying_.front().value;
    for (const Factor& factor : llvm::drop_begin(varying_)) product = times(product, factor);
    ValueId result = rewriter_.make(candidate_.kind(), {product}, candidate_.op.attributes);
    for (const Factor& factor : shared_)
      result = times(result, {of_results(factor.value), factor.divides});
    return {result};
  }

private:
  /// The maximum depth of a product. It bounds the search.
  static constexpr int kMaxDepth = 16;

  void collect(ValueId source, bool divides, int depth) {
    const Op& op = rewriter_.source().producer(source);
    const bool is_product = op.kind == OpKind::mul || op.kind == OpKind::div;
    if (is_product && depth < kMaxDepth && rewriter_.source_uses(source) == 1) {
      collect(op.operands[0], divides, depth + 1);
      collect(op.operands[1], divides != (op.kind == OpKind::div), depth + 1);
      return;
    }
    const ValueId value = rewriter_.mapped(source);
    (is_shared(value) ? shared_ : varying_).push_back({value, divides});
  }

  /// Whether all elements of `value` that are reduced to one result are the same. Numbers do not
  /// count: merge_reductions looks at their size before it moves them.
  bool is_shared(ValueId value) const {
    return rewriter_.kind(value) == OpKind::broadcast &&
           without_repeats(rewriter_, value, reduced_axes(candidate_.op)).axes.empty();
  }

  /// The element of a shared factor for each result.
  ValueId of_results(ValueId factor) {
    const Unrepeated one = without_repeats(rewriter_, factor, reduced_axes(candidate_.op));
    return rewriter_.broadcast(rewriter_.reshape(one.value, one.shape), candidate_.type.shape);
  }

  ValueId times(ValueId product, const Factor& factor) {
    return rewriter_.make(factor.divides ? OpKind::div : OpKind::mul, {product, factor.value});
  }

  GraphRewriter& rewriter_;
  const Candidate& candidate_;
  std::vector<Factor> varying_, shared_;
};

/// f16 has so small a range that a sum may overflow where the scaled one does not.
bool may_grow(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

} // namespace

Graph hoist_factors(const Graph& graph, const PassContext&) {
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (!info(candidate.kind()).is_linear() || !may_grow(candidate.type.dtype) ||
        may_reduce_nothing(graph, candidate.op))
      return {};
    return Factors(rewriter, candidate).hoisted();
  });
}

} // namespace ingot
