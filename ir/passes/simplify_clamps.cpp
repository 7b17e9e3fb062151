// SPDX-License-Identifier: Apache-2.0
// Joins chains of minimum and maximum with numbers into one clamp, min(max(x, low), high), and
// drops bounds that the value never reaches. NaN passes through every form in the same way.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/ranges.h"
#include "ir/passes/rewriter.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// A minimum or maximum of a value and a number.
struct Bound {
  OpKind kind;
  ValueId value;
  double number;
};

std::optional<Bound> match_bound(const GraphRewriter& rewriter, OpKind kind,
                                 llvm::ArrayRef<ValueId> operands) {
  if (kind != OpKind::minimum && kind != OpKind::maximum) return std::nullopt;
  if (rewriter.kind(operands[1]) != OpKind::constant) return std::nullopt;
  std::optional<double> real = splat_real(rewriter.graph(), operands[1]);
  if (!real || std::isnan(*real)) return std::nullopt;
  return Bound{kind, operands[0], *real};
}

double choose(OpKind kind, double a, double b) {
  return kind == OpKind::minimum ? std::min(a, b) : std::max(a, b);
}

class Clamps {
public:
  explicit Clamps(const Graph& graph) : ranges_(find_ranges(graph)) {}

  Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) const {
    auto outer = match_bound(rewriter, candidate.kind(), candidate.operands);
    if (!outer) return {};
    if (is_never_reached(*outer, candidate.source_operand()))
      return {rewriter.broadcast(outer->value, candidate.type.shape)};
    const Op& op = rewriter.producer(outer->value);
    std::optional<Bound> inner = match_bound(rewriter, op.kind, op.operands);
    // Zeros of different sign are equal in value but not in bits.
    if (!inner || (inner->number == 0 && outer->number == 0)) return {};
    if (inner->kind == outer->kind) {
      return {bound(rewriter, candidate.kind(), inner->value,
                    choose(candidate.kind(), inner->number, outer->number))};
    }
    if (outer->kind == OpKind::minimum || rewriter.source_uses(candidate.source_operand()) > 1) {
      return {};
    }
    // Rewrites max(min(x, high), low) to min(max(x, low), max(high, low)).
    ValueId raised = bound(rewriter, OpKind::maximum, inner->value, outer->number);
    return {bound(rewriter, OpKind::minimum, raised, std::max(inner->number, outer->number))};
  }

private:
  bool is_never_reached(const Bound& bound, ValueId source_value) const {
    const Range& range = ranges_[source_value.index];
    // Kernels hold the number as an f32. A zero of the other sign may still be reached.
    double rounded = static_cast<float>(bound.number);
    if (bound.number == 0) return false;
    return bound.kind == OpKind::minimum ? range.high <= std::min(bound.number, rounded)
                                         : range.low >= std::max(bound.number, rounded);
  }

  static ValueId bound(GraphRewriter& rewriter, OpKind kind, ValueId value, double number) {
    ValueId constant = rewriter.constant(rewriter.type(value).dtype, number);
    return rewriter.make(kind, {value, constant});
  }

  std::vector<Range> ranges_;
};

} // namespace

Graph simplify_clamps(const Graph& graph, const PassContext&) {
  Clamps clamps(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) {
    return clamps.simplify(rewriter, candidate);
  });
}

} // namespace ingot
