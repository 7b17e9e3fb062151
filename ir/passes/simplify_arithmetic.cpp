// SPDX-License-Identifier: Apache-2.0
// Identities of single elementwise ops that keep every bit in f32, including overflow, subnormals,
// NaN, Inf and the sign of zero.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include <cmath>

namespace ingot {
namespace {

/// A candidate with its result type, and helpers to end a rule.
struct Site {
  ValueId operand(unsigned position) const { return candidate.operands[position]; }
  bool is_kind(ValueId id, OpKind kind) const { return rewriter.kind(id) == kind; }
  ValueId inner(ValueId id, unsigned position = 0) const { return rewriter.operand(id, position); }
  bool is_float_number(unsigned position, double value) const {
    return is_real(rewriter.graph(), operand(position), value);
  }
  bool is_integer_number(unsigned position, int64_t value) const {
    const Graph& graph = rewriter.graph();
    const Op& op = graph.producer(operand(position));
    return op.kind == OpKind::constant && !is_float(type.dtype) &&
           graph.attributes<ConstantAttributes>(op).integer == value;
  }
  /// The float constant at this position.
  std::optional<double> number(unsigned position) const {
    if (!is_kind(operand(position), OpKind::constant)) return std::nullopt;
    return splat_real(rewriter.graph(), operand(position));
  }
  ValueId constant(double value) const { return rewriter.constant(type.dtype, value); }

  Replacement with(ValueId id) const { return {rewriter.broadcast(id, type.shape)}; }
  Replacement with(OpKind kind, llvm::ArrayRef<ValueId> operands) const {
    return with(rewriter.make(kind, operands));
  }

