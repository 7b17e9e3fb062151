// SPDX-License-Identifier: Apache-2.0
// Matmuls of one row or one column, of which no tile is filled, become products that are summed
// along K: the matrix is read once at full width, and what is around joins the same kernel. Where
// one matrix serves a whole batch of rows, these are the rows of a matmul without a batch.
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// A matmul of a vector: one row times matrix B, or matrix A times one column.
struct MatrixVector {
  ValueId matrix, vector;
  bool is_k_last; ///< the matrix's dims end in K, not begin with it
  Shape shape;    ///< of the result
};

std::optional<MatrixVector> matrix_vector(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::matmul) return std::nullopt;
  const auto& flags = std::get<MatmulAttributes>(candidate.op.attributes);
  const Shape& shape = rewriter.source().type(candidate.op.results[0]).shape;
  if (shape.back().is(1))
    return MatrixVector{candidate.operands[0], candidate.operands[1], !flags.transpose_a, shape};
  if (shape[shape.size() - 2].is(1))
    return MatrixVector{candidate.operands[1], candidate.operands[0], flags.transpose_b, shape};
  return std::nullopt;
}

/// The tensor that a value moves, and whether some of its elements are there several times.
struct Moved {
  ValueId root;
  bool repeats = false;
};

Moved moved(const Graph& graph, ValueId value) {
  Moved result{value};
  for (const Op* op = &graph.producer(value); info(op->kind).op_class == OpClass::movement;
       op = &graph.producer(result.root)) {
    const ValueId from = op->operands[0];
    result.repeats |=
        op->kind == OpKind::broadcast &&
        !(element_count(graph.type(from).shape) == element_count(graph.type(result.root).shape));
    result.root = from;
    if (op->kind == OpKind::concat) break;
  }
  return result;
}

/// The two dims of a matrix that a batch repeats as it is.
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

/// The vectors of a batch as the rows of one matmul.
Replacement stack_vectors(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto product = matrix_vector(rewriter, candidate);
  if (!product) return {};
  const auto matrix = repeated_matrix(rewriter, product->matrix);
  if (!matrix) return {};
  const Shape batch(product->shape.begin(), product->shape.end() - 2);
  const Shape& dims = rewriter.type(*matrix).shape;
  const Dim k = dims[product->is_k_last ? 1 : 0];
  const ValueId rows = rewriter.reshape(product->vector, {element_count(batch), k});
  const ValueId result =
      rewriter.make(OpKind::matmul, {rows, *matrix}, MatmulAttributes{false, product->is_k_last});
  return {rewriter.reshape(result, product->shape)};
}

Replacement expand(GraphRewriter& rewriter, const Candidate& candidate) {
  const auto product = matrix_vector(rewriter, candidate);
  if (!product) return {};
  const Moved matrix = moved(rewriter.graph(), product->matrix);
  // A tile of a matmul reads it once for all its vectors.
  if (matrix.repeats) return {};
  // Products of halves stay in registers where the kernel that sums them loads the matrix.
  const bool is_half = rewriter.type(product->matrix).dtype != DType::f32;
  if (is_half && rewriter.kind(matrix.root) != OpKind::input) return {};
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

llvm::Expected<Graph> expand_matrix_vectors(const Graph& graph, const PassContext&) {
  return rewrite(graph, [](GraphRewriter& rewriter, const Candidate& candidate) {
    return first_match({stack_vectors, expand}, rewriter, candidate);
  });
}

} // namespace ingot
