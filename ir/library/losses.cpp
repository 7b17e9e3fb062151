// SPDX-License-Identifier: Apache-2.0
// Losses: elementwise formulas, then a reduction over all axes.
#include "ir/library/functions.h"

namespace ingot::library {

Term over_all(OpKind kind, const Term& x) { return reduce(kind, x, all_axes(x)); }

Results reduced(Call& call, const Term& loss) {
  llvm::StringRef kind = call.text("reduction");
  if (kind == "none") return {loss};
  if (kind == "mean") return {over_all(OpKind::mean, loss)};
  if (kind == "sum") return {over_all(OpKind::sum, loss)};
  return call.fail_argument("reduction",
                            "reduction is \"{}\", expected \"mean\", \"sum\" or \"none\"", kind);
}

namespace {

Term difference(Call& call) {
  Term x = call.tensor("x");
  return x - call.tensor("target");
}

/// The norm of x + eps over the last dim.
Term distance(const Term& x, double eps) {
  Term shifted = x + eps;
  return sqrt(reduce(OpKind::sum, shifted * shifted, shifted.rank() - 1));
}

} // namespace

Results mse_loss(Call& call) {
  Term d = difference(call);
  return reduced(call, d * d);
}

Results l1_loss(Call& call) { return reduced(call, abs(difference(call))); }

Results smooth_l1_loss(Call& call) {
  Term d = abs(difference(call));
  double beta = call.positive("beta");
  Term near = d * d * (0.5 / beta);
  Term far = d - 0.5 * beta;
  return reduced(call, select(less(d, beta), near, far));
}

Results huber_loss(Call& call) {
  Term d = abs(difference(call));
  double delta = call.positive("delta");
  Term near = d * d * 0.5;
  Term far = (d - 0.5 * delta) * delta;
  return reduced(call, select(less_equal(d, delta), near, far));
}

namespace {

/// target (log target - x), with 0 log 0 = 0.
Term divergence(const Term& x, const Term& target) {
  Term product = target * log(target);
  Term entropy = select(equal(target, 0), 0, product);
  return entropy - target * x;
}

/// target (log target - x), given the logarithm of the target.
Term log_divergence(const Term& x, const Term& target) {
  Term probability = exp(target);
  return probability * (target - x);
}

} // namespace

Results kl_div(Call& call) {
  Term x = call.tensor("x"), target = call.tensor("target");
  Term loss = call.boolean("log_target") ? log_divergence(x, target) : divergence(x, target);
  if (call.text("reduction") != "batchmean") return reduced(call, loss);
  if (loss.rank() == 0) return {loss};
  auto rest = llvm::ArrayRef<int64_t>(all_axes(loss)).drop_front().vec();
  return {reduce(OpKind::mean, reduce(OpKind::sum, loss, rest), 0)};
}

Results hinge_loss(Call& call) {
  Term x = call.tensor("x"), target = call.tensor("target");
  return {over_all(OpKind::mean, maximum(1.0 - x * target, 0))};
}

Results triplet_margin_loss(Call& call) {
  Term anchor = call.tensor("anchor");
  double margin = call.number("margin"), eps = call.number("eps");
  Term to_positive = anchor - call.tensor("positive");
  Term to_negative = anchor - call.tensor("negative");
  if (to_positive.rank() < 1 || to_negative.rank() < 1)
    return call.fail("anchor is {}, expected one or more dims", anchor.type().text());
  Term near = distance(to_positive, eps);
  Term gap = near - distance(to_negative, eps);
  return {over_all(OpKind::mean, maximum(gap + margin, 0))};
}

Results margin_ranking_loss(Call& call) {
  Term a = call.tensor("a");
  Term gap = (call.tensor("b") - a) * call.tensor("target");
  return reduced(call, maximum(gap + call.number("margin"), 0));
}

Results hinge_embedding_loss(Call& call) {
  Term x = call.tensor("x"), target = call.tensor("target");
  Term near = select(equal(target, -1), 0, x);
  Term far = maximum(call.number("margin") - x, 0);
  return reduced(call, near + select(equal(target, 1), 0, far));
}

/// As in PyTorch, eps is added to the sums of squares.
Results cosine_embedding_loss(Call& call) {
  constexpr double kEps = 1e-12;
  Term a = call.tensor("a"), b = call.tensor("b"), target = call.tensor("target");
  double margin = call.number("margin");
  if (a.rank() < 1 || a.rank() > 2 || b.rank() != a.rank() || target.rank() != a.rank() - 1)
    return call.fail("operands are {}, {} and {}, expected rows, rows and a target for each",
                     a.type().text(), b.type().text(), target.type().text());
  const int64_t axis = a.rank() - 1;
  auto dot = [&](const Term& x, const Term& y) { return reduce(OpKind::sum, x * y, axis); };
  Term cosine = dot(a, b) / sqrt((dot(a, a) + kEps) * (dot(b, b) + kEps));
  Term is_near = equal(target, 1), is_far = equal(target, -1);
  Term far = select(unary(OpKind::not_, is_far), 0, maximum(cosine - margin, 0));
  return reduced(call, select(is_near, 1.0 - cosine, far));
}

Results gaussian_nll_loss(Call& call) {
  Term d = difference(call), var = call.tensor("var");
  double eps = call.positive("eps");
  // One variance per row.
  if (Shape shape = var.shape();
      var.rank() + 1 == d.rank() && shape == Shape(d.shape().begin(), d.shape().end() - 1)) {
    shape.push_back(Dim(1));
    var = reshape(var, shape);
  }
  var = maximum(var, eps);
  Term loss = 0.5 * (log(var) + d * d / var);
  constexpr double kHalfLogOfTwoPi = 0.91893853320467274178;
  return reduced(call, call.boolean("full") ? loss + kHalfLogOfTwoPi : loss);
}

Results poisson_nll_loss(Call& call) {
  Term x = call.tensor("x"), target = call.tensor("target");
  double eps = call.number("eps");
  Term loss = call.boolean("log_input") ? exp(x) - target * x : x - target * log(x + eps);
  if (!call.boolean("full")) return reduced(call, loss);
  constexpr double kTwoPi = 6.28318530717958647693;
  Term stirling = target * log(target) - target + 0.5 * log(kTwoPi * target);
  return reduced(call, loss + select(less_equal(target, 1), 0, stirling));
}

} // namespace ingot::library
