// SPDX-License-Identifier: Apache-2.0
// Reassociates sums and products, so that numbers meet numbers, params of one shape meet each
// other, and products of matrices meet each other. (h + b) + c becomes h + (b + c), and prepare can
// compute b + c. (x w + b) + y v becomes (x w + y v) + b, and one kernel can sum both products.
#include "ir/float_bits.h"
#include "ir/passes/dataflow.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// An operand of a flattened sum (added or subtracted) or product.
struct Term {
  ValueId value; // in the source graph
  bool is_negated;
};

/// The terms of a sum or product, by kind.
struct Terms {
  llvm::SmallVector<Term, 4> computed;
  llvm::SmallVector<Term, 4> params;
  llvm::SmallVector<double, 2> numbers;
  bool matmuls_meet = false; ///< an op of the chain adds two of them
};

/// The maximum number of terms in one group. Longer chains are split into several.
constexpr size_t kMaxTerms = 64;

class Grouping {
public:
  explicit Grouping(const Graph& graph)
      : graph_(graph), params_only_(depends_only_on_params(graph)), uses_(count_uses(graph)) {}

  Replacement group(GraphRewriter& rewriter, const Candidate& candidate) const {
    bool is_sum = candidate.kind() != OpKind::mul;
    if (!is_chain_op(candidate.kind()) || params_only_[candidate.op.results[0].index] ||
        !is_float(candidate.type.dtype)) {
      return {};
    }
    Terms terms = collect(candidate.op);
    auto groups = param_groups(terms);
    bool params_meet = groups.size() < terms.params.size();
    // The pass merge_scales handles two numbers of a product.
    bool numbers_meet = is_sum && terms.numbers.size() > 1;
    const auto is_matmul = [&](const Term& term) { return is_of_matmul(term.value); };
    const bool matmuls_part =
        is_sum && !terms.matmuls_meet && llvm::count_if(terms.computed, is_matmul) > 1;
    if ((!params_meet && !numbers_meet && !matmuls_part) || terms.computed.empty()) return {};
    if (is_sum) std::stable_partition(terms.computed.begin(), terms.computed.end(), is_matmul);
    if (overflows_f32(joined_number(terms, is_sum))) return {}; // no literal can hold it
    return {build(rewriter, candidate, terms, groups)};
  }

private:
  using Groups = llvm::SmallVector<llvm::SmallVector<Term, 2>, 2>;

  static double joined_number(const Terms& terms, bool is_sum) {
    double number = is_sum ? 0 : 1;
    for (double next : terms.numbers) number = is_sum ? number + next : number * next;
    return number;
  }

  static bool is_chain_op(OpKind kind) {
    return kind == OpKind::add || kind == OpKind::sub || kind == OpKind::mul;
  }

  /// True for the result of a matmul that nothing else uses, or a number times it.
  bool is_of_matmul(ValueId value) const {
    const ValueId root = root_of(graph_, value);
    const Op& op = graph_.producer(root);
    if (uses_[value.index] != 1 || uses_[root.index] != 1) return false;
    if (op.kind == OpKind::neg) return is_of_matmul(op.operands[0]);
    if (op.kind == OpKind::mul)
      return splat_real(graph_, op.operands[1]) && is_of_matmul(op.operands[0]);
    return op.kind == OpKind::matmul;
  }

  /// Flattens operands that belong to the same chain, from left to right, while the terms are few.
  /// A value with other uses, or that depends on params alone, stays a term.
  Terms collect(const Op& chain) const {
    bool is_sum = chain.kind != OpKind::mul;
    Terms terms;
    llvm::SmallVector<Term, 16> open; // the next one is last
    auto take_apart = [&](const Op& op, bool is_negated) {
      terms.matmuls_meet |= llvm::all_of(op.operands, [&](ValueId v) { return is_of_matmul(v); });
      for (size_t position = op.operands.size(); position-- > 0;) {
        bool negated = is_negated != (op.kind == OpKind::sub && position == 1);
        open.push_back({op.operands[position], negated});
      }
    };
    take_apart(chain, false);
    while (!open.empty()) {
      auto [operand, negated] = open.pop_back_val();
      const Op& inner = graph_.producer(operand);
      bool same_chain = is_chain_op(inner.kind) && (inner.kind != OpKind::mul) == is_sum;
      size_t count =
          terms.computed.size() + terms.params.size() + terms.numbers.size() + open.size();
      std::optional<double> number = splat_real(graph_, operand);
      if (number && inner.kind == OpKind::constant && std::isfinite(*number)) {
        terms.numbers.push_back(negated ? -*number : *number);
      } else if (params_only_[operand.index]) {
        terms.params.push_back({operand, negated});
      } else if (same_chain && uses_[operand.index] == 1 && count < kMaxTerms) {
        take_apart(inner, negated);
      } else {
        terms.computed.push_back({operand, negated});
      }
    }
    return terms;
  }

