// SPDX-License-Identifier: Apache-2.0
// The first part of an analysis: binds the ops and stores of a set to axes, and notes its reads,
// writes, reductions and matmuls. Used by legality alone.
#pragma once

#include "ir/fusion/bindings.h"
#include "ir/fusion/operands.h"

namespace ingot {

/// Each step returns false and sets `refusal_` if a rule is broken. It refers to its context.
class GroupBinder {
public:
  GroupBinder(const GroupContext& context, ReadSharing sharing)
      : context_(context), graph_(context.graph), bindings_(context, sharing) {}
  /// The ops of `bound`, whose context says the same about them as `context`.
  GroupBinder(const GroupBinder& bound, const GroupContext& context)
      : context_(context), graph_(context.graph), bindings_(bound.bindings_, context),
        group_(bound.group_), matmuls_(bound.matmuls_), scanned_(bound.scanned_),
        reduced_values_(bound.reduced_values_) {}

  /// Binds the ops that are not bound yet. The bound ones are the first of `ops`.
  bool bind_ops(llvm::ArrayRef<OpId> ops) {
    return llvm::all_of(ops.drop_front(group_.ops.size()), [&](OpId op) {
      group_.ops.push_back(op);
      return bind_op(op);
    });
  }
  const Refusal& refusal() const { return refusal_; }

protected:
  bool refuse(Refusal refusal) {
    refusal_ = std::move(refusal);
    return false;
  }
  bool bind_op(OpId id);
  bool bind_target(const StoreTarget& target);
  bool equate(const AtomShape& a, const AtomShape& b, OpId op);
  std::optional<AtomShape> bind_operand(OpId id, uint32_t operand) {
    return bind(id, operand, graph_.op(id).operands[operand]);
  }
  /// Binds the operands of an elementwise op to `dims`, but for operand `left_out`.
  bool bind_others(OpId id, uint32_t left_out, const AtomShape& dims);

  const GroupContext& context_;
  const Graph& graph_;
  Bindings bindings_;
  Group group_; ///< without a domain
  std::vector<MatmulDims> matmuls_;
  AtomList scanned_;                      ///< the axis of the scan
  std::vector<AtomShape> reduced_values_; ///< the dims of each reduction's operand
  Refusal refusal_;

private:
  std::optional<AtomShape> bind(OpId reader, uint32_t operand, ValueId value);
  bool reads_tile(OpId reader, ValueId value) const;
  Bound note_read(OpId reader, uint32_t operand, Bound bound);
  bool check_stored(OpId id, uint32_t operand);
  bool place_merged(size_t read);

  bool bind_elementwise(OpId id);
  bool bind_reduce(OpId id);
  bool bind_matmul(OpId id);
  bool reads_product(OpId id) const;
  bool bind_gather(OpId id);
  bool bind_scan(OpId id);
};

} // namespace ingot
