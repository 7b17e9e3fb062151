// SPDX-License-Identifier: Apache-2.0
// Normalisations: moments, then (x - mean) rsqrt(var + eps) gamma + beta.
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

Term normalized(const Term& x, const Term& mean, const Term& var, double eps) {
  Term centered = x - mean;
  return centered * rsqrt(var + eps);
}

Term normalized(const Term& x, llvm::ArrayRef<int64_t> axes, double eps) {
  auto [mean, var] = reduce_pair(OpKind::moments, x, axes, Axes::keep);
  return normalized(x, mean, var, eps);
}

/// y gamma + beta, where given; both of shape `expected`, read as `shape`.
Term affine(Call& call, Term y, const Shape& expected, const Shape& shape) {
  for (llvm::StringRef name : {"gamma", "beta"}) {
    if (!call.has(name) || call.failed()) continue;
    Term weight = call.tensor(name);
    if (weight.shape() != expected) {
      call.fail_argument(name, "{} is {}, expected the shape {}", name, weight.type().text(),
                         text_of(expected));
      return y;
    }
    if (expected != shape) weight = reshape(weight, shape);
    y = name == "gamma" ? y * weight : y + weight;
  }
  return y;
}

/// [C] as [C, 1, ...], to stand beside dims 1 and up of x.
Shape channel_shape(const Term& x) {
  Shape shape(x.rank() - 1, Dim(1));
  shape[0] = x.shape()[1];
  return shape;
}

Term channel_affine(Call& call, const Term& y) {
  if (call.failed()) return y;
  return affine(call, y, {y.shape()[1]}, channel_shape(y));
}

/// [C] as [C, 1, ...]; refuses any other shape.
Term channel_vector(Call& call, llvm::StringRef name, const Term& x) {
  Term value = call.tensor(name);
  if (call.failed()) return value;
  if (value.shape() != Shape{x.shape()[1]})
    call.fail_argument(name, "{} is {}, expected the shape [{}]", name, value.type().text(),
                       x.shape()[1].text());
  return value;
}

Results batch_norm_training(Call& call, const Term& x, double eps) {
  auto axes = all_axes(x, 1);
  Dim count = 1;
  for (int64_t axis : axes) count = count * x.shape()[axis];
  if (count.is(1))
    return call.fail("{} has one value per channel; training needs more", x.type().text());
  auto [mean, var] = reduce_pair(OpKind::moments, x, axes);
  if (call.failed()) return {x};
  Term row_mean = reshape(mean, channel_shape(x));
  Term row_var = reshape(var, channel_shape(x));
  Term y = channel_affine(call, normalized(x, row_mean, row_var, eps));
  if (!call.has("running_mean")) return {y};
  double momentum = call.number("momentum");
  Term old_mean = channel_vector(call, "running_mean", x);
  Term old_var = channel_vector(call, "running_var", x);
  if (call.failed()) return {y};
  auto blend = [&](const Term& old_value, const Term& value) {
    Term kept = old_value * (1 - momentum);
    return kept + value * momentum;
  };
  Term new_mean = blend(old_mean, mean);
  return {y, new_mean, blend(old_var, unbiased(var, x, axes, 1))};
}

} // namespace

Results layer_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  auto dims = call.ints("dims");
  if (call.failed()) return {x};
  int64_t count = call.is_list("dims") ? static_cast<int64_t>(dims.size()) : dims[0];
  if (count < 1 || count > x.rank())
    return call.fail_argument("dims", "{} normalised dims, expected 1 to {} for {}", count,
                              x.rank(), x.type().text());
  Shape shape(x.shape().end() - count, x.shape().end());
  if (call.is_list("dims") && Shape(dims.begin(), dims.end()) != shape)
    return call.fail_argument("dims", "the last dims of {} are {}, got {}", x.type().text(),
                              text_of(shape), text_of(Shape(dims.begin(), dims.end())));
  auto axes = llvm::ArrayRef<int64_t>(all_axes(x)).take_back(count).vec();
  Term y = normalized(x, axes, eps);
  return {affine(call, y, shape, shape)};
}

