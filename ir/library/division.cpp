// SPDX-License-Identifier: Apache-2.0
// Quotients, and the remainders of quotients rounded to integers.
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

/// x minus the truncated quotient times the divisor. An integer quotient rounds towards zero, and
/// is 0 if the divisor is 0.
Term truncated_remainder(const Term& x, const Term& divisor) {
  if (is_float(x.type().dtype)) return binary(OpKind::fmod, x, divisor);
  return x - x / divisor * divisor;
}

/// Whether the remainder of a truncating division and the divisor have different signs. Then
/// rounding down gives another remainder.
Term is_above_floor(const Term& rest, const Term& divisor) {
  Term is_rest_below = less(rest, 0);
  Term differ = binary(OpKind::not_equal, is_rest_below, less(divisor, 0));
  Term is_whole = equal(rest, 0);
  return binary(OpKind::and_, differ, unary(OpKind::not_, is_whole));
}

/// An operand as f32, if it is part of an integer division without rounding mode.
Term in_f32(Call& call, llvm::StringRef name) {
  if (call.is_number(name)) return call.builder().constant(call.literal(name, DType::f32));
  return cast(call.tensor(name), DType::f32);
}

/// Whether an operand is an integer tensor and no operand is a tensor of another type.
bool is_of_integers(Call& call) {
  bool is_any = false;
  for (llvm::StringRef name : {"a", "b"}) {
    if (!call.is_tensor(name)) continue;
    if (!is_integer(call.tensor(name).type().dtype)) return false;
    is_any = true;
  }
  return is_any;
}

Term truncated(const Term& x) {
  Term up = unary(OpKind::ceil, x);
  return select(less(x, 0), up, unary(OpKind::floor, x));
}

/// a / b of floats, rounded down. The remainder of fmod is exact, so the result is right even where
/// the rounded quotient is not: 1 / 0.1 in f32 is 10, but 0.1 fits 9 times into 1.
Term floored(const Term& a, const Term& b) {
  Term quotient = a / b;
  Term rest = binary(OpKind::fmod, a, b);
  Term whole = unary(OpKind::round, (a - rest) / b);
  Term is_above = is_above_floor(rest, b);
  Term floored = select(is_above, whole - 1, whole);
  // A zero has the sign of the quotient.
  Term is_zero = equal(floored, 0);
  Term signed_zero = quotient * 0;
  Term result = select(is_zero, signed_zero, floored);
  return select(equal(b, 0), quotient, result);
}

} // namespace

Results division(Call& call) {
  const bool is_exact = !call.has("rounding_mode"), is_integer = is_of_integers(call);
  if (is_exact && is_integer) {
    Term a = in_f32(call, "a");
    return {a / in_f32(call, "b")};
  }
  Term a = call.tensor("a"), b = call.tensor("b");
  const llvm::StringRef mode = call.text("rounding_mode");
  if (mode == "floor" && is_float(a.type().dtype)) return {floored(a, b)};
  Term quotient = a / b;
  if (is_exact) return {quotient};
  if (mode == "trunc") return {is_integer ? quotient : truncated(quotient)};
  if (mode != "floor")
    return call.fail_argument("rounding_mode",
                              "rounding_mode is \"{}\", expected \"trunc\" or \"floor\"", mode);
  Term is_above = is_above_floor(a - quotient * b, b);
  return {select(is_above, quotient - 1, quotient)};
}

Results fmod(Call& call) {
  Term x = call.tensor("x"), divisor = call.rounded("other");
  return {truncated_remainder(x, divisor)};
}

Results remainder(Call& call) {
  Term x = call.tensor("x"), divisor = call.rounded("other");
  Term rest = truncated_remainder(x, divisor);
  Term is_short = is_above_floor(rest, divisor);
  return {select(is_short, rest + divisor, rest)};
}

} // namespace ingot::library
