// SPDX-License-Identifier: Apache-2.0
// Turns a concat of tensors in memory, or of elementwise ops of them, into a choice between its
// parts by position, which is index arithmetic inside any kernel. The parts of any other concat are
// stored side by side, and elementwise ops are computed on each part instead.
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

int64_t axis_of(const Op& concat) { return std::get<AxisAttributes>(concat.attributes).axis; }

/// Parts of a concat that become one value.
class Choice {
public:
  Choice(GraphRewriter& rewriter, llvm::ArrayRef<ValueId> parts, int64_t axis,
         const PartTaker::Rules& rules)
      : rewriter_(rewriter), parts_(parts), axis_(axis), windows_(rewriter, rules) {
    for (ValueId part : parts) total_ += extent(part);
  }

  /// False if computing a part costs more than storing it.
  bool is_afforded() {
    return parts_.size() == 1 || llvm::all_of(parts_, [&](ValueId part) {
             return windows_.affords(part, shown(part, 0));
           });
  }
  ValueId make();

private:
  int64_t extent(ValueId part) const { return rewriter_.type(part).shape[axis_].fixed(); }
  Part shown(ValueId part, int64_t begin) const {
    return part_along(rewriter_.type(part).shape, axis_, -begin, total_ - begin);
  }

  GraphRewriter& rewriter_;
  llvm::ArrayRef<ValueId> parts_;
  int64_t axis_, total_ = 0;
  PartTaker windows_;
};

/// Makes select(position < end of part 0, part 0, select(position < end of part 1, part 1, ..)).
ValueId Choice::make() {
  if (parts_.size() == 1) return parts_.front();
  Shape shape = rewriter_.type(parts_.front()).shape;
  shape[axis_] = total_;
  const DType counter = total_ <= INT32_MAX ? DType::i32 : DType::i64;
  const ValueId position =
      rewriter_.make(OpKind::iota, {}, IotaAttributes{axis_, {counter, shape}});
  int64_t end = total_;
  ValueId result;
  for (ValueId part : llvm::reverse(parts_)) {
    const int64_t begin = end - extent(part);
    const ValueId own = windows_.of(part, shown(part, begin));
    if (end == total_) {
      result = own;
    } else {
      const ValueId limit =
          rewriter_.make(OpKind::constant, {}, ConstantAttributes{counter, 0, end});
      result = rewriter_.make(OpKind::select,
                              {rewriter_.make(OpKind::less, {position, limit}), own, result});
    }
    end = begin;
  }
  return result;
}

/// Turns a concat of many parts into a concat of few choices.
Replacement choose_by_position(GraphRewriter& rewriter, const Candidate& candidate) {
  const int64_t axis = axis_of(candidate.op);
  llvm::ArrayRef<ValueId> parts = candidate.operands;
  if (parts.size() < 2) return {};
  PartTaker::Rules rules;
  const LaunchSizes sizes(rewriter.source());
  const bool is_launched = llvm::any_of(parts, [&](ValueId part) {
    return origin_of(rewriter.graph(), sizes, part) == Origin::other;
  });
  if (is_launched) rules.launch_sizes = &sizes;
  // Storing the sliced operand of a part takes no more memory than storing the concat.
  rules.stored_elements = element_count(candidate.type.shape);
  const size_t groups = (parts.size() - 1) / kMostSpreadParts + 1;
  const size_t most = (parts.size() - 1) / groups + 1;
  std::vector<Choice> choices;
  for (; !parts.empty(); parts = parts.drop_front(std::min(most, parts.size())))
    choices.emplace_back(rewriter, parts.take_front(most), axis, rules);
  if (!llvm::all_of(choices, [](Choice& choice) { return choice.is_afforded(); })) return {};
  llvm::SmallVector<ValueId, 4> chosen;
  for (Choice& choice : choices) chosen.push_back(choice.make());
  if (chosen.size() == 1) return {chosen.front()};
  return {rewriter.make(OpKind::concat, chosen, AxisAttributes{axis})};
}

/// Rewrites f(concat(a, b), y) to concat(f(a, part of y), f(b, rest of y)).
Replacement compute_parts(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto is_concat = [&](ValueId id) { return rewriter.kind(id) == OpKind::concat; };
  const auto* const first = llvm::find_if(candidate.operands, is_concat);
  if (first == candidate.operands.end()) return {};
  const Op concat = rewriter.producer(*first); // invalid after the next op
  // A returned concat is in memory as a whole, and ops on it are not split.
  const ValueId source = candidate.source_operand(first - candidate.operands.begin());
  if (rewriter.is_returned(source) || concat.operands.size() > kMostSpreadParts) return {};
  const int64_t axis = axis_of(concat);
  PartTaker::Rules rules;
  rules.takes_repeated = true;
  PartTaker slices(rewriter, rules);
  const auto shown = [&](ValueId value, int64_t start, int64_t extent) {
    const Shape& shape = rewriter.type(value).shape;
    return shape.empty() ? Part() : part_along(shape, axis, start, start + extent);
  };
  for (ValueId operand : candidate.operands) {
    const Op& other = rewriter.producer(operand);
    const bool alike = is_concat(operand) && axis_of(other) == axis &&
                       llvm::equal(other.operands, concat.operands, [&](ValueId a, ValueId b) {
                         return rewriter.type(a).shape == rewriter.type(b).shape;
                       });
    if (!alike && (is_concat(operand) || !slices.affords(operand, shown(operand, 0, 1)))) return {};
  }
  llvm::SmallVector<ValueId, 4> parts;
  int64_t start = 0;
  for (size_t part = 0; part < concat.operands.size(); ++part) {
    const int64_t extent = rewriter.type(concat.operands[part]).shape[axis].fixed();
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : candidate.operands)
      operands.push_back(is_concat(operand) ? rewriter.operand(operand, part)
                                            : slices.of(operand, shown(operand, start, extent)));
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

Graph spread_concats(const Graph& graph, const PassContext&) { return rewrite(graph, spread); }

} // namespace ingot
