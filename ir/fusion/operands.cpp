// SPDX-License-Identifier: Apache-2.0
// See operands.h.
#include "ir/fusion/operands.h"

#include "ir/assumed_size.h"
#include "ir/fusion/loaded_domain.h"
#include "ir/fusion/refusals.h"

namespace ingot {
namespace {

/// The elements of an access, to compare tensors.
double elements_of(const AxisSpace& space, const Access& access) {
  double elements = 1;
  for (Atom atom : space.leaves(access.dims)) elements *= likely_count(space.extent(atom));
  return elements;
}

class OperandFinder {
public:
  OperandFinder(const GroupContext& context, const Bindings& bindings, const Group& group,
                const Matmul& matmul, uint32_t operand)
      : context_(context), graph_(context.graph), bindings_(bindings), group_(group),
        matmul_(matmul), operand_(operand) {}

  std::variant<MatmulOperand, Refusal> run();

private:
  std::optional<Refusal> collect();
  std::optional<Refusal> check(OpId op) const;
  bool belongs(const Read& read) const {
    return result_.prologue.empty() ? read.op == matmul_.op && read.operand == operand_
                                    : llvm::is_contained(result_.prologue, read.op);
  }

  const GroupContext& context_;
  const Graph& graph_;
  const Bindings& bindings_;
  const Group& group_;
  const Matmul& matmul_;
  const uint32_t operand_;
  MatmulOperand result_;
};

std::optional<Refusal> OperandFinder::check(OpId op) const {
  switch (info(graph_.op(op).kind).op_class) {
  case OpClass::elementwise: break;
  case OpClass::reduce: return refusals::operand_reduced(graph_, matmul_.op, op);
  default: return refusals::operand_not_elementwise(graph_, matmul_.op, op);
  }
  AtomList space = group_.domain.batch;
  space.append(operand_ == 0 ? group_.domain.rows : group_.domain.columns);
  space.append(matmul_.contraction);
  for (ValueId value : graph_.op(op).results)
    if (!contains_all(space, bindings_.space.leaves(bindings_.defined().at(value))))
      return refusals::axis_outside(graph_, value);
  return std::nullopt;
}

/// Collects the ops that compute the operand, back to the tensors in memory.
std::optional<Refusal> OperandFinder::collect() {
  std::vector<OpId> open;
  auto visit = [&](OpId reader, ValueId operand) {
    const ValueId value = reached_from(context_, reader, operand);
    const OpId op = graph_.value(value).op;
    if (!bindings_.defines(value) || llvm::is_contained(result_.prologue, op)) return;
    result_.prologue.push_back(op);
    open.push_back(op);
  };
  visit(matmul_.op, graph_.op(matmul_.op).operands[operand_]);
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    if (auto refusal = check(op)) return refusal;
    for (ValueId operand : graph_.op(op).operands) visit(op, operand);
  }
  llvm::sort(result_.prologue);
  return std::nullopt;
}

std::variant<MatmulOperand, Refusal> OperandFinder::run() {
  if (auto refusal = collect()) return *refusal;
  double most = -1;
  for (uint32_t r = 0; r < group_.reads.size(); ++r) {
    const Read& read = group_.reads[r];
    if (!belongs(read)) continue;
    if (read.combine)
      return refusals::partials_elsewhere(graph_, graph_.value(read.access.value).op);
    // Numbers that follow from their position are not fetched.
    if (!result_.prologue.empty() && graph_.producer(read.access.value).kind == OpKind::iota)
      continue;
    const double bytes = elements_of(bindings_.space, read.access) *
                         static_cast<double>(size_of(graph_.type(read.access.value).dtype));
    if (bytes <= most) continue;
    most = bytes;
    result_.read = r;
  }
  if (most < 0)
    return refusals::operand_is_number(graph_, matmul_.op,
                                       graph_.op(matmul_.op).operands[operand_]);
  return std::move(result_);
}

} // namespace

std::optional<Refusal> span_matmuls(const Graph& graph, const Bindings& bindings,
                                    llvm::ArrayRef<MatmulDims> dims, Group& group) {
  const AxisSpace& space = bindings.space;
  for (size_t m = 0; m < dims.size(); ++m) {
    const AtomList a = space.leaves(dims[m].a), b = space.leaves(dims[m].b);
    const AtomList order = space.leaves(dims[m].result);
    AtomList& contraction = group.matmuls[m].contraction;
    contraction = space.leaves(dims[m].a.back());
    if (llvm::any_of(contraction, [&](Atom atom) { return contains(order, atom); }))
      return refusals::contracted_and_kept(graph, group.matmuls[m].op);
    Domain domain;
    for (Atom atom : order) {
      const bool in_a = contains(a, atom), in_b = contains(b, atom);
      (in_a && in_b ? domain.batch : in_b ? domain.columns : domain.rows).push_back(atom);
    }
    if (m == 0) group.domain = domain;
    const Domain& first = group.domain;
    if (domain.batch != first.batch || domain.rows != first.rows || domain.columns != first.columns)
      return refusals::products_apart(graph, group.matmuls[0].op, group.matmuls[m].op);
  }
  return std::nullopt;
}

std::optional<Refusal> find_operands(const GroupContext& context, const Bindings& bindings,
                                     Group& group) {
  for (Matmul& matmul : group.matmuls)
    for (uint32_t k = 0; k < matmul.operands.size(); ++k) {
      auto found = OperandFinder(context, bindings, group, matmul, k).run();
      if (auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
      matmul.operands[k] = std::get<MatmulOperand>(std::move(found));
    }
  return std::nullopt;
}

bool in_prologue(const Group& group, OpId op) {
  return llvm::any_of(group.matmuls, [&](const Matmul& matmul) {
    return llvm::any_of(matmul.operands, [&](const MatmulOperand& operand) {
      return llvm::is_contained(operand.prologue, op);
    });
  });
}

bool has_prologue(const Group& group) {
  return llvm::any_of(group.matmuls, [](const Matmul& matmul) {
    return llvm::any_of(matmul.operands,
                        [](const MatmulOperand& operand) { return !operand.prologue.empty(); });
  });
}

} // namespace ingot
