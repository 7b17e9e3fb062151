// SPDX-License-Identifier: Apache-2.0
// Rewrites matmuls of one row or one column to products that are summed along K, because they would
// not fill a tile. The matrix is then read once at full width, and neighbouring ops join the
// kernel. Matmuls with K = 1 become products alone.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// A matmul with a vector: one row times matrix B, or matrix A times one column.
struct MatrixVector {
  ValueId matrix, vector;
  bool is_k_last; ///< the matrix's last dim is K; otherwise its first is
  Shape shape;    ///< shape of the result
};

std::optional<MatrixVector> matrix_vector(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::matmul) return std::nullopt;
  const auto& flags = candidate.attributes<MatmulAttributes>();
  const Shape& shape = candidate.type.shape;
  if (shape.back().is(1))
    return MatrixVector{candidate.operands[0], candidate.operands[1], !flags.transpose_a, shape};
  if (shape[shape.size() - 2].is(1))
    return MatrixVector{candidate.operands[1], candidate.operands[0], flags.transpose_b, shape};
  return std::nullopt;
}

/// Rewrites a matmul with K = 1 to the product of the column of A and the row of B.
Replacement outer_product(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::matmul) return {};
  const auto& flags = candidate.attributes<MatmulAttributes>();
  const Shape& a = rewriter.type(candidate.operands[0]).shape;
  if (!a[a.size() - (flags.transpose_a ? 2 : 1)].is(1)) return {};
  const Shape& full = candidate.type.shape;
  Shape column = full, row = full;
  column.back() = 1;
  row[row.size() - 2] = 1;
  const ValueId left = rewriter.broadcast(rewriter.reshape(candidate.operands[0], column), full);
  const ValueId right = rewriter.broadcast(rewriter.reshape(candidate.operands[1], row), full);
  return {rewriter.make(OpKind::mul, {left, right})};
}

Replacement expand(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto product = matrix_vector(rewriter, candidate);
  if (!product) return {};
  const Moved matrix = moved(rewriter.graph(), product->matrix);
  // A tile of a matmul reads a repeated matrix once for all its vectors.
  if (matrix.repeats) return {};
  // A 16-bit matrix must be an input: the summing kernel then loads it, and the products stay in
  // registers.
  const bool is_input = rewriter.kind(matrix.root) == OpKind::input;
  if (is_16_bit(rewriter.type(product->matrix).dtype) && !is_input) return {};
  const Shape full = rewriter.type(product->matrix).shape;
  const size_t k = full.size() - (product->is_k_last ? 1 : 2);
  Shape one = full;
  one[full.size() - (product->is_k_last ? 2 : 1)] = 1;
  const ValueId vector = rewriter.broadcast(rewriter.reshape(product->vector, one), full);
  const ValueId products = rewriter.make(OpKind::mul, {product->matrix, vector});
  const ValueId sums =
      rewriter.make(OpKind::sum, {products}, ReduceAttributes{{static_cast<int64_t>(k)}});
  return {rewriter.reshape(sums, product->shape)};
}

} // namespace

Graph expand_matrix_vectors(const Graph& graph, const PassContext&) {
  return rewrite(graph, [](GraphRewriter& rewriter, const Candidate& candidate) {
    return first_match({outer_product, expand}, rewriter, candidate);
  });
}

} // namespace ingot
