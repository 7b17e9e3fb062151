// SPDX-License-Identifier: Apache-2.0
// Merges multiplications and divisions by numbers into one multiplication.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include <cfloat>
#include <cmath>

namespace ingot {
namespace {

/// A match: value == base * factor, and the multiplication is an op of its own.
struct Scaled {
  ValueId base;
  double factor;
};

/// Matches a multiplication, or a division by a number.
std::optional<Scaled> match_scaled(const GraphRewriter& rewriter, OpKind kind,
                                   llvm::ArrayRef<ValueId> operands) {
  if (kind != OpKind::mul && kind != OpKind::div) return std::nullopt;
  std::optional<double> number = splat_real(rewriter.graph(), operands[1]);
  if (!number || rewriter.kind(operands[1]) != OpKind::constant) return std::nullopt;
  return Scaled{operands[0], kind == OpKind::div ? 1 / *number : *number};
}

std::optional<Scaled> match_scaled(const GraphRewriter& rewriter, const Candidate& candidate) {
  return match_scaled(rewriter, candidate.kind(), candidate.operands);
}

std::optional<Scaled> match_scaled(const GraphRewriter& rewriter, ValueId value) {
  const Op& op = rewriter.producer(value);
  if (op.kind == OpKind::div) return std::nullopt;
  return match_scaled(rewriter, op.kind, op.operands);
}

bool is_normal_in_f32(double value) {
  return std::abs(value) >= FLT_MIN && std::abs(value) <= FLT_MAX;
}

Replacement scale(GraphRewriter& rewriter, const Candidate& candidate, ValueId base,
                  double factor) {
  if (factor != 1)
    base = rewriter.make(OpKind::mul, {base, rewriter.constant(candidate.type.dtype, factor)});
  return {rewriter.broadcast(base, candidate.type.shape)};
}

/// Rewrites (x * c) * d to x * (c d) if c is a power of two and neither factor shrinks x. The bits
/// stay the same: x * c is exact, or so large that d leaves it infinite.
Replacement merge_growing(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::mul) return {};
  std::optional<Scaled> outer = match_scaled(rewriter, candidate);
  if (!outer) return {};
  std::optional<Scaled> inner = match_scaled(rewriter, outer->base);
  if (!inner || !is_power_of_two(inner->factor)) return {};
  double product = inner->factor * outer->factor;
  if (std::abs(inner->factor) < 1 || std::abs(outer->factor) < 1 || !is_normal_in_f32(product)) {
    return {};
  }
  return scale(rewriter, candidate, inner->base, product);
}

/// Merges x / c and (x * c) * d.
Replacement merge_any(GraphRewriter& rewriter, const Candidate& candidate) {
  std::optional<Scaled> outer = match_scaled(rewriter, candidate);
  if (!outer) return {};
  std::optional<Scaled> inner = match_scaled(rewriter, outer->base);
  if (inner && is_normal_in_f32(inner->factor * outer->factor)) {
    return scale(rewriter, candidate, inner->base, inner->factor * outer->factor);
  }
  if (candidate.kind() != OpKind::div || !is_normal_in_f32(outer->factor)) return {};
  return scale(rewriter, candidate, outer->base, outer->factor);
}

/// Merges ((x * c) * y) * d. The product of the numbers goes to a place where no partial result is
/// larger than one of the original ones, so finite values stay finite.
Replacement merge_around_factor(GraphRewriter& rewriter, const Candidate& candidate) {
  std::optional<Scaled> outer = match_scaled(rewriter, candidate);
  if (!outer || rewriter.kind(outer->base) != OpKind::mul ||
      rewriter.source_uses(candidate.source_operand()) > 1) {
    return {};
  }
  for (unsigned side : {0u, 1u}) {
    ValueId other = rewriter.operand(outer->base, 1 - side);
    std::optional<Scaled> inner = match_scaled(rewriter, rewriter.operand(outer->base, side));
    if (!inner) continue;
    double product = inner->factor * outer->factor;
    if (!is_normal_in_f32(product)) return {};
    DType dtype = rewriter.type(outer->base).dtype;
    bool goes_last = std::abs(inner->factor) >= 1 || std::abs(product) >= 1;
    if (goes_last && std::abs(outer->factor) > 1) {
      ValueId plain = rewriter.make(OpKind::mul, {inner->base, other});
      return scale(rewriter, candidate, plain, product);
    }
    ValueId number = rewriter.constant(dtype, product);
    ValueId scaled = rewriter.make(OpKind::mul, {inner->base, number});
    return scale(rewriter, candidate, rewriter.make(OpKind::mul, {scaled, other}), 1);
  }
  return {};
}

} // namespace

Graph merge_exact_scales(const Graph& graph, const PassContext&) {
  return rewrite(graph, merge_growing);
}

Graph merge_scales(const Graph& graph, const PassContext&) {
  return rewrite(graph, [](GraphRewriter& rewriter, const Candidate& candidate) {
    return first_match({merge_any, merge_around_factor}, rewriter, candidate);
  });
}

} // namespace ingot
