// SPDX-License-Identifier: Apache-2.0
// See two_step_reductions.h. A matmul's kernel begins the first step tile by tile, and a kernel of
// loaded rows makes it where it makes the other reductions of the rows. A reduction may use any
// tree, and its states have f32 precision in this one too.
#include "ir/passes/passes.h"
#include "ir/passes/two_step_reductions.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

/// The maximum number of columns for which the kernel that reduces the rows also merges the
/// partials of a row's tiles. The two steps then take no more kernels than one.
constexpr int64_t kFewTiles = 2048;
/// The number of elements that one block reduces in a kernel, and the number that justifies another
/// kernel if they are stored anyway.
constexpr int64_t kOneBlock = int64_t{1} << 15;
constexpr int64_t kWorthAKernel = int64_t{1} << 20;
/// The maximum number of ops between a reduction and its matmul. It bounds the search.
constexpr size_t kMostOps = 64;

/// The number of innermost dims of `shape` whose product is `columns`; 0 if none.
size_t dims_of_row(const Shape& shape, const Dim& columns) {
  Dim extent = 1;
  for (size_t count = 1; count <= shape.size(); ++count) {
    auto product = checked_multiply(extent, shape[shape.size() - count]);
    if (!product) return 0;
    extent = *product;
    if (extent == columns) return count;
  }
  return 0;
}

/// Whether whole matrices of the product are reduced. The product's kernel begins that without a
/// split.
bool holds_matrices(const TwoSteps& steps, const Shape& product) {
  const Shape outer(steps.shape.begin(), steps.shape.end() - steps.rows.size());
  if (steps.rest.size() == outer.size()) return true;
  const Dim& rows = product[product.size() - 2];
  const size_t count = dims_of_row(outer, rows);
  const auto first = static_cast<int64_t>(outer.size() - count);
  return rows.is(1) || (count > 0 && llvm::count_if(steps.rest, [&](int64_t axis) {
                                       return axis >= first;
                                     }) == static_cast<int64_t>(count));
}

/// The next move of a walk at an op.
enum class Step : uint8_t { end, skip, follow };

/// Walks backwards from `x` to the values behind it. `visit` gets the op that yields a value, and
/// says whether to follow those of its operands that `follows` takes.
template <typename Visit, typename Follows>
void walk_back(const Graph& graph, ValueId x, Visit visit, Follows follows) {
  std::set<ValueId> seen = {x};
  std::vector<ValueId> open = {x};
  while (!open.empty() && seen.size() < kMostOps) {
    const ValueId value = open.back();
    open.pop_back();
    const Op& op = graph.producer(value);
    const Step step = visit(value, op);
    if (step == Step::end) return;
    if (step == Step::skip) continue;
    for (ValueId operand : op.operands)
      if (follows(operand) && seen.insert(operand).second) open.push_back(operand);
  }
}

bool is_elementwise_or_reshape(const Op& op) {
  return info(op.kind).op_class == OpClass::elementwise || op.kind == OpKind::reshape;
}

/// The number of elements of the rows over which an op behind `x` reduces, whose result the rows'
/// elements use again: a softmax, say. 1: there is none.
Dim reduced_row_behind(const Graph& graph, ValueId x) {
  const Dim elements = element_count(graph.type(x).shape);
  Dim row = 1;
  walk_back(
      graph, x,
      [&](ValueId, const Op& op) {
        if (is_elementwise_or_reshape(op) || op.kind == OpKind::broadcast) return Step::follow;
        if (info(op.kind).op_class != OpClass::reduce) return Step::skip;
        const Shape& shape = graph.type(op.operands[0]).shape;
        const Axes& axes = reduced_axes(op);
        if (axes.empty() || !(element_count(shape) == elements) ||
            axes.front() != static_cast<int64_t>(shape.size() - axes.size()))
          return Step::skip;
        row = element_count(Shape(shape.end() - axes.size(), shape.end()));
        return Step::end;
      },
      [](ValueId) { return true; });
  return row;
}

} // namespace

std::optional<Shape> product_behind(const Graph& graph, ValueId x) {
  const Dim elements = element_count(graph.type(x).shape);
  std::optional<Shape> product;
  walk_back(
      graph, x,
      [&](ValueId value, const Op& op) {
        if (op.kind != OpKind::matmul)
          return is_elementwise_or_reshape(op) ? Step::follow : Step::skip;
        product = graph.type(value).shape;
        return Step::end;
      },
      [&](ValueId operand) { return element_count(graph.type(operand).shape) == elements; });
  return product;
}

