// SPDX-License-Identifier: Apache-2.0
// Row reductions over f64 with error bounds for f32 kernels. A reducer takes the row in pieces, in
// order. It finishes each result with one bound per group of precisions. reduce.cpp drives them.
#pragma once

#include "ir/interpreter/interval.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace ingot {

/// A piece of a row. errors[g] are the encoded bounds of group g.
struct Piece {
  llvm::ArrayRef<double> x;
  llvm::ArrayRef<const float*> errors;
  int64_t first = 0; ///< index of x[0] in the row
};

/// The result of one row.
struct RowResult {
  double value = 0;
  int64_t index = 0;
  llvm::SmallVector<float, 4> bounds; ///< per group
};

/// The sum of the operand errors of one group.
struct ErrorSums {
  double sum = 0;
  double squares = 0;
  bool anything = false;
  bool above = false; ///< some element may have overflowed upwards
  bool below = false;

  void add(double x, float e) {
    if (e == 0) return;
    if (e == kAnything)
      anything = true;
    else if (e < 0)
      (x >= 0 ? above : below) = true;
    double reach = std::fabs(e);
    sum += reach;
    squares += reach * reach;
  }
};

/// The shape of the rows. `depth` is the reduction_depth of a row's length.
struct RowShape {
  int64_t length;
  double depth;
  size_t groups;
  bool halves = false; ///< the elements have a 16-bit type
};

/// Computes sum and mean.
class SumReducer {
public:
  explicit SumReducer(const RowShape& shape) : shape_(shape), errors_(shape.groups) {}
  void absorb(const Piece& piece);
  RowResult finish_sum() const { return finish(1); }
  RowResult finish_mean() const { return finish(static_cast<double>(shape_.length)); }

private:
  RowResult finish(double divisor) const;
  float bound(const ErrorSums& errors, double divisor) const;
  RowShape shape_;
  double sum_ = 0;
  double positive_ = 0; ///< sum of the finite elements above zero
  double negative_ = 0; ///< sum of the magnitudes of those below zero
  llvm::SmallVector<ErrorSums, 4> errors_;
};

class ProductReducer {
public:
  explicit ProductReducer(const RowShape& shape)
      : shape_(shape), reach_(shape.groups, 1.0), anything_(shape.groups, false) {}
  void absorb(const Piece& piece);
  RowResult finish() const;

private:
  RowShape shape_;
  double product_ = 1;
  double grown_ = 1; ///< product of the magnitudes above one, which a partial product may reach
  bool endless_ = false;
  llvm::SmallVector<double, 4> reach_; ///< product of |x| + e
  llvm::SmallVector<bool, 4> anything_;
};

/// Computes reduce_max and argmax. A minimum is the maximum of the negated row.
class MaxReducer {
public:
  explicit MaxReducer(const RowShape& shape) : groups_(shape.groups) {}
  void absorb(const Piece& piece);
  RowResult finish_value() const;
  /// The bound is 0 if only this index is admissible, else kAnything.
  RowResult finish_index() const;

private:
  struct Group {
    double best_lo = -kInfinity;                    ///< of the element at index_
    double lo = -kInfinity;                         ///< greatest lower end of any element
    double first = -kInfinity, second = -kInfinity; ///< two greatest upper ends
    int64_t first_index = -1;
    bool anything = false;
    bool exact = true;
  };
  void absorb_bound(Group& group, double x, float e, int64_t index);
  double best_ = -kInfinity;
  int64_t index_ = -1;
  llvm::SmallVector<Group, 4> groups_;
};

/// Computes (max, sum of exp(x - max)).
class MaxSumexpReducer {
public:
  explicit MaxSumexpReducer(const RowShape& shape)
      : shape_(shape), max_(shape), shifted_(shape.groups, 0.0), anything_(shape.groups, false) {}
  void absorb(const Piece& piece);
  RowResult finish_max() const { return max_.finish_value(); }
  RowResult finish_sum() const;
  /// The bounds of max + log(sum) if one kernel computes both. It has no value.
  RowResult finish_log() const;

private:
  /// The rounding error of the sum, including its merges.
  double rounding(double sum) const;
  void rescale(double new_max);
  RowShape shape_;
  MaxReducer max_;
  double top_ = -kInfinity;
  double sum_ = 0;
  double distance_ = 0;                  ///< sum of w_i (max - x_i), w_i = exp(x_i - max)
  llvm::SmallVector<double, 4> shifted_; ///< sum of w_i (exp(e_i) - 1)
  llvm::SmallVector<bool, 4> anything_;
};

/// Computes (mean, biased variance).
class MomentsReducer {
public:
  explicit MomentsReducer(const RowShape& shape) : shape_(shape), errors_(shape.groups) {}
  void absorb(const Piece& piece);
  RowResult finish_mean() const;
  RowResult finish_variance() const;

private:
  RowShape shape_;
  double count_ = 0;
  double mean_ = 0;
  double m2_ = 0; ///< sum of squared distances from the mean
  double sum_ = 0;
  double magnitude_ = 0;
  double squares_ = 0;
  llvm::SmallVector<ErrorSums, 4> errors_;
};

} // namespace ingot
