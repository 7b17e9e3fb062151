// SPDX-License-Identifier: Apache-2.0
// One chunk of an elementwise op: its operands as arrays, and the functions that compute values and
// bounds with rules.h. elementwise.cpp reads the chunks and calls them.
#pragma once

#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/interval.h"

#include <algorithm>

namespace ingot {

/// One chunk: operands and results as contiguous arrays. Floats are in `reals`, other types in
/// `integers`.
struct Lanes {
  int64_t length = 0;
  const double* reals[3] = {};
  const int64_t* integers[3] = {};
  const float* errors[3] = {};
  double least[3] = {-kInfinity, -kInfinity, -kInfinity};
  bool halves = false; ///< the results have a 16-bit type
  double* y = nullptr;
  int64_t* n = nullptr;
  float* bound = nullptr;

  /// The interval of operand k at i.
  Interval interval(int k, int64_t i) const {
    Interval x = decode(reals[k][i], errors[k][i]);
    if (x.lo < least[k]) x.lo = std::min(least[k], reals[k][i]);
    return x;
  }

  float error_sum(int64_t i, int operands) const {
    float sum = 0;
    for (int k = 0; k < operands; ++k) sum += std::fabs(errors[k][i]);
    return sum;
  }
};

struct Handler {
  void (*reals)(const Lanes&) = nullptr;
  void (*integers)(const Lanes&) = nullptr;
  void (*bounds)(const Lanes&) = nullptr;
};

/// The handler of every op but cast.
Handler handler_of(OpKind kind);
/// The handler for the product of a value with itself.
Handler square_handler();

void cast_values(const Lanes& lanes, DType to);
void cast_bounds(const Lanes& lanes, DType to);
/// x rounded to a float type.
double round_to(DType dtype, double x);

} // namespace ingot
