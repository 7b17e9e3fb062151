// SPDX-License-Identifier: Apache-2.0
// Rewrites a batch of matrices or vectors times one matrix to one matmul of all their rows. Its
// tiles hold rows of several matrices and read the shared matrix once for all of them. So may parts
// of a batch share matrices: heads of attention that have keys in common.
#include "ir/passes/dataflow.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

/// Rows of the tallest tile (MatmulTile). Matrices with at least so many rows fill their tiles.
constexpr int64_t kTileRows = 128;

/// The matrix that an operand repeats over the batch; none if the batch has different ones.
std::optional<ValueId> repeated_matrix(GraphRewriter& rewriter, ValueId operand) {
  if (rewriter.kind(operand) != OpKind::broadcast) return std::nullopt;
  const ValueId from = rewriter.operand(operand);
  const Shape matrix = rewriter.type(from).shape, all = rewriter.type(operand).shape;
  if (matrix.size() < 2 || all.size() < 3) return std::nullopt;
  const Shape last(all.end() - 2, all.end());
  if (!(Shape(matrix.end() - 2, matrix.end()) == last) ||
      !(element_count(matrix) == element_count(last)))
    return std::nullopt;
  return rewriter.reshape(from, last);
}

/// Whether each value is computed elementwise from a matmul that keeps its batch, because its
/// matrices differ.
std::vector<bool> made_by_batches(const Graph& graph) {
  std::vector<bool> result(graph.values().size());
  for (const Op& op : graph.ops()) {
    const bool keeps_batch =
        op.kind == OpKind::matmul && graph.producer(op.operands[1]).kind != OpKind::broadcast;
    const bool passes_on =
        info(op.kind).op_class == OpClass::elementwise &&
        llvm::any_of(op.operands, [&](ValueId operand) { return result[operand.index]; });
    for (ValueId value : op.results) result[value.index] = keeps_batch || passes_on;
  }
  return result;
}

/// The uses of a matmul's batch.
class BatchUses {
public:
  explicit BatchUses(const Graph& graph)
      : graph_(graph), users_(users_of_values(graph)), in_batches_(made_by_batches(graph)) {}

  /// Whether a consumer behind elementwise ops needs the batch. It combines the value with a matmul
  /// that keeps its batch, or it reduces the rows of each matrix separately. One kernel does both
  /// only with a batch.
  bool need(ValueId product) const;

private:
  bool reduces_each(const Op& op, int64_t rows) const;

  const Graph& graph_;
  const std::vector<std::vector<OpId>> users_;
  const std::vector<bool> in_batches_;
};

bool BatchUses::reduces_each(const Op& op, int64_t rows) const {
  if (info(op.kind).op_class != OpClass::reduce) return false;
  const auto& axes = graph_.attributes<ReduceAttributes>(op).axes;
  for (int64_t d = 0; d < rows; ++d)
    if (llvm::is_contained(axes, rows) && !llvm::is_contained(axes, d)) return true;
  return false;
}

bool BatchUses::need(ValueId product) const {
  constexpr size_t kMostSeen = 256; // keeps the time linear
  const int64_t rows = graph_.type(product).rank() - 2;
  std::set<ValueId> seen = {product};
  std::vector<ValueId> open = {product};
  while (!open.empty() && seen.size() < kMostSeen) {
    const ValueId value = open.back();
    open.pop_back();
    if (in_batches_[value.index]) return true;
    for (OpId user : users_[value.index]) {
      const Op& op = graph_.op(user);
      if (reduces_each(op, rows)) return true;
      if (info(op.kind).op_class == OpClass::elementwise && seen.insert(op.results[0]).second)
        open.push_back(op.results[0]);
    }
  }
  return false;
}

/// One matmul of `count` rows, with a reshaped operand, in the place of a candidate.
Replacement multiply_rows(GraphRewriter& rewriter, const Candidate& candidate, const Dim& count,
                          ValueId operand, ValueId matrix, bool transposes) {
  const Dim k = rewriter.type(matrix).shape[transposes ? 1 : 0];
  const ValueId product =
      rewriter.make(OpKind::matmul, {rewriter.reshape(operand, {count, k}), matrix},
                    MatmulAttributes{false, transposes});
  return {rewriter.reshape(product, candidate.type.shape)};
}