  GraphRewriter& rewriter;
  const Candidate& candidate;
  const Type& type;
};

Replacement simplify_add(const Site& site) {
  ValueId x = site.operand(0), y = site.operand(1);
  if (x == y && is_float(site.type.dtype)) {
    return site.with(OpKind::mul, {x, site.constant(2)});
  }
  // x + 0.0 would turn -0.0 into 0.0. x + -0.0 keeps both zeros.
  for (unsigned side : {0u, 1u}) {
    if (site.is_float_number(side, -0.0) || site.is_integer_number(side, 0)) {
      return site.with(site.operand(1 - side));
    }
  }
  if (site.is_kind(y, OpKind::neg)) return site.with(OpKind::sub, {x, site.inner(y)});
  if (site.is_kind(x, OpKind::neg)) return site.with(OpKind::sub, {y, site.inner(x)});
  return {};
}

Replacement simplify_sub(const Site& site) {
  ValueId x = site.operand(0), y = site.operand(1);
  if (site.is_integer_number(1, 0)) return site.with(x);
  if (site.is_kind(y, OpKind::neg)) return site.with(OpKind::add, {x, site.inner(y)});
  // x - 0.0 becomes x + -0.0, which the rule above removes.
  if (auto number = site.number(1)) {
    return site.with(OpKind::add, {x, site.constant(-*number)});
  }
  return {};
}

Replacement simplify_mul(const Site& site) {
  for (unsigned side : {0u, 1u}) {
    ValueId other = site.operand(1 - side);
    if (site.is_float_number(side, 1) || site.is_integer_number(side, 1)) return site.with(other);
    if (site.is_float_number(side, -1)) return site.with(OpKind::neg, {other});
    auto number = site.number(side);
    if (number && site.is_kind(other, OpKind::neg)) {
      return site.with(OpKind::mul, {site.inner(other), site.constant(-*number)});
    }
  }
  ValueId x = site.operand(0), y = site.operand(1);
  if (site.is_kind(x, OpKind::neg) && site.is_kind(y, OpKind::neg)) {
    return site.with(OpKind::mul, {site.inner(x), site.inner(y)});
  }
  return {};
}

Replacement simplify_div(const Site& site) {
  ValueId x = site.operand(0), y = site.operand(1);
  if (site.is_integer_number(1, 1)) return site.with(x);
  if (!is_float(site.type.dtype)) return {};
  // x / c and x * (1 / c) round the same real number if 1 / c is a power of two too.
  auto number = site.number(1);
  if (number && is_power_of_two(*number) && is_power_of_two(1 / *number)) {
    return site.with(OpKind::mul, {x, site.constant(1 / *number)});
  }
  if (number && site.is_kind(x, OpKind::neg)) {
    return site.with(OpKind::div, {site.inner(x), site.constant(-*number)});
  }
  if (site.is_kind(x, OpKind::neg) && site.is_kind(y, OpKind::neg)) {
    return site.with(OpKind::div, {site.inner(x), site.inner(y)});
  }
  return {};
}

Replacement simplify_neg(const Site& site) {
  ValueId x = site.operand(0);
  if (site.is_kind(x, OpKind::neg)) return site.with(site.inner(x));
  if (site.is_kind(x, OpKind::mul)) {
    ValueId factor = site.inner(x, 1);
    auto number = splat_real(site.rewriter.graph(), factor);
    if (number && site.is_kind(factor, OpKind::constant)) {
      return site.with(OpKind::mul, {site.inner(x), site.constant(-*number)});
    }
  }
  return {};
}

Replacement simplify_abs(const Site& site) {
  ValueId x = site.operand(0);
  if (site.is_kind(x, OpKind::abs)) return site.with(x);
  if (site.is_kind(x, OpKind::neg)) return site.with(OpKind::abs, {site.inner(x)});
  return {};
}

/// Simplifies floor, ceil and round of a value that is already whole.
Replacement simplify_rounding(const Site& site) {
  switch (site.rewriter.kind(site.operand(0))) {
  case OpKind::floor:
  case OpKind::ceil:
  case OpKind::round: return site.with(site.operand(0));
  default: return {};
  }
}

Replacement simplify_logical(const Site& site) {
  ValueId x = site.operand(0);
  if (site.candidate.kind() == OpKind::not_) {
    return site.is_kind(x, OpKind::not_) ? site.with(site.inner(x)) : Replacement{};
  }
  if (x == site.operand(1)) return site.with(x);
  int64_t neutral = site.candidate.kind() == OpKind::and_ ? 1 : 0;
  for (unsigned side : {0u, 1u}) {
    if (site.is_integer_number(side, neutral)) return site.with(site.operand(1 - side));
    if (site.is_integer_number(side, 1 - neutral)) return site.with(site.operand(side));
  }
  return {};
}

Replacement simplify_select(const Site& site) {
  ValueId predicate = site.operand(0), yes = site.operand(1), no = site.operand(2);
  if (yes == no) return site.with(yes);
  if (auto literal = splat_literal(site.rewriter.graph(), predicate)) {
    return site.with(literal->integer != 0 ? yes : no);
  }
  if (site.is_kind(predicate, OpKind::not_)) {
    return site.with(OpKind::select, {site.inner(predicate), no, yes});
  }
  return {};
}

Replacement simplify_same_operands(const Site& site) {
  return site.operand(0) == site.operand(1) ? site.with(site.operand(0)) : Replacement{};
}

/// Whether the value has been rounded to its dtype, rather than being an f32 that is only stored
/// so.
bool is_rounded(const Graph& graph, ValueId id) {
  if (graph.type(id).dtype == DType::f32 || !is_float(graph.type(id).dtype)) return true;
  const Op& op = graph.producer(id);
  if (op.kind == OpKind::input || op.kind == OpKind::cast) return true;
  return info(op.kind).picks() && is_rounded(graph, op.operands[0]);
}

/// Whether every value of `from`, as kernels hold it, is a value of `to`.
bool keeps_values(DType from, DType to) {
  if (to == DType::f32) return is_float(from) || from == DType::boolean;
  if (to == DType::i64) return is_integer(from) || from == DType::boolean;
  return from == DType::boolean;
}

Replacement simplify_cast(const Site& site) {
  const Graph& graph = site.rewriter.graph();
  ValueId x = site.operand(0);
  DType to = site.type.dtype;
  if (graph.type(x).dtype == to && is_rounded(graph, x)) return site.with(x);
  if (!site.is_kind(x, OpKind::cast)) return {};
  ValueId source = site.inner(x);
  if (!keeps_values(graph.type(source).dtype, graph.type(x).dtype)) return {};
  if (graph.type(source).dtype == to && is_rounded(graph, source)) return site.with(source);
  return {site.rewriter.make(OpKind::cast, {source}, CastAttributes{to})};
}

Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) {
  if (info(candidate.kind()).op_class != OpClass::elementwise) return {};
  const Site site{rewriter, candidate, candidate.type};
  switch (candidate.kind()) {
  case OpKind::add: return simplify_add(site);
  case OpKind::sub: return simplify_sub(site);
  case OpKind::mul: return simplify_mul(site);
  case OpKind::div: return simplify_div(site);
  case OpKind::neg: return simplify_neg(site);
  case OpKind::abs: return simplify_abs(site);
  case OpKind::floor:
  case OpKind::ceil:
  case OpKind::round: return simplify_rounding(site);
  case OpKind::not_:
  case OpKind::and_:
  case OpKind::or_: return simplify_logical(site);
  case OpKind::minimum:
  case OpKind::maximum: return simplify_same_operands(site);
  case OpKind::select: return simplify_select(site);
  case OpKind::cast: return simplify_cast(site);
  default: return {};
  }
}

} // namespace

Graph simplify_arithmetic(const Graph& graph, const PassContext&) {
  return rewrite(graph, simplify);
}

} // namespace ingot
