// SPDX-License-Identifier: Apache-2.0
// See storage.h.
#include "ir/fusion/storage.h"

#include "ir/assumed_size.h"
#include "ir/lower_order.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

/// The largest matrix of a kernel's part, in elements: its domain, and the operands of its matmuls.
double points_of_part(const Group& group) {
  auto count = [&](const AtomList& atoms) { return likely_count(group.space.extent(atoms)); };
  const Domain& domain = group.domain;
  const double rows = count(domain.rows), columns = count(domain.columns);
  double most = rows * columns;
  for (const Matmul& matmul : group.matmuls)
    most = std::max(most, std::max(rows, columns) * count(matmul.contraction));
  return count(domain.batch) * most;
}

/// The largest of a kernel's matrices.
double points(const Group& group) {
  double most = 0;
  for (const Group* part : parts_of(group)) most = std::max(most, points_of_part(*part));
  return most;
}

/// The values of 16-bit types that kernels store for kernels that may read f32: no outputs, and no
/// operands of mainloops.
std::set<ValueId> widenable(const Graph& graph, const FusionPlan& plan) {
  std::set<ValueId> result;
  for (const Group& group : plan.groups)
    for (const Write& write : group.writes)
      if (is_16_bit(graph.type(write.value).dtype)) result.insert(write.value);
  for (const GraphOutput& output : graph.outputs()) result.erase(output.value);
  for (ValueId value : fetched(plan)) result.erase(value);
  return result;
}

void widen_vectors(Graph& graph, const FusionPlan& plan, const std::set<ValueId>& widenable) {
  std::map<ValueId, double> largest;  // kernel around a value
  std::map<ValueId, double> partials; // points of the kernel that stores partial results
  for (const Group& group : plan.groups) {
    double here = points(group);
    for (const Reduction& reduction : group.reductions)
      if (reduction.global)
        for (ValueId result : graph.op(reduction.op).results) partials[result] = here;
    // A kernel that merges partial results finishes the work of a larger kernel.
    for (const Read* read : memory_reads(group))
      if (read->combine) here = std::max(here, partials[read->access.value]);
    auto note = [&](ValueId value) { largest[value] = std::max(largest[value], here); };
    for (const Read* read : memory_reads(group)) note(read->access.value);
    for (const Write& write : group.writes) note(write.value);
  }
  for (ValueId value : widenable)
    if (likely_count(element_count(graph.type(value).shape)) * kLowerOrder <= largest[value])
      graph.store_in(value, DType::f32);
}

/// Widens values that kernels copy to tensors of f32, such as parts of concats: stored in 16 bits,
/// they would be rounded before.
void widen_copied(Graph& graph, const FusionPlan& plan, const std::set<ValueId>& widenable) {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Group& group : plan.groups)
      for (const Write& write : group.writes) {
        if (!write.read || graph.stored_type(write.value) != DType::f32) continue;
        const ValueId copied = group.reads[*write.read].access.value;
        if (!widenable.count(copied) || graph.stored_type(copied) == DType::f32) continue;
        graph.store_in(copied, DType::f32);
        has_changed = true;
      }
  }
}

/// True if `value` is a sum that the kernel of `group` computes from two tensors of its size, one
/// of which the kernel reads from memory.
bool is_residual_sum(const Graph& graph, const Group& group, ValueId value) {
  const OpId op = graph.value(value).op;
  if (graph.op(op).kind != OpKind::add || !llvm::is_contained(group.ops, op)) return false;
  std::vector<ValueId> roots;
  for (ValueId operand : graph.op(op).operands) roots.push_back(root_of(graph, operand));
  const auto count = [&](ValueId of) { return likely_count(element_count(graph.type(of).shape)); };
  return llvm::all_of(roots, [&](ValueId root) { return count(root) == count(value); }) &&
         llvm::any_of(memory_reads(group), [&](const Read* read) {
           return llvm::is_contained(roots, read->access.value);
         });
}

bool reads(const Group& group, ValueId value) {
  return llvm::any_of(memory_reads(group),
                      [&](const Read* read) { return read->access.value == value; });
}

