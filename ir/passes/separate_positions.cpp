// SPDX-License-Identifier: Apache-2.0
// See separate_positions.h.
#include "ir/passes/separate_positions.h"

#include "ir/assumed_size.h"
#include "ir/passes/dataflow.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace ingot {
namespace {

/// Instructions of an element that take less time than to read it from memory.
constexpr double kMostInstructions = 16;
/// Copies in all. A graph of thousands of products that share a mask gets no more ops.
constexpr size_t kMostCopies = 10000;

class Separation {
public:
  explicit Separation(const Graph& graph)
      : graph_(graph), users_(users_of_values(graph)), costs_(graph.values().size()),
        parts_(static_cast<unsigned>(graph.ops().size())) {
    for (uint32_t index = 0; index < graph.ops().size(); ++index) add(OpId{index});
  }

  Graph run() {
    return rewrite(graph_, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
      if (is_separable(candidate.id) || candidate.kind() == OpKind::matmul) return {};
      llvm::SmallVector<ValueId, 3> operands = candidate.operands;
      for (const auto& [operand, source] : llvm::zip_equal(operands, candidate.op.operands))
        if (is_shared(source) && copies_.size() < kMostCopies)
          operand = copy(rewriter, source, part_of(candidate.id));
      if (operands == candidate.operands) return {};
      return rewriter.make_all(candidate.kind(), operands, candidate.op.attributes);
    });
  }

private:
  /// Of computing a value from positions, numbers and inputs alone.
  struct Cost {
    double instructions = 0; ///< per element
    double bytes = 0;        ///< of the inputs
  };

  void add(OpId id) {
    const Op& op = graph_.op(id);
    const OpClass op_class = info(op.kind).op_class;
    std::optional<Cost> cost;
    if (op.kind == OpKind::input)
      cost = Cost{0, bytes(op.results.front())};
    else if (op.kind == OpKind::iota || op.kind == OpKind::constant)
      cost = Cost{};
    else if (op_class == OpClass::elementwise || op_class == OpClass::movement)
      cost = Cost{op_class == OpClass::elementwise ? info(op.kind).instructions : 0.0, 0};
    for (ValueId operand : op.operands) {
      const auto& own = costs_[operand.index];
      if (!own) cost.reset();
      if (cost) cost = Cost{cost->instructions + own->instructions, cost->bytes + own->bytes};
    }
    for (ValueId result : op.results) costs_[result.index] = cost;
    if (is_separable(id) || op.kind == OpKind::matmul) return;
    // Ops on both sides of a product are in parts of their own.
    for (ValueId operand : op.operands) {
      const OpId maker = graph_.value(operand).op;
      if (graph_.op(maker).kind != OpKind::matmul && graph_.op(maker).kind != OpKind::input &&
          !is_separable(maker))
        parts_.join(id.index, maker.index);
    }
  }
  double bytes(ValueId value) const {
    const Type& type = graph_.type(value);
    return likely_count(element_count(type.shape)) * static_cast<double>(size_of(type.dtype));
  }
  /// True for values that kernels would rather compute each than share: their inputs have at most
  /// half as many bytes.
  bool is_separable(ValueId value) const {
    const auto& cost = costs_[value.index];
    return cost && 2 * cost->bytes <= bytes(value);
  }
  bool is_separable(OpId op) const {
    const auto& results = graph_.op(op).results;
    return !results.empty() && is_separable(results.front());
  }
  unsigned part_of(OpId op) const { return parts_.findLeader(op.index); }

  /// True for computed values with readers in several parts.
  bool is_shared(ValueId value) const {
    if (!is_separable(value)) return false;
    const double instructions = costs_[value.index]->instructions;
    if (instructions == 0 || instructions > kMostInstructions) return false;
    std::optional<unsigned> first;
    for (OpId user : users_[value.index]) {
      if (is_separable(user)) continue;
      if (first.value_or(part_of(user)) != part_of(user)) return true;
      first = part_of(user);
    }
    return false;
  }

  /// The copy of `value` for a part, made where the first op of the part needs it.
  ValueId copy(GraphRewriter& rewriter, ValueId value, unsigned part) {
    const Op& op = graph_.producer(value);
    if (op.operands.empty()) return rewriter.mapped(value);
    const auto known = copies_.find({part, value});
    if (known != copies_.end()) return known->second;
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(copy(rewriter, operand, part));
    return copies_[{part, value}] = rewriter.make(op.kind, operands, op.attributes);
  }

  const Graph& graph_;
  const std::vector<std::vector<OpId>> users_;
  std::vector<std::optional<Cost>> costs_; ///< by the value, with all before it
  llvm::IntEqClasses parts_;               ///< ops that no product separates
  std::map<std::pair<unsigned, ValueId>, ValueId> copies_;
};

} // namespace

Graph separate_positions(const Graph& graph) {
  return remove_dead_code(Separation(graph).run(), {});
}

} // namespace ingot