  /// The shape of a param before it is broadcast.
  const Shape& stored_shape(ValueId value) const {
    const Op& op = graph_.producer(value);
    return graph_.type(op.kind == OpKind::broadcast ? op.operands[0] : value).shape;
  }

  /// Groups params of one shape. A vector and a matrix stay separate, because their sum would be a
  /// second matrix. 16-bit params stay separate, because prepare would round their sum once more.
  Groups param_groups(const Terms& terms) const {
    Groups groups;
    for (const Term& term : terms.params) {
      auto group = llvm::find_if(groups, [&](const auto& members) {
        return graph_.type(term.value).dtype == DType::f32 &&
               stored_shape(members.front().value) == stored_shape(term.value);
      });
      if (group == groups.end()) group = &groups.emplace_back();
      group->push_back(term);
    }
    return groups;
  }

  /// Makes `sum + term`, `sum - term`, or `product * term`.
  static ValueId join(GraphRewriter& rewriter, OpKind kind, ValueId sum, const Term& term) {
    bool subtracts = kind == OpKind::add && term.is_negated;
    return rewriter.make(subtracts ? OpKind::sub : kind, {sum, term.value});
  }

  /// Joins several terms into one value, which may be negated.
  static Term join_all(GraphRewriter& rewriter, OpKind kind, llvm::ArrayRef<Term> terms) {
    // A sum begins with an added term, if there is one.
    auto first = llvm::find_if(terms, [](const Term& term) { return !term.is_negated; });
    bool is_negated = kind == OpKind::add && first == terms.end();
    if (first == terms.end()) first = terms.begin();
    ValueId value = rewriter.mapped(first->value);
    for (const Term& term : terms) {
      if (&term == first) continue;
      Term next{rewriter.mapped(term.value), term.is_negated != is_negated};
      value = join(rewriter, kind, value, next);
    }
    return {value, is_negated};
  }

  /// Joins terms that are not params. If a sum begins with several matmuls, these meet first.
  Term join_computed(GraphRewriter& rewriter, OpKind kind, llvm::ArrayRef<Term> terms) const {
    const auto matmuls =
        terms.take_while([&](const Term& term) { return is_of_matmul(term.value); });
    if (kind != OpKind::add || matmuls.size() < 2 || matmuls.size() == terms.size())
      return join_all(rewriter, kind, terms);
    const Term sum = join_all(rewriter, kind, matmuls);
    const Term rest = join_all(rewriter, kind, terms.drop_front(matmuls.size()));
    if (sum.is_negated == rest.is_negated)
      return {rewriter.make(OpKind::add, {sum.value, rest.value}), sum.is_negated};
    const auto& [added, subtracted] = sum.is_negated ? std::pair(rest, sum) : std::pair(sum, rest);
    return {rewriter.make(OpKind::sub, {added.value, subtracted.value}), false};
  }

  ValueId build(GraphRewriter& rewriter, const Candidate& candidate, const Terms& terms,
                const Groups& groups) const {
    bool is_sum = candidate.kind() != OpKind::mul;
    OpKind kind = is_sum ? OpKind::add : OpKind::mul;
    Term computed = join_computed(rewriter, kind, terms.computed);
    ValueId value = computed.value;
    if (is_sum && computed.is_negated) value = rewriter.make(OpKind::neg, {value});
    const double number = joined_number(terms, is_sum);
    auto apply_number = [&] {
      value = rewriter.make(kind, {value, rewriter.constant(candidate.type.dtype, number)});
    };
    // A number that shrinks a product comes first, so that later values do not grow.
    bool shrinks = !is_sum && std::abs(number) < 1;
    if (shrinks) apply_number();
    for (const auto& group : groups) {
      value = join(rewriter, kind, value, join_all(rewriter, kind, group));
    }
    if (!shrinks && !terms.numbers.empty()) apply_number();
    return rewriter.broadcast(value, candidate.type.shape);
  }

  const Graph& graph_;
  std::vector<bool> params_only_;
  std::vector<uint32_t> uses_;
};

} // namespace

Graph group_params(const Graph& graph, const PassContext&) {
  Grouping grouping(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) {
    return grouping.group(rewriter, candidate);
  });
}

} // namespace ingot
