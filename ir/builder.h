// SPDX-License-Identifier: Apache-2.0
// Formulas over a graph. Term has arithmetic operators that append ops, with NumPy broadcasting.
// The library of composite ops is written with it. The Builder keeps the first error; later ops do
// nothing.
#pragma once

#include "ir/graph.h"

#include <optional>
#include <utility>

namespace ingot {

class Builder;

/// A value of the graph under construction. After an error of its builder it is empty, and every op
/// on it does nothing. It holds its type, so that its shape outlives the growth of the graph.
class Term {
public:
  Term() = default;
  /// An empty value, the result of ops after an error.
  explicit Term(Builder& builder) : builder_(&builder) {}
  Term(Builder& builder, ValueId id);

  Builder& builder() const { return *builder_; }
  ValueId id() const { return id_; }
  const Type& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  int64_t rank() const { return type_.rank(); }

private:
  Builder* builder_ = nullptr;
  ValueId id_;
  Type type_;
};

class Builder {
public:
  explicit Builder(Graph& graph, SourceLocation location = {})
      : graph_(graph), location_(location) {}
  Builder(const Builder&) = delete;
  ~Builder();

  const Graph& graph() const { return graph_; }
  bool failed() const { return error_.has_value(); }
  /// Keeps the first error.
  Term fail(llvm::Error error);
  /// The error of a failed builder.
  llvm::Error take_error();

  Term term(ValueId id) { return {*this, id}; }
  /// A rank-0 literal. It is an error if an integer type does not have the value.
  Term constant(DType dtype, double value);
  Term constant(const ConstantAttributes& value);

  /// Appends an op with one result. Elementwise operands are broadcast to one shape.
  Term op(OpKind kind, llvm::ArrayRef<Term> operands, Attributes attributes = NoAttributes{});
  /// Appends max_sumexp or moments.
  std::pair<Term, Term> pair_op(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes);

private:
  /// nullopt after an error.
  std::optional<OpId> append(OpKind kind, llvm::ArrayRef<Term> operands, Attributes attributes);

  Graph& graph_;
  SourceLocation location_;
  std::optional<llvm::Error> error_;
};

/// The common shape in NumPy's sense: aligned at the last dim, extents equal or 1.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& x);
// A number takes the element type of the other operand.
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator*(const Term& a, double b);
Term operator/(const Term& a, double b);
Term operator+(double a, const Term& b);
Term operator-(double a, const Term& b);
Term operator*(double a, const Term& b);
Term operator/(double a, const Term& b);

/// An elementwise op without attributes.
Term unary(OpKind kind, const Term& x);
Term binary(OpKind kind, const Term& a, const Term& b);
Term exp(const Term& x);
Term expm1(const Term& x);
Term log(const Term& x);
Term log1p(const Term& x);
Term sqrt(const Term& x);
Term rsqrt(const Term& x);
Term tanh(const Term& x);
Term erf(const Term& x);
Term abs(const Term& x);
Term is_inf(const Term& x);
Term pow(const Term& x, double exponent);
Term minimum(const Term& a, const Term& b);
Term maximum(const Term& a, const Term& b);
Term minimum(const Term& a, double b);
Term maximum(const Term& a, double b);
Term less(const Term& a, double b);
Term less_equal(const Term& a, double b);
Term greater(const Term& a, double b);
Term equal(const Term& a, double b);
Term select(const Term& condition, const Term& a, const Term& b);
Term select(const Term& condition, double a, const Term& b);
Term cast(const Term& x, DType dtype);

/// Reduces `axes`, which are in range and distinct, in any order. Axes::keep keeps them as extents
/// of 1. Without axes the result is x.
enum class Axes : uint8_t { drop, keep };
Term reduce(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes, Axes reduced = Axes::drop);
/// Like reduce, for the reductions with two results.
std::pair<Term, Term> reduce_pair(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes,
                                  Axes reduced = Axes::drop);

Term reshape(const Term& x, const Shape& shape);
Term broadcast(const Term& x, const Shape& shape);
Term transpose(const Term& x, llvm::ArrayRef<int64_t> permutation);
/// x[.., start:stop, ..] along one axis.
Term slice(const Term& x, int64_t axis, int64_t start, int64_t stop);
Term window(const Term& x, WindowAttributes attributes);
/// Positions start to start + extent of one axis. All must lie inside x.
Term part(const Term& x, int64_t axis, const Dim& start, const Dim& extent);
Term concat(llvm::ArrayRef<Term> parts, int64_t axis);
Term gather(const Term& x, const Term& index, int64_t axis);
Term matmul(const Term& a, const Term& b, MatmulAttributes attributes = {});

/// The index of each element along one axis. It is i32 if that holds all indices, else i64.
Term positions(const Term& x, int64_t axis);

/// Reversed along one axis.
Term flip(const Term& x, int64_t axis);

/// All axes of x, or all but `except`.
llvm::SmallVector<int64_t, 4> all_axes(const Term& x, int64_t except = -1);

} // namespace ingot
