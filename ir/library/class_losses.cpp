// SPDX-License-Identifier: Apache-2.0
// Losses for classes. They take log-probabilities at integer targets, or weight them by
// probabilities. Also losses for two classes.
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

/// The operands of such a loss. Classes are on dim 1, or on dim 0 of a vector.
struct Classes {
  Term scores;
  int64_t axis = 0;
  Shape result;                ///< shape of the scores without classes
  Term index;                  ///< integer targets, with an extent of 1 for the classes
  Term counts;                 ///< bool of shape `result`: the target is not ignore_index
  std::optional<Term> weights; ///< weights of the classes at index, of shape `result`
};

/// The weights, one per class, shaped to broadcast along the axis of classes.
Term class_weights(Call& call, const Classes& classes) {
  Term weight = call.tensor("weight");
  const Dim& count = classes.scores.shape()[classes.axis];
  if (weight.shape() != Shape{count})
    return call.fail_argument("weight",
                              "weight is {}, expected one number for each of the {} "
                              "classes",
                              weight.type().text(), count.text())[0];
  Shape shape(classes.scores.rank(), Dim(1));
  shape[classes.axis] = count;
  return reshape(weight, shape);
}

/// Reads scores and their shapes; empty after an error.
Classes read_scores(Call& call, llvm::StringRef name) {
  Classes classes;
  classes.scores = call.tensor(name);
  const Type& type = classes.scores.type();
  if (type.rank() < 1) {
    call.fail("{} {}, expected [n, classes, ..]", name == "x" ? "x is" : name.str() + " are",
              type.text());
    return classes;
  }
  classes.axis = type.rank() == 1 ? 0 : 1;
  classes.result = type.shape;
  classes.result.erase(classes.result.begin() + classes.axis);
  return classes;
}

/// Reads integer targets and computes the members that depend on them.
void read_target(Call& call, Classes& classes) {
  Term target = call.tensor("target");
  if (call.failed()) return;
  const DType dtype = target.type().dtype;
  if (target.shape() != classes.result || !is_integer(dtype)) {
    call.fail_argument("target", "target is {}, expected i32 or i64 and the shape {} for {}",
                       target.type().text(), text_of(classes.result), classes.scores.type().text());
    return;
  }
  Shape shape = classes.scores.shape();
  shape[classes.axis] = 1;
  Term ignored = call.builder().constant(call.literal("ignore_index", dtype));
  classes.counts = call.builder().op(OpKind::not_equal, {target, ignored});
  Term counted = select(classes.counts, target, call.builder().constant(dtype, 0));
  classes.index = reshape(counted, shape);
  if (!call.has("weight") || call.failed()) return;
  Term weight = broadcast(class_weights(call, classes), classes.scores.shape());
  classes.weights = reshape(gather(weight, classes.index, classes.axis), classes.result);
}

/// The scores at the targets, of shape `result`.
Term at_index(const Classes& classes) {
  return reshape(gather(classes.scores, classes.index, classes.axis), classes.result);
}

/// Casts 16-bit types to f32. They would overflow in sums, or round counts.
Term wide(const Term& x) { return is_16_bit(x.type().dtype) ? cast(x, DType::f32) : x; }

/// Puts zeros at ignored targets, then applies the argument `reduction`. A mean divides by the
/// number of other targets or by the sum of their weights. Both sums are over one shape, so that
/// one kernel computes them.
Results reduced_where_counted(Call& call, const Classes& classes, const Term& losses) {
  if (call.failed()) return {losses};
  const DType dtype = losses.type().dtype;
  Term counted = select(classes.counts, losses, call.builder().constant(dtype, 0));
  if (call.text("reduction") != "mean") return reduced(call, counted);
  Term total = over_all(OpKind::sum, wide(counted));
  Term weights = cast(classes.counts, total.type().dtype);
  Term none = call.builder().constant(total.type().dtype, 0);
  if (classes.weights) weights = select(classes.counts, wide(*classes.weights), none);
  Term mean = total / over_all(OpKind::sum, weights);
  return {is_16_bit(dtype) ? cast(mean, dtype) : mean};
}

/// The mix of the loss at the target and the mean loss of all classes.
Term smoothed(Call& call, const Classes& classes, const Term& at_target, const Term& log_p,
              double smoothing) {
  Term each = call.has("weight") ? log_p * class_weights(call, classes) : log_p;
  Term of_all = reduce(OpKind::mean, each, classes.axis) * smoothing;
  return at_target * (1 - smoothing) - of_all;
}

/// The loss for targets that are a probability per class.
Results of_probabilities(Call& call, const Classes& classes, double smoothing) {
  Term target = call.tensor("target");
  const Term& logits = classes.scores;
  if (smoothing != 0) {
    Shape axis = {logits.shape()[classes.axis]};
    Term count = call.builder().op(OpKind::extent, {}, ExtentAttributes{target.type().dtype, axis});
    Term share = smoothing / count;
    target = target * (1 - smoothing) + share;
  }
  Term product = log_softmax_of(logits, classes.axis) * target;
  if (call.has("weight")) product = product * class_weights(call, classes);
  return reduced(call, -reduce(OpKind::sum, product, classes.axis));
}

} // namespace

Results cross_entropy(Call& call) {
  Classes classes = read_scores(call, "logits");
  const double smoothing = call.number("label_smoothing");
  Term target = call.tensor("target");
  if (call.failed()) return {classes.scores};
  if (!(smoothing >= 0 && smoothing <= 1))
    return call.fail_argument("label_smoothing", "label_smoothing is {}, expected 0 to 1",
                              smoothing);
  const Term& logits = classes.scores;
  if (is_float(target.type().dtype) && target.shape() == logits.shape())
    return of_probabilities(call, classes, smoothing);
  read_target(call, classes);
  auto [m, s] = reduce_pair(OpKind::max_sumexp, logits, classes.axis);
  Term at_target = at_index(classes) - m;
  Term of_sum = log(s);
  Term losses = of_sum - at_target;
  if (classes.weights) losses = losses * *classes.weights;
  if (smoothing != 0) {
    losses = smoothed(call, classes, losses, log_softmax_of(logits, classes.axis), smoothing);
  }
  return reduced_where_counted(call, classes, losses);
}

Results nll_loss(Call& call) {
  Classes classes = read_scores(call, "x");
  read_target(call, classes);
  Term losses = -at_index(classes);
  if (classes.weights) losses = losses * *classes.weights;
  return reduced_where_counted(call, classes, losses);
}

Results binary_cross_entropy(Call& call) {
  Term x = call.float_tensor("x"), target = call.tensor("target");
  Term of_true = target * maximum(log(x), -100);
  Term of_false = (1.0 - target) * maximum(log1p(-x), -100);
  Term losses = -(of_true + of_false);
  if (call.has("weight")) losses = losses * call.tensor("weight");
  return reduced(call, losses);
}

/// (1 - target) x - log_sigmoid(x). No term overflows.
Results binary_cross_entropy_with_logits(Call& call) {
  Term x = call.float_tensor("x"), target = call.tensor("target");
  Term log_probability = log_sigmoid_of(x);
  if (call.has("pos_weight")) {
    Term more = call.tensor("pos_weight") - 1;
    log_probability = log_probability * (more * target + 1);
  }
  Term losses = (1.0 - target) * x - log_probability;
  if (call.has("weight")) losses = losses * call.tensor("weight");
  return reduced(call, losses);
}

} // namespace ingot::library
