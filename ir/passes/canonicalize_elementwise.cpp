// SPDX-License-Identifier: Apache-2.0
// Gives elementwise ops and the movement around them one order. An elementwise op goes before the
// broadcast that feeds it, if that costs less. It also goes before a reshape or transpose, because
// movements then meet and cancel.
#include "ir/builder.h"
#include "ir/passes/dataflow.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace ingot {
namespace {

bool is_scalar(const GraphRewriter& rewriter, ValueId id) { return rewriter.type(id).rank() == 0; }

/// The operand of a broadcast; any other value itself.
ValueId before_broadcast(const GraphRewriter& rewriter, ValueId id) {
  return rewriter.kind(id) == OpKind::broadcast ? rewriter.operand(id) : id;
}

/// Rewrites f(x, broadcast number) to f(x, number).
Replacement unspread_numbers(GraphRewriter& rewriter, const Candidate& candidate) {
  const Shape& shape = candidate.type.shape;
  auto operands = candidate.operands;
  bool changed = false, keeps_shape = false;
  for (ValueId& operand : operands) {
    ValueId number = before_broadcast(rewriter, operand);
    if (number != operand && is_scalar(rewriter, number)) {
      operand = number;
      changed = true;
    }
    keeps_shape |= rewriter.type(operand).shape == shape;
  }
  if (!changed || !keeps_shape) return {};
  return {rewriter.make(candidate.kind(), operands, candidate.op.attributes)};
}

/// Rewrites f(broadcast(x), broadcast(y)) to broadcast(f(x, y)), if that has fewer elements.
Replacement sink_broadcasts(GraphRewriter& rewriter, const Candidate& candidate) {
  const Shape shape = candidate.type.shape;
  Shape joined;
  for (ValueId operand : candidate.operands) {
    const Shape& own = rewriter.type(before_broadcast(rewriter, operand)).shape;
    joined = *broadcast_shapes(joined, own); // both broadcast to one shape
  }
  if (element_count(joined) == element_count(shape)) return {};
  llvm::SmallVector<ValueId, 3> operands;
  for (ValueId operand : candidate.operands) {
    ValueId source = before_broadcast(rewriter, operand);
    operands.push_back(is_scalar(rewriter, source) ? source : rewriter.broadcast(source, joined));
  }
  ValueId small = rewriter.make(candidate.kind(), operands, candidate.op.attributes);
  rewriter.pass_name(candidate, small);
  return {rewriter.broadcast(small, shape)};
}

/// Rewrites f(move(x), move(y)) to move(f(x, y)) for one reshape or transpose. Rank-0 operands do
/// not count.
Replacement sink_movement(GraphRewriter& rewriter, const Candidate& candidate, OpKind movement) {
  llvm::SmallVector<ValueId, 3> operands;
  std::optional<Attributes> attributes;
  std::optional<Shape> shape;
  for (ValueId operand : candidate.operands) {
    if (is_scalar(rewriter, operand) && rewriter.kind(operand) != movement) {
      operands.push_back(operand);
      continue;
    }
    const Op& op = rewriter.producer(operand);
    if (op.kind != movement) return {};
    const Shape& source_shape = rewriter.type(op.operands[0]).shape;
    if (shape && (*shape != source_shape || !(*attributes == op.attributes))) return {};
    shape = source_shape;
    attributes = op.attributes;
    operands.push_back(op.operands[0]);
  }
  if (!attributes) return {};
  ValueId inner = rewriter.make(candidate.kind(), operands, candidate.op.attributes);
  rewriter.pass_name(candidate, inner);
  return {rewriter.make(movement, {inner}, *attributes)};
}

Replacement sink_reshapes(GraphRewriter& rewriter, const Candidate& candidate) {
  return sink_movement(rewriter, candidate, OpKind::reshape);
}
Replacement sink_transposes(GraphRewriter& rewriter, const Candidate& candidate) {
  return sink_movement(rewriter, candidate, OpKind::transpose);
}

/// For each value, the number of ops on the longest path from an input or constant, without
/// movement.
std::vector<uint32_t> measure_depths(const Graph& graph) {
  std::vector<uint32_t> depths(graph.values().size(), 0);
  for (const Op& op : graph.ops()) {
    OpClass op_class = info(op.kind).op_class;
    uint32_t depth = 0;
    for (ValueId operand : op.operands) depth = std::max(depth, depths[operand.index]);
    if (op_class != OpClass::movement && op_class != OpClass::source) ++depth;
    for (ValueId value : op.results) depths[value.index] = depth;
  }
  return depths;
}

/// Orders the operands of a commutative op. Values that depend on inputs come first, then values
/// that prepare can compute, then numbers. Within each class, values with more elements come first,
/// and then values nearer to the inputs. The rest of the key is arbitrary but independent of the
/// graph's spelling. It is a hash of definitions in which all operands are in order, so one sweep
/// orders all of them.
class OperandOrder {
public:
  explicit OperandOrder(const Graph& graph)
      : graph_(graph), depths_(measure_depths(graph)), params_only_(depends_only_on_params(graph)),
        hashes_(hash_swapped(graph, [&](const Op& op, llvm::ArrayRef<uint64_t> hashes) {
          return is_out_of_order(op, hashes);
        })) {}

  bool is_out_of_order(const Op& op) const { return is_out_of_order(op, hashes_); }

private:
  bool is_out_of_order(const Op& op, llvm::ArrayRef<uint64_t> hashes) const {
    return info(op.kind).commutes() && key(op.operands[0], hashes) > key(op.operands[1], hashes);
  }

  using Key = std::tuple<bool, bool, bool, bool, bool, uint32_t, uint64_t, uint32_t>;
  Key key(ValueId id, llvm::ArrayRef<uint64_t> hashes) const {
    OpKind kind = graph_.producer(id).kind;
    return {splat_literal(graph_, id).has_value(),
            params_only_[id.index],
            graph_.type(id).rank() == 0,
            kind == OpKind::broadcast,
            kind == OpKind::input,
            depths_[id.index],
            kind == OpKind::input ? 0 : hashes[id.index],
            id.index};
  }
  const Graph& graph_;
  std::vector<uint32_t> depths_;
  std::vector<bool> params_only_;
  std::vector<uint64_t> hashes_; // last, because it is computed from the other members
};

} // namespace

Graph canonicalize_elementwise(const Graph& graph, const PassContext&) {
  OperandOrder order(graph);
  auto canonicalize = [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (info(candidate.kind()).op_class != OpClass::elementwise) return {};
    Replacement moved = first_match(
        {unspread_numbers, sink_broadcasts, sink_reshapes, sink_transposes}, rewriter, candidate);
    if (!moved.empty() || !order.is_out_of_order(candidate.op)) return moved;
    return {rewriter.make(candidate.kind(), {candidate.operands[1], candidate.operands[0]})};
  };
  return rewrite(graph, canonicalize);
}

} // namespace ingot
