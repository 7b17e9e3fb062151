// SPDX-License-Identifier: Apache-2.0
// See product_sum.h.
#include "ir/fusion/product_sum.h"

#include "ir/float_bits.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// A value that is `factor` times a product.
struct Term {
  ValueId value;
  double factor = 1;
};

class SumFinder {
public:
  SumFinder(const Graph& graph, const Bindings& bindings, const Group& group)
      : graph_(graph), bindings_(bindings), group_(group) {}

  std::optional<OpId> only_reader(ValueId value) const;
  Term term_of(OpId matmul) const;
  bool is_one_tile(ValueId value) const;

private:
  std::optional<double> number(ValueId value) const;
  std::optional<double> factor_of(const Op& op, ValueId value) const;

  const Graph& graph_;
  const Bindings& bindings_;
  const Group& group_;
};

/// The op of the group that reads a value, if it is one op that reads it once. None also if the
/// value is stored.
std::optional<OpId> SumFinder::only_reader(ValueId value) const {
  if (llvm::any_of(group_.writes, [&](const Write& write) { return write.source == value; }))
    return std::nullopt;
  std::optional<OpId> reader;
  for (OpId op : group_.ops)
    for (ValueId operand : graph_.op(op).operands) {
      if (root_of(graph_, operand) != value) continue;
      if (reader) return std::nullopt;
      reader = op;
    }
  return reader;
}

/// The number that a constant holds.
std::optional<double> SumFinder::number(ValueId value) const {
  const Op& op = graph_.producer(root_of(graph_, value));
  if (op.kind != OpKind::constant || !is_float(graph_.type(value).dtype)) return std::nullopt;
  return graph_.attributes<ConstantAttributes>(op).real;
}

/// The factor by which an op multiplies `value`; none: it does something else.
std::optional<double> SumFinder::factor_of(const Op& op, ValueId value) const {
  if (op.kind == OpKind::neg) return -1;
  if (op.kind == OpKind::cast && graph_.type(op.results[0]).dtype == DType::f32) return 1;
  if (op.kind != OpKind::mul) return std::nullopt;
  return number(op.operands[root_of(graph_, op.operands[0]) == value ? 1 : 0]);
}

Term SumFinder::term_of(OpId matmul) const {
  Term term = {graph_.op(matmul).results[0]};
  while (const auto reader = only_reader(term.value)) {
    const Op& op = graph_.op(*reader);
    const auto factor = factor_of(op, term.value);
    // One number may overflow where several do not.
    const double all = term.factor * factor.value_or(0);
    if (!factor || overflows_f32(all) || (all == 0 && *factor != 0)) break;
    term = {op.results[0], all};
  }
  return term;
}

/// True if an element of a value lies at its own point of the products.
bool SumFinder::is_one_tile(ValueId value) const {
  const auto dims = bindings_.defined().find(value);
  if (dims == bindings_.defined().end()) return false;
  AtomList points = group_.domain.batch;
  points.append(group_.domain.rows);
  points.append(group_.domain.columns);
  return bindings_.space.leaves(dims->second) == bindings_.space.leaves(points);
}

} // namespace

std::optional<SummedProducts> find_sum(const Graph& graph, const Bindings& bindings, Group& group) {
  if (group.matmuls.size() != 2) return std::nullopt;
  const SumFinder finder(graph, bindings, group);
  std::array<Term, 2> terms;
  for (size_t m = 0; m < 2; ++m) {
    const Op& matmul = graph.op(group.matmuls[m].op);
    if (!is_16_bit(graph.type(matmul.operands[0]).dtype)) return std::nullopt;
    terms[m] = finder.term_of(group.matmuls[m].op);
  }
  const auto reader = finder.only_reader(terms[0].value);
  if (!reader || finder.only_reader(terms[1].value) != reader) return std::nullopt;
  const Op& op = graph.op(*reader);
  if (op.kind != OpKind::add && op.kind != OpKind::sub) return std::nullopt;
  if (op.kind == OpKind::sub)
    terms[root_of(graph, op.operands[1]) == terms[1].value ? 1 : 0].factor *= -1;
  if (terms[0].factor != 1 && terms[1].factor != 1) return std::nullopt;
  for (ValueId value : {graph.op(group.matmuls[0].op).results[0],
                        graph.op(group.matmuls[1].op).results[0], op.results[0]})
    if (!finder.is_one_tile(value)) return std::nullopt;
  const auto is_fixed = [&](size_t m) {
    return bindings.space.extent(group.matmuls[m].contraction).is_fixed();
  };
  const size_t first = terms[1].factor != 1 || (terms[0].factor == 1 && !is_fixed(0)) ? 1 : 0;
  if (!is_fixed(first)) return std::nullopt;
  if (first == 1) std::swap(group.matmuls[0], group.matmuls[1]);
  return SummedProducts{op.results[0], terms[0].factor * terms[1].factor};
}

} // namespace ingot