std::optional<TwoSteps> two_steps(const Graph& graph, ValueId x, llvm::ArrayRef<int64_t> axes,
                                  bool is_shared) {
  TwoSteps steps{graph.type(x).shape, {}, {}};
  const Dim elements = element_count(steps.shape);
  const auto product = product_behind(graph, x);
  const Dim columns = product ? product->back() : reduced_row_behind(graph, x);
  if (columns.is(1)) return std::nullopt;
  const bool few_tiles = product && columns.is_fixed() && columns.fixed() <= kFewTiles;
  const int64_t too_few = is_shared ? kWorthAKernel : few_tiles ? 0 : kOneBlock;
  if (elements.is_fixed() && elements.fixed() <= too_few) return std::nullopt;
  // A block holds shorter rows with their segments, and reduces both in one kernel.
  Dim reduced = 1;
  for (int64_t axis : axes) reduced = reduced * steps.shape[axis];
  if (!product && reduced.is_fixed() && reduced.fixed() <= kOneBlock) return std::nullopt;
  const size_t inner = dims_of_row(steps.shape, columns);
  const auto first = static_cast<int64_t>(steps.shape.size() - inner);
  for (int64_t axis : axes) (axis >= first ? steps.rows : steps.rest).push_back(axis);
  const bool holds_rows = inner != 0 && steps.rows.size() == inner;
  const bool one_row = llvm::all_of(steps.rest, [&](int64_t a) { return steps.shape[a].is(1); });
  if (!holds_rows || one_row || (product && holds_matrices(steps, *product))) return std::nullopt;
  return steps;
}

Replacement join_reductions(GraphRewriter& rewriter, const Candidate& candidate) {
  const OpKind kind = candidate.kind();
  const ReducerInfo* reducer = reducer_of(kind);
  if (!reducer || reducer->of_parts != OfParts::same ||
      rewriter.kind(candidate.operands[0]) != kind ||
      rewriter.source_uses(candidate.source_operand()) > 1)
    return {};
  const Op& inner = rewriter.producer(candidate.operands[0]);
  const ValueId x = inner.operands[0];
  const Axes axes =
      join_axes(reduced_axes(inner), reduced_axes(candidate.op), rewriter.type(x).rank());
  // In the source graph, which counts uses, the operand may still be another op.
  const Op& source_inner = rewriter.source().producer(candidate.source_operand());
  const bool is_shared = info(source_inner.kind).op_class == OpClass::reduce &&
                         rewriter.source_uses(source_inner.operands[0]) > 1;
  if (two_steps(rewriter.graph(), x, axes, is_shared)) return {};
  return {rewriter.make(kind, {x}, ReduceAttributes{axes})};
}

namespace {

/// Whether only outputs of the graph use the results of an op.
bool is_only_returned(const GraphRewriter& rewriter, const Op& op) {
  return llvm::all_of(op.results, [&](ValueId result) {
    return rewriter.source_uses(result) ==
           llvm::count_if(rewriter.source().outputs(),
                          [&](const GraphOutput& output) { return output.value == result; });
  });
}

/// Splits reductions that divide by their extent, or the other ones.
Graph split(const Graph& graph, bool divides) {
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    const OpKind kind = candidate.kind();
    const ReducerInfo* reducer = reducer_of(kind);
    if (!reducer || reducer->of_parts == OfParts::none || info(kind).divides() != divides)
      return {};
    const ValueId source = candidate.source_operand();
    const auto steps =
        two_steps(graph, source, reduced_axes(candidate.op), rewriter.source_uses(source) > 1);
    if (!steps) return {};
    const DType dtype = graph.type(source).dtype;
    const bool rounds = is_float(dtype) && info(kind).accuracy != Accuracy::exact;
    // A kernel keeps a 16-bit result in f32, but the first step would round it. A returned result
    // is rounded anyway.
    if (rounds && dtype != DType::f32 && !is_only_returned(rewriter, candidate.op)) return {};
    ValueId x = rewriter.reshape(candidate.operands[0], steps->shape);
    if (rounds) x = rewriter.cast(x, DType::f32);
    const ReduceAttributes rows{steps->rows}, rest{steps->rest};
    Replacement results = rewriter.make_all(kind, {x}, rows);
    if (reducer->of_parts == OfParts::spread) {
      // All rows have the same length. The variance is the mean of their variances plus the
      // variance of their means.
      const ValueId within = rewriter.make(OpKind::mean, {results[1]}, rest);
      results = rewriter.make_all(kind, {results[0]}, rest);
      results[1] = rewriter.make(OpKind::add, {results[1], within});
    } else {
      results = rewriter.make_all(kind, {results[0]}, rest);
    }
    for (ValueId& result : results)
      if (rounds) result = rewriter.cast(result, dtype);
    return results;
  });
}

} // namespace

Graph split_reductions(const Graph& graph, const PassContext&) { return split(graph, false); }

Graph split_means(const Graph& graph, const PassContext&) { return split(graph, true); }

} // namespace ingot
