// SPDX-License-Identifier: Apache-2.0
// Rewrites the sum or mean of a matmul's result over rows or columns, or over runs of them, to a
// matmul with a summed operand. The sum over the output features of a linear layer becomes a
// matrix-vector product, and their average pooling a smaller linear layer. Scales, biases and
// reshapes may stand between.
#include "ir/assumed_size.h"
#include "ir/lower_order.h"
#include "ir/passes/dataflow.h"
#include "ir/passes/dim_groups.h"
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/reduction_axes.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The maximum number of ops between a reduction and its matmul. It bounds the search.
constexpr int kMaxDepth = 16;
/// The number of multiplications below which a matmul costs less than one more kernel launch, which
/// sums its operand.
constexpr int64_t kWorthAKernel = int64_t{1} << 24;

/// A matmul's result, viewed in `shape` and reduced over `axes` of that shape.
struct View {
  OpKind kind; // sum or mean
  Shape shape;
  Axes axes;
};

enum class Side : uint8_t { rows, columns };

/// The reduced axes, split into those of one side of a matmul and the others.
struct Split {
  Side side;
  DimGroup group; // the group of the result's last or last but one dim
  Axes pushed;    // axes of the view in the group
  Axes left;      // axes of the view elsewhere
};

class PushDown {
public:
  PushDown(GraphRewriter& rewriter, const std::vector<bool>& params_only)
      : rewriter_(rewriter), source_(rewriter.source()), params_only_(params_only) {}

  /// Whether this source value comes from a matmul without other uses, and summing its operand
  /// pays.
  bool reaches_matmul(ValueId value, const View& view, int depth = 0) const {
    if (depth > kMaxDepth || rewriter_.source_uses(value) > 1) return false;
    const Op& op = source_.producer(value);
    auto below = [&](unsigned position) {
      return reaches_matmul(op.operands[position], view, depth + 1);
    };
    switch (op.kind) {
    case OpKind::matmul: return split(op, view).has_value();
    case OpKind::neg:
    case OpKind::reshape: return below(0);
    case OpKind::mul: return is_number(op.operands[1]) && below(0);
    case OpKind::add:
    case OpKind::sub: return below(0) || below(1);
    default: return false;
    }
  }

  /// Pushes the reduction of a source value down as far as possible. The value has the view's
  /// elements, or rank 0.
  ValueId push(ValueId value, const View& view) {
    if (!reaches_matmul(value, view)) return reduce_here(value, view);
    const Op& op = source_.producer(value);
    switch (op.kind) {
    case OpKind::matmul: return push_into_matmul(op, *split(op, view), view);
    case OpKind::reshape: return push(op.operands[0], view);
    case OpKind::neg: return rewriter_.make(OpKind::neg, {push(op.operands[0], view)});
    case OpKind::mul:
      return rewriter_.make(OpKind::mul,
                            {push(op.operands[0], view), rewriter_.mapped(op.operands[1])});
    case OpKind::add:
    case OpKind::sub: {
      ValueId a = push(op.operands[0], view);
      ValueId b = push(op.operands[1], view);
      return rewriter_.make(op.kind, {a, b});
    }
    default: llvm_unreachable("not linear");
    }
  }

private:
  bool is_number(ValueId value) const {
    return source_.type(value).rank() == 0 && splat_real(source_, value);
  }

  ValueId reduce_here(ValueId value, const View& view) {
    ValueId x = rewriter_.mapped(value);
    x = rewriter_.type(x).rank() == 0 ? rewriter_.broadcast(x, view.shape)
                                      : rewriter_.reshape(x, view.shape);
    return rewriter_.make(view.kind, {x}, ReduceAttributes{view.axes});
  }

  std::optional<Split> split(const Op& matmul, const View& view) const {
    const Shape& shape = source_.type(matmul.results[0]).shape;
    auto groups = group_dims(shape, view.shape);
    if (!groups) return std::nullopt;
    auto fits = [&](const DimGroup& group) {
      return shape.size() - 1 + (group.to_end - group.to_begin) <= kMaxRank;
    };
    for (Side side : {Side::columns, Side::rows}) {
      size_t dim = shape.size() - (side == Side::columns ? 1 : 2);
      for (const DimGroup& group : *groups) {
        if (group.from_begin != dim || group.from_end != dim + 1 || !fits(group)) continue;
        Split result{side, group, {}, {}};
        for (int64_t axis : view.axes) {
          auto position = static_cast<size_t>(axis);
          bool inside = position >= group.to_begin && position < group.to_end;
          (inside ? result.pushed : result.left).push_back(axis);
        }
        if (!result.pushed.empty() && pays(matmul, result)) return result;
      }
    }
    return std::nullopt;
  }

