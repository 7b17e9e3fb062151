// SPDX-License-Identifier: Apache-2.0
// Losses. The conventions are those of ingot/ops.h.
#pragma once

#include "ingot/ops.h"

#pragma GCC visibility push(default)
namespace ingot {

// ---- Losses -------------------------------------------------------------------------------------

/// The reduction of a loss over its elements: "mean", "sum" or "none"; kl_div also takes
/// "batchmean".
using LossReduction = std::string;

/// (x - target)^2 per element.
inline Var mse_loss(const Var& x, const Var& target, const LossReduction& reduction = "mean") {
  return detail::apply(x, "mse_loss", {x, target, reduction});
}
/// |x - target| per element.
inline Var l1_loss(const Var& x, const Var& target, const LossReduction& reduction = "mean") {
  return detail::apply(x, "l1_loss", {x, target, reduction});
}
/// With d = x - target: d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.
inline Var smooth_l1_loss(const Var& x, const Var& target, double beta = 1,
                          const LossReduction& reduction = "mean") {
  return detail::apply(x, "smooth_l1_loss", {x, target, beta, reduction});
}
/// With d = x - target: d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2).
inline Var huber_loss(const Var& x, const Var& target, double delta = 1,
                      const LossReduction& reduction = "mean") {
  return detail::apply(x, "huber_loss", {x, target, delta, reduction});
}
/// target (log target - x). x holds log-probabilities; with log_target, target does too.
inline Var kl_div(const Var& x, const Var& target, const LossReduction& reduction = "mean",
                  bool log_target = false) {
  return detail::apply(x, "kl_div", {x, target, reduction, log_target});
}
/// Options of cross_entropy and nll_loss.
struct ClassLossOptions {
  std::optional<Var> weight = {}; ///< one factor per class
  int64_t ignore_index = -100;    ///< targets with this value are left out
  LossReduction reduction = "mean";
  double label_smoothing = 0; ///< for cross_entropy only
};
/// -log_softmax(logits)[target]. Classes are on dim 1. Targets are integers, or probabilities of
/// the shape of logits.
inline Var cross_entropy(const Var& logits, const Var& target,
                         const ClassLossOptions& options = {}) {
  return detail::apply(logits, "cross_entropy",
                       {logits, target, options.weight, options.ignore_index, options.reduction,
                        options.label_smoothing});
}
inline Var cross_entropy(const Var& logits, const Var& target, const LossReduction& reduction) {
  return cross_entropy(logits, target, ClassLossOptions{.reduction = reduction});
}
/// -x[target] for log-probabilities x. Classes are on dim 1; targets are integers.
inline Var nll_loss(const Var& x, const Var& target, const ClassLossOptions& options = {}) {
  return detail::apply(x, "nll_loss",
                       {x, target, options.weight, options.ignore_index, options.reduction});
}
/// Options of the losses for two classes.
struct BinaryLossOptions {
  std::optional<Var> weight = {};
  LossReduction reduction = "mean";
  std::optional<Var> pos_weight = {}; ///< for logits only: factor of the first term
};
/// -(target log(x) + (1 - target) log(1 - x)). Logarithms are at least -100.
inline Var binary_cross_entropy(const Var& x, const Var& target,
                                const BinaryLossOptions& options = {}) {
  return detail::apply(x, "binary_cross_entropy", {x, target, options.weight, options.reduction});
}
/// binary_cross_entropy of sigmoid(x).
inline Var binary_cross_entropy_with_logits(const Var& x, const Var& target,
                                            const BinaryLossOptions& options = {}) {
  return detail::apply(x, "binary_cross_entropy_with_logits",
                       {x, target, options.weight, options.reduction, options.pos_weight});
}
/// Mean of max(1 - x target, 0).
inline Var hinge_loss(const Var& x, const Var& target) {
  return detail::apply(x, "hinge_loss", {x, target});
}
/// Mean of max(|a - p| - |a - n| + margin, 0). Norms are over the last dim.
inline Var triplet_margin_loss(const Var& anchor, const Var& positive, const Var& negative,
                               double margin = 1, double eps = 1e-6) {
  return detail::apply(anchor, "triplet_margin_loss", {anchor, positive, negative, margin, eps});
}
/// max(margin - target (a - b), 0). Targets are 1 and -1.
inline Var margin_ranking_loss(const Var& a, const Var& b, const Var& target, double margin = 0,
                               const LossReduction& reduction = "mean") {
  return detail::apply(a, "margin_ranking_loss", {a, b, target, margin, reduction});
}
/// x where the target is 1, max(margin - x, 0) where the target is -1.
inline Var hinge_embedding_loss(const Var& x, const Var& target, double margin = 1,
                                const LossReduction& reduction = "mean") {
  return detail::apply(x, "hinge_embedding_loss", {x, target, margin, reduction});
}
/// 1 - cosine of each row where the target is 1, max(cosine - margin, 0) where it is -1.
inline Var cosine_embedding_loss(const Var& a, const Var& b, const Var& target, double margin = 0,
                                 const LossReduction& reduction = "mean") {
  return detail::apply(a, "cosine_embedding_loss", {a, b, target, margin, reduction});
}
struct GaussianLossOptions {
  bool full = false; ///< adds log(2 pi) / 2
  double eps = 1e-6; ///< lower bound of the variance
  LossReduction reduction = "mean";
};
/// (log(v) + (x - target)^2 / v) / 2 with v = max(var, eps).
inline Var gaussian_nll_loss(const Var& x, const Var& target, const Var& var,
                             const GaussianLossOptions& options = {}) {
  return detail::apply(x, "gaussian_nll_loss",
                       {x, target, var, options.full, options.eps, options.reduction});
}
struct PoissonLossOptions {
  bool log_input = true; ///< x is the logarithm of the rate
  bool full = false;     ///< adds Stirling's log(target!) where target > 1
  double eps = 1e-8;     ///< added to a rate before its logarithm is taken
  LossReduction reduction = "mean";
};
/// exp(x) - target x; without log_input x - target log(x + eps).
inline Var poisson_nll_loss(const Var& x, const Var& target,
                            const PoissonLossOptions& options = {}) {
  return detail::apply(
      x, "poisson_nll_loss",
      {x, target, options.log_input, options.full, options.eps, options.reduction});
}
/// Sum of a/max(|a|, eps) b/max(|b|, eps) along one axis.
inline Var cosine_similarity(const Var& a, const Var& b, int64_t axis = 1, double eps = 1e-8) {
  return detail::apply(a, "cosine_similarity", {a, b, axis, eps});
}

} // namespace ingot
#pragma GCC visibility pop
