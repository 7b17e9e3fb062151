// SPDX-License-Identifier: Apache-2.0
// Elementwise composites. minimum, maximum and select keep NaN; ir/README.md has each definition.
#include "ir/float_bits.h"
#include "ir/library/functions.h"

#include <cmath>

namespace ingot::library {

namespace {

Term clamped(const Term& x, double low, double high) { return minimum(maximum(x, low), high); }

/// `positive` where x > 0, else `negative`.
Term above_zero(const Term& x, const Term& positive, const Term& negative) {
  return select(greater(x, 0), positive, negative);
}

} // namespace

Term sigmoid_of(const Term& x) { return 1.0 / (1.0 + exp(-x)); }

Results relu(Call& call) { return {maximum(call.tensor("x"), 0)}; }

Results relu6(Call& call) { return {clamped(call.tensor("x"), 0, 6)}; }

Results hardtanh(Call& call) {
  Term x = call.tensor("x");
  return {clamped(x, call.number("min"), call.number("max"))};
}

Results clamp(Call& call) {
  Term x = call.tensor("x");
  if (!call.has("min") && !call.has("max")) return call.fail("neither min nor max is given");
  const bool has_both = call.has("min") && call.has("max");
  for (llvm::StringRef bound : {"min", "max"}) {
    if (!call.has(bound)) continue;
    // As in PyTorch: a single NaN bound has no effect; of two bounds, a NaN makes every result NaN.
    if (!has_both && call.is_nan(bound)) continue;
    Term limit = call.is_tensor(bound)
                     ? call.tensor(bound)
                     : call.builder().constant(call.literal(bound, x.type().dtype));
    x = bound == "min" ? maximum(x, limit) : minimum(x, limit);
  }
  return {x};
}

Results sigmoid(Call& call) { return {sigmoid_of(call.float_tensor("x"))}; }

Results silu(Call& call) {
  Term x = call.float_tensor("x");
  return {x * sigmoid_of(x)};
}

Results gelu(Call& call) {
  Term x = call.float_tensor("x");
  llvm::StringRef form = call.text("approximate");
  Term half = x * 0.5;
  if (form == "none") return {half * (1.0 + erf(x * std::sqrt(0.5)))};
  if (form != "tanh")
    return call.fail_argument("approximate", "approximate is \"{}\", expected \"none\" or \"tanh\"",
                              form);
  double two_over_pi = 2 / std::acos(-1.0);
  Term inner = (x + x * x * x * 0.044715) * std::sqrt(two_over_pi);
  return {half * (1.0 + tanh(inner))};
}

Results mish(Call& call) {
  Term x = call.float_tensor("x");
  // Squares of e overflow f16, in which values may be stored.
  if (x.type().dtype == DType::f16) return {x * tanh(log1p(exp(x)))};
  // tanh(log1p(e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1). In f64 it is 1 from e^20 on.
  Term e = exp(minimum(x, 20));
  Term n = e * (e + 2);
  return {x * (n / (n + 2))};
}

Results softplus(Call& call) {
  Term x = call.float_tensor("x");
  double beta = call.positive("beta"), threshold = call.number("threshold");
  Term scaled = beta == 1 ? x : x * beta;
  Term soft = log1p(exp(scaled));
  if (beta != 1) soft = soft / beta;
  return {select(greater(scaled, threshold), x, soft)};
}

Results softsign(Call& call) {
  Term x = call.float_tensor("x");
  return {x / (1.0 + abs(x))};
}

Results hardsigmoid(Call& call) { return {clamped(call.float_tensor("x") + 3, 0, 6) / 6}; }

Results hardswish(Call& call) {
  Term x = call.float_tensor("x");
  return {x * clamped(x + 3, 0, 6) / 6};
}

Results leaky_relu(Call& call) {
  Term x = call.float_tensor("x");
  return {above_zero(x, x, x * call.number("slope"))};
}

Results elu(Call& call) {
  Term x = call.float_tensor("x");
  double alpha = call.number("alpha");
  return {above_zero(x, x, alpha == 1 ? expm1(x) : expm1(x) * alpha)};
}

Results celu(Call& call) {
  Term x = call.float_tensor("x");
  double alpha = call.number("alpha");
  if (alpha == 0) return call.fail_argument("alpha", "alpha is 0, expected another number");
  if (alpha == 1) return {above_zero(x, x, expm1(x))};
  return {above_zero(x, x, expm1(x * (1 / alpha)) * alpha)};
}

/// NaN stays NaN.
Results hardshrink(Call& call) {
  Term x = call.float_tensor("x");
  const double lambd = round_by_f32(x.type().dtype, call.number("lambd"));
  Builder& builder = call.builder();
  Term least = builder.constant(x.type().dtype, -lambd);
  Term is_low = builder.op(OpKind::greater_equal, {x, least});
  Term is_small = builder.op(OpKind::and_, {is_low, less_equal(x, lambd)});
  return {select(is_small, 0, x)};
}

Results softshrink(Call& call) {
  Term x = call.float_tensor("x");
  const double lambd = call.number("lambd");
  if (!(lambd >= 0)) return call.fail_argument("lambd", "lambd is {}, expected at least 0", lambd);
  // A product with zero keeps NaN.
  const double bound = round_by_f32(x.type().dtype, lambd);
  Term below = select(less(x, -bound), x + lambd, abs(x) * 0);
  return {select(greater(x, bound), x - lambd, below)};
}

/// NaN stays NaN.
Results threshold(Call& call) {
  Term x = call.tensor("x"), least = call.rounded("threshold");
  Term value = call.builder().constant(call.literal("value", x.type().dtype));
  return {select(call.builder().op(OpKind::less_equal, {x, least}), value, x)};
}

Results prelu(Call& call) {
  Term x = call.float_tensor("x"), weight = call.tensor("weight");
  const Dim count = element_count(weight.shape()), channels = x.rank() < 2 ? Dim(1) : x.shape()[1];
  if (weight.rank() > 1 || !(count.is(1) || count == channels))
    return call.fail_argument("weight",
                              "weight is {}, expected one number, or one for each of the "
                              "{} channels of {}",
                              weight.type().text(), channels.text(), x.type().text());
  Shape shape(std::max<int64_t>(x.rank() - 1, 1), Dim(1));
  shape[0] = count;
  weight = reshape(weight, count.is(1) ? Shape{} : shape);
  return {above_zero(x, x, x * weight)};
}

Results selu(Call& call) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  Term x = call.float_tensor("x");
  Term positive = x * kScale;
  return {above_zero(x, positive, expm1(x) * (kScale * kAlpha))};
}

Term log_sigmoid_of(const Term& x) {
  Term bound = minimum(x, 0);
  return bound - log1p(exp(-abs(x)));
}

Results log_sigmoid(Call& call) { return {log_sigmoid_of(call.float_tensor("x"))}; }

Results square(Call& call) {
  Term x = call.tensor("x");
  return {x * x};
}

Results power(Call& call) {
  Term x = call.tensor("x");
  if (call.is_number("exponent")) {
    double exponent = call.number("exponent");
    if (exponent == 2) return {x * x};
    if (exponent == 3) return {x * x * x};
  }
  return {call.builder().op(OpKind::pow, {x, call.tensor("exponent")})};
}

Results dropout(Call& call) {
  Term x = call.tensor("x");
  double p = call.number("p");
  bool is_training = call.boolean("training");
  if (!(p >= 0 && p <= 1)) return call.fail_argument("p", "p is {}, expected 0 to 1", p);
  if (is_training && p > 0)
    return call.fail_argument("training",
                              "training with p = {} draws random numbers, which graphs do not do; "
                              "use training=false, or multiply by a mask given as an input",
                              p);
  return {x};
}

} // namespace ingot::library