/// The operand of `op`, and the results of the kernel's elementwise ops and matmuls from which it
/// is computed.
std::set<ValueId> computed_for(const Graph& graph, const Group& group, OpId op) {
  std::set<ValueId> result;
  std::vector<OpId> open = {op};
  while (!open.empty()) {
    const Op& reader = graph.op(open.back());
    open.pop_back();
    for (ValueId operand : reader.operands) {
      const ValueId root = root_of(graph, operand);
      const OpId producer = graph.value(root).op;
      const OpKind kind = graph.op(producer).kind;
      if (!llvm::is_contained(group.ops, producer) || result.count(root) ||
          (info(kind).op_class != OpClass::elementwise && kind != OpKind::matmul))
        continue;
      result.insert(root);
      if (kind != OpKind::matmul) open.push_back(producer);
    }
  }
  return result;
}

/// True for the reductions of rows that norms begin with.
bool is_of_norm(const Graph& graph, const Reduction& reduction) {
  const bool is_of_row = reduction.span == ReduceSpan::row || reduction.span == ReduceSpan::segment;
  return is_of_row && llvm::is_contained({OpKind::moments, OpKind::sum, OpKind::mean},
                                         graph.op(reduction.op).kind);
}

/// A residual sum whose rows are reduced in parts for a norm is read by the norm: stored in 16
/// bits, it would be rounded in between. torch.compile takes the norm of the unrounded sum.
void widen_residual_sums(Graph& graph, const FusionPlan& plan, const std::set<ValueId>& widenable) {
  for (const Group& group : plan.groups)
    for (const Reduction& reduction : group.reductions) {
      if (!reduction.global || !is_of_norm(graph, reduction)) continue;
      const std::set<ValueId> reduced = computed_for(graph, group, reduction.op);
      for (const Write& write : group.writes)
        if (widenable.count(write.value) && reduced.count(write.source) &&
            is_residual_sum(graph, group, write.source))
          graph.store_in(write.value, DType::f32);
    }
}

/// Those `values` that are stored in 16 bits and that another kernel reads from memory.
std::vector<ValueId> read_elsewhere(const Graph& graph, const FusionPlan& plan, const Group& group,
                                    const std::set<ValueId>& values) {
  std::vector<ValueId> result;
  for (const Write& write : group.writes) {
    if (write.read || !is_16_bit(graph.stored_type(write.value)) || !values.count(write.source))
      continue;
    const bool is_read =
        llvm::any_of(plan.groups, [&](const Group& reader) { return reads(reader, write.value); });
    if (is_read && !llvm::is_contained(result, write.source)) result.push_back(write.source);
  }
  return result;
}

/// The values that casts of the kernel convert. Other kernels read their conversions from memory
/// too, where these are stored as they are.
std::set<ValueId> converted(const Graph& graph, const Group& group) {
  std::set<ValueId> result;
  for (OpId op : group.ops)
    if (graph.op(op).kind == OpKind::cast) result.insert(root_of(graph, graph.op(op).operands[0]));
  return result;
}

} // namespace

std::set<ValueId> fetched(const FusionPlan& plan) {
  std::set<ValueId> result;
  for (const Group& group : plan.groups)
    for (const Group* part : parts_of(group))
      for (const Matmul& matmul : part->matmuls)
        for (const MatmulOperand& operand : matmul.operands)
          result.insert(part->reads[operand.read].access.value);
  return result;
}

void choose_storage(Graph& graph, FusionPlan& plan) {
  const std::set<ValueId> may_be_f32 = widenable(graph, plan);
  widen_vectors(graph, plan, may_be_f32);
  widen_residual_sums(graph, plan, may_be_f32);
  widen_copied(graph, plan, may_be_f32);
  for (Group& group : plan.groups) {
    std::set<ValueId> exponents;
    for (const Reduction& reduction : group.reductions)
      if (reduction.global && graph.op(reduction.op).kind == OpKind::max_sumexp)
        exponents.merge(computed_for(graph, group, reduction.op));
    group.rounded = read_elsewhere(graph, plan, group, exponents);
    for (ValueId value : read_elsewhere(graph, plan, group, converted(graph, group)))
      if (!llvm::is_contained(group.rounded, value)) group.rounded.push_back(value);
  }
}

} // namespace ingot
