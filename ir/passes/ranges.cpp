// SPDX-License-Identifier: Apache-2.0
// One sweep of interval arithmetic with the rules of the reference. Intervals are widened far
// beyond the rounding of kernels.
#include "ir/passes/ranges.h"

#include "ir/interpreter/rules.h"
#include "ir/passes/match.h"

#include "llvm/ADT/STLExtras.h"

#include <cfloat>
#include <cmath>

namespace ingot {
namespace {

/// Widening per op, as a relative error and a minimum: thousands of times the rounding. A 16-bit
/// value may be rounded to its type between kernels.
constexpr double kSlack = 0x1p-12;
constexpr double kHalfSlack = 0x1p-6;
constexpr double kLeastSlack = 0x1p-100;
/// Minimum widening of f16, whose values are multiples of 2^-24.
constexpr double kF16LeastSlack = 0x1p-24;
constexpr double kF16Max = 65504;
/// Relative widening of a mean, because its additions may accumulate errors.
constexpr double kMeanSlack = 0x1p-4;

Interval interval_of(const Range& range) { return {range.low, range.high}; }

Range range_of(Interval interval) {
  if (std::isnan(interval.lo) || std::isnan(interval.hi)) return {};
  return {interval.lo, interval.hi};
}

Range widened(Range range, double relative = kSlack, double least = kLeastSlack) {
  range.low -= std::abs(range.low) * relative + least;
  range.high += std::abs(range.high) * relative + least;
  return range.low <= range.high ? range : Range{};
}

Range mean_range(const Range& x) {
  double size = std::max(std::abs(x.low), std::abs(x.high)) * kMeanSlack;
  return std::isfinite(size) ? widened({x.low - size, x.high + size}) : Range{};
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

template <typename Rule, int arity> Range image(llvm::ArrayRef<Range> x) {
  if constexpr (arity == 1 && requires { Rule::image(interval_of(x[0])); }) {
    return range_of(Rule::image(interval_of(x[0])));
  } else if constexpr (arity == 2 &&
                       requires { Rule::image(interval_of(x[0]), interval_of(x[1])); }) {
    return range_of(Rule::image(interval_of(x[0]), interval_of(x[1])));
  } else {
    return {};
  }
}

template <typename Rule, int arity> Range image_if_rule(llvm::ArrayRef<Range> x) {
  if constexpr (requires { sizeof(Rule); }) {
    return image<Rule, arity>(x);
  } else {
    return {};
  }
}

Range elementwise_range(const Op& op, llvm::ArrayRef<Range> x) {
  switch (op.kind) {
  case OpKind::select: return hull(x[1], x[2]);
  // These ops select an operand or one end of it, and add no error.
  case OpKind::minimum: return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
  case OpKind::maximum: return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
  case OpKind::neg: return {-x[0].high, -x[0].low};
  case OpKind::cast: return {};
  case OpKind::mul:
    if (op.operands[0] == op.operands[1]) {
      Range range = widened(range_of(rules::Square::image(interval_of(x[0]))));
      return {std::max(range.low, 0.0), range.high};
    }
    break;
  default: break;
  }
  using Image = Range (*)(llvm::ArrayRef<Range>);
  static constexpr Image kImages[] = {
#define INGOT_OP(name, op_class, arity, ...) image_if_rule<rules::name, arity>,
#include "ir/ops.def"
  };
  return widened(kImages[static_cast<size_t>(op.kind)](x));
}

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The ranges of a reduction that has no elements for some size of a named dimension.
llvm::SmallVector<Range, 2> reduction_ranges_or_empty(OpKind kind, const Range& x) {
  switch (kind) {
  case OpKind::reduce_max: return {Range{-kInf, x.high}};
  case OpKind::reduce_min: return {Range{x.low, kInf}};
  case OpKind::sum:
  case OpKind::mean: return {x.low >= 0 ? Range{0, kInf} : Range{}};
  case OpKind::max_sumexp: return {Range{-kInf, x.high}, Range{0, 0x1p64}};
  case OpKind::moments: return {Range{}, Range{0, kInf}};
  default: return {Range{}};
  }
}

/// The number of elements that a reduction reduces to one, at most.
double reduced_elements(const Graph& graph, const Op& op) {
  Dim elements = 1;
  for (int64_t axis : graph.attributes<ReduceAttributes>(op).axes)
    elements = elements * graph.type(op.operands[0]).shape[axis];
  return elements.is_fixed() ? static_cast<double>(elements.fixed()) : 0x1p63;
}

/// The range of each result.
llvm::SmallVector<Range, 2> reduction_ranges(OpKind kind, const Range& x, double elements) {
  switch (kind) {
  case OpKind::reduce_max:
  case OpKind::reduce_min: return {x};
  case OpKind::mean: return {x.low >= 0 ? Range{x.low / 2, kInf} : mean_range(x)};
  // No element decreases the sum.
  case OpKind::sum: return {x.low >= 0 ? Range{x.low / 2, kInf} : Range{}};
  // The greatest element contributes exp(0), and no other one contributes more.
  case OpKind::max_sumexp: return {x, Range{1 - kSlack, elements * (1 + kSlack)}};
  case OpKind::moments: return {mean_range(x), Range{0, kInf}};
  default: return {Range{}};
  }
}

llvm::SmallVector<Range, 2> result_ranges(const Graph& graph, const Op& op,
                                          llvm::ArrayRef<Range> x) {
  if (!is_float(graph.type(op.results[0]).dtype)) {
    return llvm::SmallVector<Range, 2>(op.results.size());
  }
  switch (info(op.kind).op_class) {
  case OpClass::source: {
    if (op.kind == OpKind::extent) return {Range{0, 0x1p63}};
    if (op.kind != OpKind::constant) return {Range{}};
    double value = graph.attributes<ConstantAttributes>(op).real;
    double rounded = static_cast<float>(value);
    if (std::isnan(value)) return {Range{}};
    return {Range{std::min(value, rounded), std::max(value, rounded)}};
  }
  case OpClass::elementwise: return {elementwise_range(op, x)};
  case OpClass::reduce:
    return may_reduce_nothing(graph, op)
               ? reduction_ranges_or_empty(op.kind, x[0])
               : reduction_ranges(op.kind, x[0], reduced_elements(graph, op));
  case OpClass::gather: return {x[0]}; // out of range gives NaN
  case OpClass::movement: {
    Range all = x[0];
    for (const Range& range : x) all = hull(all, range);
    return {all};
  }
  case OpClass::matmul:
  case OpClass::scan: return {Range{}};
  }
  llvm_unreachable("not an op class");
}

} // namespace

Ranges find_ranges(const Graph& graph) {
  Ranges ranges(graph.values().size());
  for (const Op& op : graph.ops()) {
    llvm::SmallVector<Range, 3> x;
    for (ValueId operand : op.operands) x.push_back(ranges[operand.index]);
    auto results = result_ranges(graph, op, x);
    for (Range& range : results) {
      const bool is_f16 = graph.type(op.results[0]).dtype == DType::f16;
      if (is_16_bit(graph.type(op.results[0]).dtype))
        range = widened(range, kHalfSlack, is_f16 ? kF16LeastSlack : kLeastSlack);
      // Results beyond the finite values of f32 are infinite. A value stored in f16 is infinite
      // beyond the range of f16.
      const double largest = is_f16 ? kF16Max : FLT_MAX;
      if (range.high > largest) range.high = kInf;
      if (range.low < -largest) range.low = -kInf;
    }
    for (auto [value, range] : llvm::zip_equal(op.results, results)) ranges[value.index] = range;
  }
  return ranges;
}

} // namespace ingot
