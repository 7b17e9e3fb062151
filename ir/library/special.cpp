// SPDX-License-Identifier: Apache-2.0
// Elementwise composites defined by cases. They treat zeros, NaN and infinities like PyTorch.
#include "ir/library/functions.h"

#include "ir/float_bits.h"

#include <cfloat>
#include <cmath>

namespace ingot::library {

namespace {

/// The greatest finite value of a float type.
double greatest(DType dtype) {
  return dtype == DType::f16 ? 65504 : dtype == DType::bf16 ? 0x1.fep127 : FLT_MAX;
}

} // namespace

Results xlogy(Call& call) {
  Term x = call.float_tensor("x"), y = call.float_tensor("y");
  Term is_number = unary(OpKind::not_, unary(OpKind::is_nan, y));
  Term is_zero = binary(OpKind::and_, equal(x, 0), is_number);
  return {select(is_zero, 0, x * log(y))};
}

Results logaddexp(Call& call) {
  Term a = call.float_tensor("a"), b = call.float_tensor("b");
  Term are_equal = binary(OpKind::equal, a, b);
  Term are_one_infinity = binary(OpKind::and_, is_inf(a), are_equal);
  Term larger = maximum(a, b);
  return {select(are_one_infinity, a, larger + log1p(exp(-abs(a - b))))};
}

/// m sqrt(1 + (n / m)^2) with the larger and the smaller magnitude. No square overflows or
/// vanishes.
Results hypot(Call& call) {
  Term a = abs(call.float_tensor("a")), b = abs(call.float_tensor("b"));
  Term larger = maximum(a, b);
  Term ratio = minimum(a, b) / larger;
  Term length = larger * sqrt(1.0 + ratio * ratio);
  // If `larger` is not above zero, it is zero or NaN.
  Term of_finite = select(greater(larger, 0), length, larger);
  Term is_endless = is_inf(a);
  is_endless = binary(OpKind::or_, is_endless, is_inf(b));
  return {select(is_endless, HUGE_VAL, of_finite)};
}

Results tan(Call& call) {
  Term x = call.float_tensor("x");
  Term sine = unary(OpKind::sin, x);
  return {sine / unary(OpKind::cos, x)};
}

namespace {

/// exp(x) / 2 and exp(-x) / 2, computed from exponentials of x / 2, because exp(x) overflows before
/// exp(x) / 2.
std::pair<Term, Term> half_exponentials(const Term& x) {
  Term root = exp(x * 0.5);
  Term rising = root * 0.5 * root;
  return {rising, 0.5 / root / root};
}

} // namespace

Results cosh(Call& call) {
  Term x = call.float_tensor("x");
  auto [rising, falling] = half_exponentials(x);
  return {rising + falling};
}

/// Near 0 the exponentials cancel. There sinh is (e + e / (e + 1)) / 2 with e = exp(x) - 1.
Results sinh(Call& call) {
  Term x = call.float_tensor("x");
  auto [rising, falling] = half_exponentials(x);
  Term far = rising - falling;
  Term e = expm1(x);
  Term near = (e + e / (e + 1)) * 0.5;
  return {select(less(abs(x), 1), near, far)};
}

Results heaviside(Call& call) {
  Term x = call.tensor("x"), values = call.tensor("values");
  const DType dtype = x.type().dtype;
  if (dtype == DType::boolean) return {binary(OpKind::or_, x, values)};
  Term step = cast(greater(x, 0), dtype);
  return {select(equal(x, 0), values, step)};
}

Results nan_to_num(Call& call) {
  Term x = call.tensor("x");
  if (!is_float(x.type().dtype)) return {x};
  const DType dtype = x.type().dtype;
  // A value counts as infinite if it is infinite after rounding to its type.
  if (is_16_bit(dtype)) x = cast(x, dtype);
  auto number = [&](llvm::StringRef name, double otherwise) {
    return round_by_f32(dtype, call.has(name) ? call.number(name) : otherwise);
  };
  const double nan = number("nan", 0);
  const double above = number("posinf", greatest(dtype));
  const double below = number("neginf", -greatest(dtype));
  Term from_below = select(equal(x, -HUGE_VAL), below, x);
  Term finite = select(equal(x, HUGE_VAL), above, from_below);
  return {select(unary(OpKind::is_nan, x), nan, finite)};
}

namespace {

/// x times the argument `value`.
Term with_scale(Call& call, const Term& x) {
  const double scale = call.number("value");
  return scale == 1 ? x : x * scale;
}

} // namespace

/// Starts from the nearer end, as PyTorch does: a weight of 1 gives `end` itself.
Results lerp(Call& call) {
  Term x = call.float_tensor("x"), end = call.float_tensor("end");
  if (call.is_number("weight")) {
    const double weight = call.number("weight");
    Term way = end - x;
    return {std::fabs(weight) < 0.5 ? x + way * weight : end - way * (1 - weight)};
  }
  Term weight = call.float_tensor("weight");
  Term way = end - x;
  Term from_start = x + weight * way;
  Term from_end = end - way * (1.0 - weight);
  return {select(less(abs(weight), 0.5), from_start, from_end)};
}

Results addcmul(Call& call) {
  Term x = call.tensor("x"), a = call.tensor("tensor1"), b = call.tensor("tensor2");
  if (!call.is_integer("value") && !is_float(x.type().dtype))
    return call.fail_argument("value", "value is {}, expected an integer beside {}",
                              call.number("value"), x.type().text());
  return {x + with_scale(call, a * b)};
}

Results addcdiv(Call& call) {
  Term x = call.float_tensor("x"), a = call.float_tensor("tensor1");
  Term b = call.float_tensor("tensor2");
  return {x + with_scale(call, a / b)};
}

} // namespace ingot::library
