// SPDX-License-Identifier: Apache-2.0
// A concat of what lies in memory, or of elementwise ops of it, becomes a choice by position
// between its parts, which is index arithmetic inside any kernel. Of another concat, whose parts
// are stored side by side, what is computed is computed of each part instead.
#include "ir/passes/dim_groups.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace ingot {
namespace {

/// Every element of the choice looks at each part: at what most is more than a kernel for each.
constexpr size_t kMostParts = 8;
/// Elementwise ops that are evaluated for each element, whichever part it comes from.
constexpr int kMostOps = 32;

/// The axis of a reshape's operand that is `axis` of its result; none where the elements of the
/// axis are those of others.
std::optional<int64_t> axis_before_reshape(const Shape& from, const Shape& to, int64_t axis) {
  const auto groups = group_dims(from, to);
  if (!groups) return std::nullopt;
  for (const DimGroup& group : *groups)
    if (group.to_begin == static_cast<size_t>(axis) && group.to_end == group.to_begin + 1 &&
        group.from_end == group.from_begin + 1)
      return static_cast<int64_t>(group.from_begin);
  return std::nullopt;
}

/// Windows along one axis of values of the new graph, taken of what lies in memory.
class Windows {
public:
  explicit Windows(GraphRewriter& rewriter) : rewriter_(rewriter) {}

  /// True when a window of `value` along `axis` is index arithmetic and few elementwise ops, which
  /// are then accounted for.
  bool affords(ValueId value, int64_t axis);
  /// The window of an affordable value.
  ValueId of(ValueId value, const WindowAttributes& window);

private:
  /// Nothing is computed between the value and memory.
  bool is_moved_memory(ValueId value) const;
  /// The axis of a movement's operand that is `axis` of `value`; none where there is none.
  std::optional<int64_t> axis_of_operand(ValueId value, int64_t axis) const;

  ValueId make(ValueId value, const WindowAttributes& window);

