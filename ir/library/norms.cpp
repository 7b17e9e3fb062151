// SPDX-License-Identifier: Apache-2.0
// Normalisations: moments, then (x - mean) rsqrt(var + eps) gamma + beta.
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

/// gamma or beta, which must have shape `expected`, reshaped to `shape`; none if left out.
std::optional<Term> weight(Call& call, llvm::StringRef name, const Shape& expected,
                           const Shape& shape) {
  if (!call.has(name)) return std::nullopt;
  Term value = call.tensor(name);
  if (value.shape() == expected) return expected == shape ? value : reshape(value, shape);
  call.fail_argument(name, "{} is {}, expected the shape {}", name, value.type().text(),
                     text_of(expected));
  return std::nullopt;
}

/// Whether one element of gamma multiplies many elements of x that have the same variance.
enum class Gamma { shared, varies };

/// The required shape of gamma and beta, and their shape for broadcasting to x.
struct Weights {
  Shape expected, shape;
  Gamma gamma;
};

/// (x - mean) rsqrt(var + eps) gamma + beta. A shared gamma multiplies the root. Elements are then
/// rounded only by the difference and by the multiply-add.
Term normalized(Call& call, const Term& x, const Term& mean, const Term& var, double eps,
                const Weights& weights) {
  Term y = x - mean;
  Term scale = rsqrt(var + eps);
  const auto gamma = weight(call, "gamma", weights.expected, weights.shape);
  if (gamma && weights.gamma == Gamma::shared) scale = scale * *gamma;
  y = y * scale;
  if (gamma && weights.gamma == Gamma::varies) y = y * *gamma;
  if (auto beta = weight(call, "beta", weights.expected, weights.shape)) y = y + *beta;
  return y;
}

Term normalized(Call& call, const Term& x, llvm::ArrayRef<int64_t> axes, double eps,
                const Weights& weights) {
  auto [mean, var] = reduce_pair(OpKind::moments, x, axes, Axes::keep);
  return normalized(call, x, mean, var, eps, weights);
}

/// [C] as [C, 1, ...], to broadcast over dims 1 and up of x.
Shape channel_shape(const Term& x) {
  Shape shape(x.rank() - 1, Dim(1));
  shape[0] = x.shape()[1];
  return shape;
}

/// Reads a vector [C] as [C, 1, ...]. Any other shape is an error.
Term channel_vector(Call& call, llvm::StringRef name, const Term& x) {
  Term value = call.tensor(name);
  if (value.shape() != Shape{x.shape()[1]})
    call.fail_argument(name, "{} is {}, expected the shape [{}]", name, value.type().text(),
                       x.shape()[1].text());
  return value;
}

/// The last axes of x: `dims` is their number, or the list of their extents.
llvm::SmallVector<int64_t, 4> last_axes(Call& call, const Term& x) {
  const bool is_list = call.is_list("dims");
  const Shape listed = is_list ? call.dims("dims") : Shape{};
  const int64_t count = is_list ? static_cast<int64_t>(listed.size()) : call.integer("dims");
  if (count < 1 || count > x.rank()) {
    call.fail_argument("dims",
                       "{} normalised dims, expected 1 to {} for {}, or the list of their extents, "
                       "as in [{}]",
                       count, x.rank(), x.type().text(),
                       x.rank() > 0 ? x.shape().back().text() : "");
    return {};
  }
  Shape shape(x.shape().end() - count, x.shape().end());
  if (is_list && listed != shape)
    call.fail_argument("dims", "the last dims of {} are {}, got {}", x.type().text(),
                       text_of(shape), text_of(listed));
  return llvm::SmallVector<int64_t, 4>(llvm::ArrayRef<int64_t>(all_axes(x)).take_back(count));
}

