// SPDX-License-Identifier: Apache-2.0
// Softmax, variance and norms over the pair reductions max_sumexp and moments.
#include "ir/library/functions.h"

#include <cmath>

namespace ingot::library {

namespace {

/// The operand and axes of a reduction. A scalar is reduced as one element and always gives a
/// scalar.
struct Reduced {
  Term x;
  llvm::SmallVector<int64_t, 4> axes;
  Axes kept;
};

Reduced read_reduced(Call& call) {
  Term x = call.tensor("x");
  const bool is_scalar = x.rank() == 0;
  if (is_scalar) x = reshape(x, {Dim(1)});
  auto axes = call.axes("axis", x.rank());
  if (is_scalar) axes = {0}; // the reshaped axis, for any `axis` argument
  const bool keeps = call.boolean("keepdim") && !is_scalar;
  return {x, std::move(axes), keeps ? Axes::keep : Axes::drop};
}

Term norm_of(const Term& x, double p, llvm::ArrayRef<int64_t> axes, Axes reduced) {
  if (p == 1) return reduce(OpKind::sum, abs(x), axes, reduced);
  if (p == 2) return sqrt(reduce(OpKind::sum, x * x, axes, reduced));
  if (std::isinf(p)) return reduce(OpKind::reduce_max, abs(x), axes, reduced);
  return pow(reduce(OpKind::sum, pow(abs(x), p), axes, reduced), 1 / p);
}

Term variance_of(Call& call) {
  const auto [x, axes, kept] = read_reduced(call);
  // PyTorch's older name is `unbiased`, which is true or false.
  const double correction = call.is_boolean("correction")
                                ? static_cast<double>(call.boolean("correction"))
                                : call.number("correction");
  Term biased = reduce_pair(OpKind::moments, x, axes, kept).second;
  return unbiased(biased, x, axes, correction);
}

/// Reduces truth values as 0 and 1. Of no elements, the maximum is below 0 and the minimum above 1.
Results reduced_truth(Call& call, OpKind kind) {
  const auto [x, axes, kept] = read_reduced(call);
  Term truth = x.type().dtype == DType::boolean ? x : cast(x, DType::boolean);
  if (axes.empty()) return {truth};
  return {greater(reduce(kind, cast(truth, DType::i32), axes, kept), 0)};
}

} // namespace

Results any(Call& call) { return reduced_truth(call, OpKind::reduce_max); }

Results all(Call& call) { return reduced_truth(call, OpKind::reduce_min); }

Results count_nonzero(Call& call) {
  const auto [x, axes, kept] = read_reduced(call);
  Term truth = x.type().dtype == DType::boolean ? x : cast(x, DType::boolean);
  Term counted = cast(truth, DType::i64);
  return {axes.empty() ? counted : reduce(OpKind::sum, counted, axes, kept)};
}

Term softmax_of(const Term& x, int64_t axis) {
  auto [m, s] = reduce_pair(OpKind::max_sumexp, x, axis, Axes::keep);
  return exp(x - m) / s;
}

Term unbiased(const Term& biased, const Term& x, llvm::ArrayRef<int64_t> axes, double correction) {
  if (correction == 0 || x.builder().failed()) return biased;
  Shape counted;
  for (int64_t axis : axes) counted.push_back(x.shape()[axis]);
  Dim count = element_count(counted);
  if (count.is_fixed()) {
    auto n = static_cast<double>(count.fixed());
    return biased * (n / std::max(n - correction, 0.0));
  }
  // Without a cast to a 16-bit type, which would round the factor.
  Term n = x.builder().op(OpKind::extent, {}, ExtentAttributes{x.type().dtype, counted});
  return biased * (n / maximum(n - correction, 0));
}

Results softmax(Call& call) {
  Term x = call.tensor("x");
  int64_t axis = call.axis("axis", x.rank());
  return {softmax_of(x, axis)};
}

Term log_softmax_of(const Term& x, int64_t axis) {
  auto [m, s] = reduce_pair(OpKind::max_sumexp, x, axis, Axes::keep);
  Term shifted = x - m;
  return shifted - log(s);
}

Results log_softmax(Call& call) {
  Term x = call.tensor("x");
  int64_t axis = call.axis("axis", x.rank());
  return {log_softmax_of(x, axis)};
}

Results logsumexp(Call& call) {
  const auto [x, axes, kept] = read_reduced(call);
  auto [m, s] = reduce_pair(OpKind::max_sumexp, x, axes, kept);
  Term finite = m + log(s);
  return {select(is_inf(m), m, finite)};
}

Results variance(Call& call) { return {variance_of(call)}; }

Results deviation(Call& call) { return {sqrt(variance_of(call))}; }

Results norm(Call& call) {
  const auto [x, axes, kept] = read_reduced(call);
  return {norm_of(x, call.positive("p"), axes, kept)};
}

Results normalize(Call& call) {
  Term x = call.float_tensor("x");
  double p = call.positive("p");
  int64_t axis = call.axis("axis", x.rank());
  return {x / maximum(norm_of(x, p, axis, Axes::keep), call.number("eps"))};
}

Results cosine_similarity(Call& call) {
  Term a = call.tensor("a"), b = call.tensor("b");
  int64_t axis = call.axis("axis", a.rank());
  double eps = call.number("eps");
  if (a.rank() != b.rank())
    return call.fail("operands differ in their number of dimensions: {} and {}", a.type().text(),
                     b.type().text());
  auto unit = [&](const Term& x) { return x / maximum(norm_of(x, 2, axis, Axes::keep), eps); };
  Term unit_a = unit(a);
  return {reduce(OpKind::sum, unit_a * unit(b), axis)};
}

} // namespace ingot::library