  /// Whether the sums of an operand keep the precision of f32. A matmul rounds 16-bit operands. But
  /// an input, of which no element repeats, times a vector is summed in f32
  /// (expand_matrix_vectors), and the plan stores vectors of many rows in f32.
  bool stays_precise(const Op& matmul, const Split& split) const {
    const Type& type = source_.type(matmul.results[0]);
    if (type.dtype == DType::f32) return true;
    const bool columns = split.side == Side::columns;
    const auto kept = static_cast<int64_t>(split.group.to_end - split.group.to_begin) -
                      static_cast<int64_t>(split.pushed.size());
    const Moved other = moved(source_, matmul.operands[columns ? 0 : 1]);
    return is_16_bit(type.dtype) && kept == 0 && !other.repeats &&
           source_.producer(other.root).kind == OpKind::input &&
           likely_count(type.shape[type.rank() - (columns ? 2 : 1)]) >= kLowerOrder;
  }

  /// Summing an operand reads it once more. It saves a multiple of the other operand's extent in
  /// multiplications. A param is summed once for many launches.
  bool pays(const Op& matmul, const Split& split) const {
    if (!stays_precise(matmul, split)) return false;
    ValueId summed = matmul.operands[split.side == Side::columns ? 1 : 0];
    if (params_only_[summed.index]) return true;
    const Type& type = source_.type(matmul.results[0]);
    const Dim& other = type.shape[type.rank() - (split.side == Side::columns ? 2 : 1)];
    if (other.is_fixed() && other.fixed() < 4) return false;
    Dim work = element_count(type.shape);
    const auto& flags = source_.attributes<MatmulAttributes>(matmul);
    const Shape& a = source_.type(matmul.operands[0]).shape;
    auto total = checked_multiply(work, a[a.size() - (flags.transpose_a ? 2 : 1)]);
    return !total || !total->is_fixed() || total->fixed() >= kWorthAKernel;
  }

  /// Sums rows or columns of the operand in runs: [batch.., K, N] to [batch.., K, N'].
  ValueId sum_operand(ValueId operand, size_t dim, const Split& split, const View& view) {
    const Shape from = rewriter_.type(operand).shape;
    Shape spread(from.begin(), from.begin() + dim);
    Shape kept = spread;
    Dim extent = 1;
    Axes axes;
    for (size_t axis = split.group.to_begin; axis < split.group.to_end; ++axis) {
      if (llvm::is_contained(split.pushed, static_cast<int64_t>(axis))) {
        axes.push_back(static_cast<int64_t>(spread.size()));
      } else {
        extent = extent * view.shape[axis];
      }
      spread.push_back(view.shape[axis]);
    }
    kept.push_back(extent);
    spread.append(from.begin() + dim + 1, from.end());
    kept.append(from.begin() + dim + 1, from.end());
    ValueId summed =
        rewriter_.make(view.kind, {rewriter_.reshape(operand, spread)}, ReduceAttributes{axes});
    return rewriter_.reshape(summed, kept);
  }

  ValueId push_into_matmul(const Op& matmul, const Split& split, const View& view) {
    const auto& flags = source_.attributes<MatmulAttributes>(matmul);
    bool columns = split.side == Side::columns;
    llvm::SmallVector<ValueId, 2> operands = {rewriter_.mapped(matmul.operands[0]),
                                              rewriter_.mapped(matmul.operands[1])};
    size_t rank = source_.type(matmul.operands[0]).shape.size();
    bool is_last = columns ? !flags.transpose_b : flags.transpose_a;
    ValueId& operand = operands[columns ? 1 : 0];
    operand = sum_operand(operand, rank - (is_last ? 1 : 2), split, view);
    ValueId small = rewriter_.make(OpKind::matmul, operands, flags);

    Shape shape;
    for (size_t axis = 0; axis < view.shape.size(); ++axis) {
      bool is_gone = llvm::is_contained(split.pushed, static_cast<int64_t>(axis));
      if (!is_gone) shape.push_back(view.shape[axis]);
    }
    small = rewriter_.reshape(small, shape);
    if (split.left.empty()) return small;
    return rewriter_.make(view.kind, {small},
                          ReduceAttributes{shift_axes(split.left, split.pushed)});
  }

  GraphRewriter& rewriter_;
  const Graph& source_;
  const std::vector<bool>& params_only_;
};

} // namespace

Graph push_down_reductions(const Graph& graph, const PassContext&) {
  std::vector<bool> params_only = depends_only_on_params(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (!info(candidate.kind()).is_linear()) return {};
    PushDown push_down(rewriter, params_only);
    View view{candidate.kind(), graph.type(candidate.source_operand()).shape,
              reduced_axes(candidate.op)};
    if (!push_down.reaches_matmul(candidate.source_operand(), view)) return {};
    return {push_down.push(candidate.source_operand(), view)};
  });
}

} // namespace ingot
