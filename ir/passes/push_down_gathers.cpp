// SPDX-License-Identifier: Apache-2.0
// Rewrites a gather of elementwise ops to the same ops of gathers of their inputs in memory, if the
// index is in range; otherwise a table would have to be stored. A flip is a gather at the last
// position minus each position. It is always in range. Two flips cancel, and a scan of flipped
// values runs from the other end.
#include "ir/assumed_size.h"
#include "ir/passes/gather_index.h"
#include "ir/passes/match.h"
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"
#include "ir/passes/two_step_reductions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace ingot {
namespace {

/// Whether `value` is the number of elements along `dim`, minus one.
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

/// The axis along which a gather reverses its operand; none if it does not.
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

/// A gather of the source graph that is pushed down.
class PushedGather {
public:
  PushedGather(GraphRewriter& rewriter, const Candidate& candidate)
      : rewriter_(rewriter), graph_(rewriter.source()),
        axis_(candidate.attributes<AxisAttributes>().axis),
        is_flip_(flipped_axis(graph_, candidate.op).has_value()), index_(candidate.operands[1]),
        shape_(rewriter.type(index_).shape) {}

  /// Whether all tables of the new gathers are in memory and few ops are repeated.
  bool affords(ValueId value);
  /// The number of tables to gather from, after `affords` was true.
  int tables() const { return tables_; }
  /// The value in the new graph of a source value at the index.
  ValueId of(ValueId value);

private:
  enum class Step : uint8_t {
    keep,   ///< equal along the axis, or without axes
    undo,   ///< the same flip, which cancels
    count,  ///< positions along the axis
    inside, ///< an op whose operands are gathered instead
    gather,
  };
  Step step_for(ValueId value) const;
  bool is_picked_product(ValueId value) const;
  ValueId spread(ValueId value);
  ValueId compute(ValueId value);

  GraphRewriter& rewriter_;
  const Graph& graph_;
  const int64_t axis_;
  const bool is_flip_;
  const ValueId index_; ///< in the new graph
  const Shape shape_;   ///< of the index and of the result
  int ops_ = kMostRepeatedOps;
  int tables_ = 0;
  std::map<ValueId, bool> affords_;
  std::map<ValueId, ValueId> gathered_;
};

PushedGather::Step PushedGather::step_for(ValueId value) const {
  const Op& op = graph_.producer(value);
  const Shape& shape = graph_.type(value).shape;
  if (shape.empty()) return Step::keep;
  if (is_flip_ && flipped_axis(graph_, op) == axis_) return Step::undo;
  // If another op needs the scan too, the scan and the ops between would run twice.
  const bool is_spare = rewriter_.source_uses(value) == 1;
  switch (info(op.kind).op_class) {
  case OpClass::elementwise: return is_spare || !is_flip_ ? Step::inside : Step::gather;
  case OpClass::scan: return is_spare && is_flip_ ? Step::inside : Step::gather;
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

bool PushedGather::affords(ValueId value) {
  const auto [known, added] = affords_.try_emplace(value, true);
  if (!added) return known->second;
  bool result = true;
  const Step step = step_for(value);
  if (step == Step::inside)
    result = --ops_ >= 0 && llvm::all_of(graph_.producer(value).operands,
                                         [&](ValueId part) { return affords(part); });
  tables_ += step == Step::gather;
  if (step == Step::gather)
    result =
        graph_.producer(root_of(graph_, value)).kind == OpKind::input || is_picked_product(value);
  return affords_[value] = result;
}

/// Whether `value` is computed from the rows of a product and one element of each row is gathered.
/// The product's kernel picks that element (reduce_gathers.cpp).
bool PushedGather::is_picked_product(ValueId value) const {
  const Shape& shape = graph_.type(value).shape;
  const auto product = product_behind(graph_, value);
  return product && axis_ + 1 == static_cast<int64_t>(shape.size()) && shape_.back().is(1) &&
         product->back() == shape.back();
}

/// A value that is equal along the axis, broadcast to the extent of the index.
ValueId PushedGather::spread(ValueId value) {
  const Op& op = graph_.producer(value);
  if (graph_.type(value).shape.empty() || graph_.type(value).shape == shape_)
    return rewriter_.mapped(value);
  if (op.kind == OpKind::iota)
    return rewriter_.make(OpKind::iota, {},
                          IotaAttributes{graph_.attributes<IotaAttributes>(op).axis,
                                         {graph_.type(value).dtype, shape_}});
  return rewriter_.broadcast(rewriter_.mapped(op.operands[0]), shape_);
}

ValueId PushedGather::compute(ValueId value) {
  const Op& op = graph_.producer(value);
  llvm::SmallVector<ValueId, 3> operands;
  for (ValueId part : op.operands) operands.push_back(of(part));
  Attributes attributes = op.attributes;
  if (auto* scan = std::get_if<ScanAttributes>(&attributes); scan && scan->axis == axis_)
    scan->reverse = !scan->reverse;
  return rewriter_.make(op.kind, operands, attributes);
}

ValueId PushedGather::of(ValueId value) {
  if (const auto known = gathered_.find(value); known != gathered_.end()) return known->second;
  ValueId result;
  switch (step_for(value)) {
  case Step::keep: result = spread(value); break;
  case Step::undo: result = rewriter_.mapped(graph_.producer(value).operands[0]); break;
  case Step::count: result = rewriter_.cast(index_, graph_.type(value).dtype); break;
  case Step::inside: result = compute(value); break;
  case Step::gather:
    result =
        rewriter_.make(OpKind::gather, {rewriter_.mapped(value), index_}, AxisAttributes{axis_});
  }
  return gathered_[value] = result;
}

/// Whether the rewrite computes more elements, or moves work from prepare into each launch.
bool costs_more(const Graph& graph, const Op& gather) {
  auto count = [&](ValueId value) { return likely_count(element_count(graph.type(value).shape)); };
  return count(gather.operands[1]) > count(gather.operands[0]) ||
         origin_of(graph, LaunchSizes(graph), gather.operands[0]) == Origin::params;
}

Replacement push_down(GraphRewriter& rewriter, const Candidate& candidate) {
  const Graph& graph = rewriter.source();
  if (candidate.kind() != OpKind::gather) return {};
  const ValueId value = candidate.source_operand();
  const bool is_flip = flipped_axis(graph, candidate.op).has_value();
  if (graph.producer(root_of(graph, value)).kind == OpKind::input ||
      (!is_flip && costs_more(graph, candidate.op)))
    return {};
  PushedGather gather(rewriter, candidate);
  if (!gather.affords(value)) return {};
  // If other ops need the table too, this gather reads it, unless it can read a single input once.
  const uint32_t others = rewriter.source_uses(value) - 1;
  if (!is_flip && (others > 1 || (others == 1 && gather.tables() > 1))) return {};
  const ValueId result = gather.of(value);
  if (is_flip) return {result};
  const Type& type = graph.type(value);
  const auto axis = candidate.attributes<AxisAttributes>().axis;
  return {
      rewriter.make(OpKind::select, {is_in_range(rewriter, candidate.operands[1], type.shape[axis]),
                                     result, missing_element(rewriter, type.dtype)})};
}

} // namespace

Graph push_down_gathers(const Graph& graph, const PassContext&) {
  return rewrite(graph, push_down);
}

} // namespace ingot