Results group_norm(Call& call) {
  Term x = call.tensor("x");
  int64_t groups = call.integer("groups");
  double eps = call.number("eps");
  if (call.failed()) return {x};
  if (x.rank() < 2)
    return call.fail("x is {}, expected samples, channels and any more dims", x.type().text());
  const Dim& channels = x.shape()[1];
  if (!channels.is_fixed())
    return call.fail("x is {}; the channels (dim 1) must be a number", x.type().text());
  if (groups < 1 || channels.fixed() % groups != 0)
    return call.fail_argument("groups", "{} channels do not divide into {} groups",
                              channels.fixed(), groups);
  Shape grouped = {x.shape()[0], groups, channels.fixed() / groups};
  grouped.append(x.shape().begin() + 2, x.shape().end());
  auto axes = llvm::ArrayRef<int64_t>({2, 3, 4, 5, 6, 7, 8}).take_front(grouped.size() - 2).vec();
  Term y = reshape(normalized(reshape(x, grouped), axes, eps), x.shape());
  return {channel_affine(call, y)};
}

Results instance_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  if (call.failed()) return {x};
  if (x.rank() < 3)
    return call.fail("x is {}, expected samples, channels and one or more dims", x.type().text());
  auto axes = llvm::ArrayRef<int64_t>(all_axes(x)).drop_front(2).vec();
  return {channel_affine(call, normalized(x, axes, eps))};
}

Results rms_norm(Call& call) {
  Term x = call.tensor("x");
  auto axes = call.axes("axis", x.rank());
  double eps = call.number("eps");
  if (call.failed()) return {x};
  Term y = x / sqrt(reduce(OpKind::mean, x * x, axes, Axes::keep) + eps);
  return {call.has("weight") ? y * call.tensor("weight") : y};
}

Results batch_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  bool is_training = call.boolean("training");
  if (call.failed()) return {x};
  if (x.rank() < 2)
    return call.fail("x is {}, expected samples, channels and any more dims", x.type().text());
  if (call.has("running_mean") != call.has("running_var"))
    return call.fail("running_mean and running_var are given together or not at all");
  if (is_training) return batch_norm_training(call, x, eps);
  if (!call.has("running_mean"))
    return call.fail("without training=true, running_mean and running_var are needed");
  Term mean = channel_vector(call, "running_mean", x);
  Term var = channel_vector(call, "running_var", x);
  if (call.failed()) return {x};
  Shape shape = channel_shape(x);
  if (x.rank() > 2) {
    mean = reshape(mean, shape);
    var = reshape(var, shape);
  }
  return {channel_affine(call, normalized(x, mean, var, eps))};
}

namespace {

/// [.., L / kernel, kernel]; elements after the last whole run are dropped.
Term runs(Call& call) {
  Term x = call.tensor("x");
  int64_t kernel = call.integer("kernel");
  if (call.failed()) return x;
  if (x.rank() < 1) return call.fail("x is {}, expected a last dim", x.type().text())[0];
  if (kernel < 1)
    return call.fail_argument("kernel", "kernel is {}, expected at least 1", kernel)[0];
  int64_t last = x.rank() - 1;
  Dim extent = x.shape()[last];
  if (extent.is_fixed() && kernel > extent.fixed())
    return call.fail_argument("kernel", "kernel is {}, but the last dim of {} has {} elements",
                              kernel, x.type().text(), extent.fixed())[0];
  auto count = extent.divided_by(kernel);
  if (!count && !extent.is_fixed())
    return call.fail_argument("kernel", "the named extent {} does not divide into runs of {}",
                              extent.text(), kernel)[0];
  if (!count) {
    count = extent.fixed() / kernel;
    x = slice(x, last, 0, count->fixed() * kernel);
  }
  Shape shape(x.shape().begin(), x.shape().end());
  if (call.failed()) return x;
  shape[last] = *count;
  shape.push_back(kernel);
  return reshape(x, shape);
}

} // namespace

Results max_pool1d(Call& call) {
  Term x = runs(call);
  if (call.failed()) return {x};
  return {reduce(OpKind::reduce_max, x, x.rank() - 1)};
}

Results avg_pool1d(Call& call) {
  Term x = runs(call);
  if (call.failed()) return {x};
  return {reduce(OpKind::mean, x, x.rank() - 1)};
}

} // namespace ingot::library