Results batch_norm_training(Call& call, const Term& x, double eps) {
  auto axes = all_axes(x, 1);
  Dim count = 1;
  for (int64_t axis : axes) count = count * x.shape()[axis];
  if (count.is(1))
    return call.fail("{} has one value per channel; training needs more", x.type().text());
  auto [mean, var] = reduce_pair(OpKind::moments, x, axes);
  Term row_mean = reshape(mean, channel_shape(x));
  Term row_var = reshape(var, channel_shape(x));
  Term y = normalized(call, x, row_mean, row_var, eps,
                      {{x.shape()[1]}, channel_shape(x), Gamma::shared});
  if (!call.has("running_mean")) return {y};
  double momentum = call.number("momentum");
  Term old_mean = channel_vector(call, "running_mean", x);
  Term old_var = channel_vector(call, "running_var", x);
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
  const auto axes = last_axes(call, x);
  Shape shape(x.shape().end() - axes.size(), x.shape().end());
  return {normalized(call, x, axes, eps, {shape, shape, Gamma::varies})};
}

Results group_norm(Call& call) {
  Term x = call.tensor("x");
  int64_t groups = call.integer("groups");
  double eps = call.number("eps");
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
  Shape channel = Shape(grouped.size() - 1, Dim(1));
  channel[0] = grouped[1];
  channel[1] = grouped[2];
  Term y = normalized(call, reshape(x, grouped), axes, eps,
                      {{channels}, channel, x.rank() > 2 ? Gamma::shared : Gamma::varies});
  return {reshape(y, x.shape())};
}

Results instance_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  if (x.rank() < 3)
    return call.fail("x is {}, expected samples, channels and one or more dims", x.type().text());
  auto axes = llvm::ArrayRef<int64_t>(all_axes(x)).drop_front(2).vec();
  return {normalized(call, x, axes, eps, {{x.shape()[1]}, channel_shape(x), Gamma::shared})};
}

Results rms_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  if (call.has("axis") && call.has("dims")) return call.fail("both axis and dims are given");
  llvm::SmallVector<int64_t, 4> axes;
  if (call.has("axis"))
    axes = call.axes("axis", x.rank());
  else if (call.has("dims"))
    axes = last_axes(call, x);
  else
    axes = {x.rank() - 1};
  if (x.rank() == 0) return call.fail("x is {}, expected one or more dims", x.type().text());
  Term y = x / sqrt(reduce(OpKind::mean, x * x, axes, Axes::keep) + eps);
  return {call.has("gamma") ? y * call.tensor("gamma") : y};
}

Results batch_norm(Call& call) {
  Term x = call.tensor("x");
  double eps = call.number("eps");
  bool is_training = call.boolean("training");
  if (x.rank() < 2)
    return call.fail("x is {}, expected samples, channels and any more dims", x.type().text());
  if (call.has("running_mean") != call.has("running_var"))
    return call.fail("running_mean and running_var are given together or not at all");
  if (is_training) return batch_norm_training(call, x, eps);
  if (!call.has("running_mean"))
    return call.fail("without training=true, running_mean and running_var are needed");
  Term mean = channel_vector(call, "running_mean", x);
  Term var = channel_vector(call, "running_var", x);
  Shape shape = channel_shape(x);
  if (x.rank() > 2) {
    mean = reshape(mean, shape);
    var = reshape(var, shape);
  }
  return {normalized(call, x, mean, var, eps, {{x.shape()[1]}, shape, Gamma::shared})};
}

namespace {

/// [.., L / kernel, kernel]. Elements after the last whole run are dropped.
Term runs(Call& call) {
  Term x = call.tensor("x");
  int64_t kernel = call.integer("kernel");
  if (x.rank() < 1) return call.fail("x is {}, expected a last dim", x.type().text())[0];
  if (kernel < 1)
    return call.fail_argument("kernel", "kernel is {}, expected at least 1", kernel)[0];
  int64_t last = x.rank() - 1;
  Shape shape = x.shape();
  const Dim extent = shape[last];
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
  shape[last] = *count;
  shape.push_back(kernel);
  return reshape(x, shape);
}

} // namespace

Results max_pool1d(Call& call) {
  Term x = runs(call);
  return {reduce(OpKind::reduce_max, x, x.rank() - 1)};
}

Results avg_pool1d(Call& call) {
  Term x = runs(call);
  return {reduce(OpKind::mean, x, x.rank() - 1)};
}

} // namespace ingot::library