/// Stacks columns: they are rows of the transposed product.
Replacement stack_columns(GraphRewriter& rewriter, const Candidate& candidate) {
  const Shape& shape = candidate.type.shape;
  if (!shape.back().is(1)) return {};
  const auto matrix = repeated_matrix(rewriter, candidate.operands[0]);
  if (!matrix) return {};
  const Dim count = element_count(Shape(shape.begin(), shape.end() - 2));
  const bool transposes = !candidate.attributes<MatmulAttributes>().transpose_a;
  return multiply_rows(rewriter, candidate, count, candidate.operands[1], *matrix, transposes);
}

/// The matrices that B repeats, each `times` times in a row.
struct SharedMatrices {
  ValueId from;
  Dim times;
};
std::optional<SharedMatrices> shared_matrices(GraphRewriter& rewriter, ValueId operand) {
  const Shape batch = rewriter.type(operand).shape;
  ValueId repeated = operand;
  while (rewriter.kind(repeated) == OpKind::reshape) repeated = rewriter.operand(repeated);
  if (rewriter.kind(repeated) != OpKind::broadcast) return std::nullopt;
  const Shape all = rewriter.type(repeated).shape;
  if (all.size() < 3 || batch.size() < 3 ||
      !(Shape(all.end() - 2, all.end()) == Shape(batch.end() - 2, batch.end())))
    return std::nullopt;
  const ValueId source = rewriter.operand(repeated);
  const Shape own = rewriter.type(source).shape;
  Shape from(all.size() - own.size(), 1);
  from.append(own.begin(), own.end());
  SharedMatrices result{source, 1};
  size_t kept = all.size() - 2;
  for (; kept > 0 && from[kept - 1].is(1); --kept) result.times = result.times * all[kept - 1];
  Shape shape(all.begin(), all.begin() + kept);
  shape.append(all.end() - 2, all.end());
  if (!(element_count(from) == element_count(shape)) || result.times.is(1)) return std::nullopt;
  result.from = rewriter.reshape(source, shape);
  return result;
}

/// Stacks the rows of matrices of A that meet one matrix of B, if they fit a tile.
Replacement stack_shared(GraphRewriter& rewriter, const Candidate& candidate) {
  const Shape& shape = candidate.type.shape;
  const auto& flags = candidate.attributes<MatmulAttributes>();
  const Dim& rows = shape[shape.size() - 2];
  if (flags.transpose_a && !rows.is(1)) return {};
  const auto shared = shared_matrices(rewriter, candidate.operands[1]);
  if (!shared) return {};
  const Dim count = rows * shared->times;
  if (!count.is_fixed() || count.fixed() > kTileRows) return {};
  const Shape matrices = rewriter.type(shared->from).shape;
  Shape stacked(matrices.begin(), matrices.end() - 2);
  stacked.append({count, matrices[matrices.size() - (flags.transpose_b ? 1 : 2)]});
  const ValueId product = rewriter.make(
      OpKind::matmul, {rewriter.reshape(candidate.operands[0], stacked), shared->from},
      MatmulAttributes{false, flags.transpose_b});
  return {rewriter.reshape(product, shape)};
}

} // namespace

Graph stack_batches(const Graph& graph, const PassContext&) {
  const BatchUses uses(graph);
  const auto stack_rows = [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    const Shape& shape = candidate.type.shape;
    const auto& flags = candidate.attributes<MatmulAttributes>();
    const Dim& rows = shape[shape.size() - 2];
    const bool fills_tiles = rows.is_fixed() && rows.fixed() % kTileRows == 0;
    if (fills_tiles || (flags.transpose_a && !rows.is(1)) ||
        (!rows.is(1) && uses.need(candidate.op.results[0])))
      return {};
    const auto matrix = repeated_matrix(rewriter, candidate.operands[1]);
    if (!matrix) return {};
    const Dim count = element_count(Shape(shape.begin(), shape.end() - 1));
    return multiply_rows(rewriter, candidate, count, candidate.operands[0], *matrix,
                         flags.transpose_b);
  };
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (candidate.kind() != OpKind::matmul) return {};
    Replacement stacked = stack_rows(rewriter, candidate);
    if (stacked.empty()) stacked = stack_shared(rewriter, candidate);
    return stacked.empty() ? stack_columns(rewriter, candidate) : stacked;
  });
}

} // namespace ingot
