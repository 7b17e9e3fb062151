// SPDX-License-Identifier: Apache-2.0
// A flip, a gather at the last position minus each position, of what is computed from tensors in
// memory becomes the same of flips of these, which kernels read in that order. What is flipped
// twice is not, and a scan of flipped values runs from the other end.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace ingot {
namespace {

/// `value` is the number of elements along `dim`, less one.
bool is_last_position(const Graph& graph, ValueId value, const Dim& dim) {
  const auto is_integer = [&](ValueId id, int64_t expected) {
    const auto literal = splat_literal(graph, id);
    return literal && !is_float(literal->dtype) && literal->integer == expected;
  };
  if (dim.is_fixed()) return is_integer(value, dim.fixed() - 1);
  const Op& less = graph.producer(value);
  if (less.kind != OpKind::sub || !is_integer(less.operands[1], 1)) return false;
  const Op& extent = graph.producer(less.operands[0]);
  return extent.kind == OpKind::extent &&
         graph.attributes<ExtentAttributes>(extent).shape == Shape{dim};
}

/// The axis along which a gather reverses what it reads.
std::optional<int64_t> flipped_axis(const Graph& graph, const Op& gather) {
  if (gather.kind != OpKind::gather) return std::nullopt;
  const int64_t axis = graph.attributes<AxisAttributes>(gather).axis;
  const Shape& shape = graph.type(gather.operands[0]).shape;
  const Op& index = graph.producer(gather.operands[1]);
  if (index.kind != OpKind::sub || !(graph.type(gather.operands[1]).shape == shape))
    return std::nullopt;
  const Op& position = graph.producer(index.operands[1]);
  const bool counts =
      position.kind == OpKind::iota && graph.attributes<IotaAttributes>(position).axis == axis;
  if (!counts || !is_last_position(graph, index.operands[0], shape[axis])) return std::nullopt;
  return axis;
}

/// One flip of the source graph, pushed down.
class Flip {
public:
  Flip(GraphRewriter& rewriter, int64_t axis, ValueId index)
      : rewriter_(rewriter), graph_(rewriter.source()), axis_(axis), index_(index) {}

  /// True when all that is then flipped, if anything, lies in memory.
  bool affords(ValueId value);
  /// What flips a value of the source graph.
  ValueId of(ValueId value);

private:
  enum class Step : uint8_t {
    keep,   ///< equal along the axis, or of no axes
    undo,   ///< a flip itself
    count,  ///< positions along the axis
    inside, ///< flip what it is made of
    gather, ///< read in the other order
  };
  Step step_for(ValueId value) const;

  GraphRewriter& rewriter_;
  const Graph& graph_;
  const int64_t axis_;
  const ValueId index_; ///< of the new graph
  std::map<ValueId, bool> affords_;
  std::map<ValueId, ValueId> flipped_;
};

Flip::Step Flip::step_for(ValueId value) const {
  const Op& op = graph_.producer(value);
  const Shape& shape = graph_.type(value).shape;
  if (shape.empty()) return Step::keep;
  if (flipped_axis(graph_, op) == axis_) return Step::undo;
  const bool used_once = rewriter_.source_uses(value) == 1;
  switch (info(op.kind).op_class) {
  case OpClass::elementwise:
  case OpClass::scan: return used_once ? Step::inside : Step::gather;
  default: break;
  }
  if (op.kind == OpKind::iota)
    return graph_.attributes<IotaAttributes>(op).axis == axis_ ? Step::count : Step::keep;
  if (op.kind == OpKind::broadcast) {
    const Shape& from = graph_.type(op.operands[0]).shape;
    const auto added = static_cast<int64_t>(shape.size() - from.size());
    if (axis_ < added || !(from[axis_ - added] == shape[axis_])) return Step::keep;
  }
  return Step::gather;
}

bool Flip::affords(ValueId value) {
  const auto [known, added] = affords_.try_emplace(value, true);
  if (!added) return known->second;
  bool result = true;
  const Step step = step_for(value);
  if (step == Step::inside)
    result =
        llvm::all_of(graph_.producer(value).operands, [&](ValueId part) { return affords(part); });
  if (step == Step::gather) result = graph_.producer(root_of(graph_, value)).kind == OpKind::input;
  return affords_[value] = result;
}

ValueId Flip::of(ValueId value) {
  if (const auto known = flipped_.find(value); known != flipped_.end()) return known->second;
  const Op& op = graph_.producer(value);
  ValueId result = rewriter_.mapped(value);
  switch (step_for(value)) {
  case Step::keep: break;
  case Step::undo: result = rewriter_.mapped(op.operands[0]); break;
  case Step::count: result = rewriter_.cast(index_, graph_.type(value).dtype); break;
  case Step::gather:
    result = rewriter_.make(OpKind::gather, {result, index_}, AxisAttributes{axis_});
    break;
  case Step::inside: {
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId part : op.operands) operands.push_back(of(part));
    Attributes attributes = op.attributes;
    if (auto* scan = std::get_if<ScanAttributes>(&attributes); scan && scan->axis == axis_)
      scan->reverse = !scan->reverse;
    result = rewriter_.make(op.kind, operands, attributes);
  }
  }
  return flipped_[value] = result;
}

Replacement push_down(GraphRewriter& rewriter, const Candidate& candidate) {
  const Graph& graph = rewriter.source();
  const auto axis = flipped_axis(graph, candidate.op);
  if (!axis) return {};
  const ValueId value = candidate.source_operand();
  Flip flip(rewriter, *axis, candidate.operands[1]);
  const bool lies_in_memory = graph.producer(root_of(graph, value)).kind == OpKind::input;
  if (lies_in_memory || !flip.affords(value)) return {};
  return {flip.of(value)};
}

} // namespace

llvm::Expected<Graph> push_down_flips(const Graph& graph, const PassContext&) {
  return rewrite(graph, push_down);
}

} // namespace ingot