  GraphRewriter& rewriter_;
  int ops_ = kMostOps; ///< that are left
  std::map<std::tuple<ValueId, int64_t, int64_t, int64_t>, ValueId> made_;
};

bool Windows::is_moved_memory(ValueId value) const {
  const Op* op = &rewriter_.graph().producer(value);
  while (info(op->kind).op_class == OpClass::movement && op->kind != OpKind::concat)
    op = &rewriter_.graph().producer(op->operands[0]);
  return info(op->kind).op_class == OpClass::source;
}

std::optional<int64_t> Windows::axis_of_operand(ValueId value, int64_t axis) const {
  const Op& op = rewriter_.graph().producer(value);
  const Shape& to = rewriter_.type(value).shape;
  const Shape& from = rewriter_.type(op.operands[0]).shape;
  switch (op.kind) {
  case OpKind::transpose: return std::get<TransposeAttributes>(op.attributes).permutation[axis];
  case OpKind::reshape: return axis_before_reshape(from, to, axis);
  case OpKind::broadcast: {
    const int64_t own = axis - static_cast<int64_t>(to.size() - from.size());
    if (own < 0 || !(from[own] == to[axis])) return std::nullopt;
    return own;
  }
  default: return std::nullopt;
  }
}

bool Windows::affords(ValueId value, int64_t axis) {
  if (rewriter_.type(value).rank() == 0 || is_moved_memory(value)) return true;
  const Op& op = rewriter_.graph().producer(value);
  if (info(op.kind).op_class == OpClass::elementwise) {
    if (--ops_ < 0) return false;
    return llvm::all_of(op.operands, [&](ValueId operand) { return affords(operand, axis); });
  }
  if (info(op.kind).op_class != OpClass::movement || op.kind == OpKind::concat || --ops_ < 0)
    return false;
  const auto own = axis_of_operand(value, axis);
  return own && affords(op.operands[0], *own);
}

ValueId Windows::of(ValueId value, const WindowAttributes& window) {
  if (rewriter_.type(value).rank() == 0) return value;
  const auto key = std::tuple(value, window.axis, window.start, window.extent);
  if (auto made = made_.find(key); made != made_.end()) return made->second;
  return made_[key] = make(value, window);
}

ValueId Windows::make(ValueId value, const WindowAttributes& window) {
  if (is_moved_memory(value)) return rewriter_.make(OpKind::window, {value}, window);
  const Op op = rewriter_.graph().producer(value); // a copy: the op moves when others are made
  if (info(op.kind).op_class == OpClass::elementwise) {
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(of(operand, window));
    return rewriter_.make(op.kind, operands, op.attributes);
  }
  WindowAttributes own = window;
  own.axis = *axis_of_operand(value, window.axis);
  Shape shape = rewriter_.type(value).shape;
  shape[window.axis] = window.extent;
  const ValueId operand = of(op.operands[0], own);
  if (op.kind == OpKind::transpose) return rewriter_.make(op.kind, {operand}, op.attributes);
  return rewriter_.make(op.kind, {operand}, ShapeAttributes{shape});
}

int64_t axis_of(const Op& concat) { return std::get<AxisAttributes>(concat.attributes).axis; }

/// select(position < end of part 0, part 0, select(position < end of part 1, part 1, ..)).
Replacement choose_by_position(GraphRewriter& rewriter, const Candidate& candidate) {
  const int64_t axis = axis_of(candidate.op);
  const Shape shape = rewriter.source().type(candidate.op.results[0]).shape;
  Windows windows(rewriter);
  const auto affordable = [&](ValueId part) { return windows.affords(part, axis); };
  const auto& parts = candidate.operands;
  if (parts.size() < 2 || parts.size() > kMostParts || !llvm::all_of(parts, affordable)) return {};
  const int64_t total = shape[axis].fixed();
  const DType counter = total <= INT32_MAX ? DType::i32 : DType::i64;
  const ValueId position = rewriter.make(OpKind::iota, {}, IotaAttributes{axis, {counter, shape}});
  int64_t end = total;
  ValueId result;
  for (ValueId part : llvm::reverse(parts)) {
    const int64_t begin = end - rewriter.type(part).shape[axis].fixed();
    const ValueId own = windows.of(part, {axis, -begin, total});
    if (result == ValueId()) {
      result = own;
    } else {
      const ValueId limit =
          rewriter.make(OpKind::constant, {}, ConstantAttributes{counter, 0, end});
      result = rewriter.make(OpKind::select,
                             {rewriter.make(OpKind::less, {position, limit}), own, result});
    }
    end = begin;
  }
  return {result};
}

/// f(concat(a, b), y) is concat(f(a, part of y), f(b, rest of y)).
Replacement compute_parts(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto is_concat = [&](ValueId id) { return rewriter.kind(id) == OpKind::concat; };
  const auto* const first = llvm::find_if(candidate.operands, is_concat);
  if (first == candidate.operands.end()) return {};
  const Op concat = rewriter.graph().producer(*first); // dies with the next op
  const int64_t axis = axis_of(concat);
  Windows windows(rewriter);
  for (ValueId operand : candidate.operands) {
    const Op& other = rewriter.graph().producer(operand);
    const bool alike = is_concat(operand) && axis_of(other) == axis &&
                       llvm::equal(other.operands, concat.operands, [&](ValueId a, ValueId b) {
                         return rewriter.type(a).shape == rewriter.type(b).shape;
                       });
    if (!alike && (is_concat(operand) || !windows.affords(operand, axis))) return {};
  }
  llvm::SmallVector<ValueId, 4> parts;
  int64_t start = 0;
  for (size_t part = 0; part < concat.operands.size(); ++part) {
    const int64_t extent = rewriter.type(concat.operands[part]).shape[axis].fixed();
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : candidate.operands)
      operands.push_back(is_concat(operand) ? rewriter.operand(operand, part)
                                            : windows.of(operand, {axis, start, extent}));
    parts.push_back(rewriter.make(candidate.kind(), operands, candidate.op.attributes));
    start += extent;
  }
  return {rewriter.make(OpKind::concat, parts, AxisAttributes{axis})};
}

Replacement spread(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() == OpKind::concat) return choose_by_position(rewriter, candidate);
  if (info(candidate.kind()).op_class == OpClass::elementwise)
    return compute_parts(rewriter, candidate);
  return {};
}

} // namespace

llvm::Expected<Graph> spread_concats(const Graph& graph, const PassContext&) {
  return rewrite(graph, spread);
}

} // namespace ingot
