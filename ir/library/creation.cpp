// SPDX-License-Identifier: Apache-2.0
// Tensors of numbers that depend on no input.
#include "ir/library/functions.h"

#include <cmath>

namespace ingot::library {

namespace {

Results filled(Call& call, const Term& number) {
  const Shape shape = call.dims("shape");
  return {shape.empty() ? number : broadcast(number, shape)};
}

DType dtype_or(Call& call, DType otherwise) {
  return call.has("dtype") ? call.dtype("dtype") : otherwise;
}

/// 0, 1, 2, ... along one axis.
Term counted(Call& call, DType dtype, const Dim& count) {
  return call.builder().op(OpKind::iota, {}, IotaAttributes{0, {dtype, {count}}});
}

/// The arguments of arange: arange(stop), or arange(start, stop).
struct Range {
  llvm::StringRef start, stop;
};

Results arange_of_extent(Call& call, const Range& range) {
  const bool from_zero =
      range.start.empty() || (call.is_number(range.start) && call.number(range.start) == 0);
  const bool by_one = !call.has("step") || (call.is_number("step") && call.number("step") == 1);
  if (!call.is_dim(range.stop) || !from_zero || !by_one)
    return call.fail_argument(range.stop,
                              "a named extent is counted from 0 by 1 alone, as in arange(n); "
                              "add to it, or multiply it");
  return {counted(call, dtype_or(call, DType::i64), call.dims(range.stop).front())};
}

} // namespace

Results full(Call& call) {
  const bool is_integer = call.is_integer("value"), is_truth = call.is_boolean("value");
  const DType dtype = dtype_or(call, is_truth     ? DType::boolean
                                     : is_integer ? DType::i64
                                                  : DType::f32);
  return filled(call, call.builder().constant(call.literal("value", dtype)));
}

Results zeros(Call& call) {
  return filled(call, call.builder().constant(dtype_or(call, DType::f32), 0));
}

Results ones(Call& call) {
  return filled(call, call.builder().constant(dtype_or(call, DType::f32), 1));
}

namespace {

Results filled_like(Call& call, const ConstantAttributes& number, const Term& x) {
  const Term value = call.builder().constant(number);
  return {x.rank() == 0 ? value : broadcast(value, x.shape())};
}

Results filled_like(Call& call, int64_t number) {
  Term x = call.tensor("x");
  const DType dtype = dtype_or(call, x.type().dtype);
  const auto real = static_cast<double>(number);
  return filled_like(call, {dtype, is_float(dtype) ? real : 0, is_float(dtype) ? 0 : number}, x);
}

} // namespace

Results zeros_like(Call& call) { return filled_like(call, 0); }

Results ones_like(Call& call) { return filled_like(call, 1); }

Results full_like(Call& call) {
  Term x = call.tensor("x");
  return filled_like(call, call.literal("value", dtype_or(call, x.type().dtype)), x);
}

Results arange(Call& call) {
  const Range range =
      call.has("stop") ? Range{call.has("start") ? "start" : "", "stop"} : Range{"", "start"};
  if (!call.has(range.stop)) return call.fail("no stop is given, as in arange(10)");
  bool is_integer = true, is_named = false;
  for (llvm::StringRef name : {range.start, range.stop, llvm::StringRef("step")}) {
    if (name.empty() || !call.has(name)) continue;
    is_named |= call.is_dim(name);
    is_integer &= call.is_integer(name);
  }
  if (is_named) return arange_of_extent(call, range);
  const double start = range.start.empty() ? 0 : call.number(range.start);
  const double stop = call.number(range.stop), step = call.has("step") ? call.number("step") : 1;
  const DType dtype = dtype_or(call, is_integer ? DType::i64 : DType::f32);
  if (dtype == DType::boolean)
    return call.fail_argument("dtype", "a range of bool, expected a type of numbers");
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) || step == 0)
    return call.fail("from {} to {} by {}, expected finite numbers and a step other than 0", start,
                     stop, step);
  // Differences of integers are exact below 2^53.
  const double count = std::ceil((stop - start) / step);
  if (!(count >= 1))
    return call.fail("no elements from {} to {} by {}; a tensor has at least one", start, stop,
                     step);
  if (std::max(std::fabs(start), std::fabs(stop)) > 0x1p52 || count > 0x1p52)
    return call.fail("from {} to {} by {}, expected bounds and elements of at most 2^52", start,
                     stop, step);
  Term x = counted(call, dtype, static_cast<int64_t>(count));
  if (step != 1) x = x * call.builder().constant(call.literal("step", dtype));
  if (start != 0) x = x + call.builder().constant(call.literal(range.start, dtype));
  return {x};
}

Results one_hot(Call& call) {
  Term x = call.tensor("x");
  const int64_t classes = call.integer("num_classes");
  if (!is_integer(x.type().dtype))
    return call.fail_argument("x", "x is {}, expected i32 or i64", x.type().text());
  if (classes < 1)
    return call.fail_argument("num_classes",
                              "num_classes is {}, expected at least 1; the shape "
                              "cannot depend on values",
                              classes);
  Shape shape = x.shape();
  shape.push_back(Dim(1));
  Term places = counted(call, x.type().dtype, classes);
  Term is_place = call.builder().op(OpKind::equal, {reshape(x, shape), places});
  return {cast(is_place, DType::i64)};
}

} // namespace ingot::library
