// SPDX-License-Identifier: Apache-2.0
// Linear layers and attention over matmul.
#include "ir/library/functions.h"

#include <cmath>
#include <limits>

namespace ingot::library {

Results linear(Call& call) {
  Term x = call.tensor("x"), w = call.tensor("weight");
  if (x.rank() < 1 || w.rank() != 2)
    return call.fail("x is {} and weight is {}, expected [.., in] and [out, in]", x.type().text(),
                     w.type().text());
  Shape shape = x.shape();
  if (!(shape.back() == w.shape()[1]))
    return call.fail(
        "inner extents differ, {} and {}: x is {} and weight is {}, expected [.., in] and "
        "[out, in]",
        shape.back().text(), w.shape()[1].text(), x.type().text(), w.type().text());
  bool is_matrix = x.rank() == 2;
  if (!is_matrix) {
    Dim rows = element_count(Shape(shape.begin(), shape.end() - 1));
    x = reshape(x, {rows, shape.back()});
  }
  Term y = matmul(x, w, {false, true});
  shape.back() = w.shape()[0];
  if (!is_matrix) y = reshape(y, shape);
  if (call.has("bias") && !broadcast_shapes(shape, call.tensor("bias").shape()))
    return call.fail(
        "bias is {} and weight is {}, expected a bias of [{}], one for each row of weight",
        call.tensor("bias").type().text(), w.type().text(), w.shape()[0].text());
  return {call.has("bias") ? y + call.tensor("bias") : y};
}

namespace {

Results product(Call& call, const Term& a, const Term& b, int64_t rank) {
  if (a.rank() != rank || b.rank() != rank)
    return call.fail("{} x {}, expected {} dims each; matmul takes any", a.type().text(),
                     b.type().text(), rank);
  return {matmul(a, b)};
}

} // namespace

Results product_of_matrices(Call& call) {
  Term a = call.tensor("x"), b = call.tensor("mat2");
  return product(call, a, b, 2);
}

Results product_of_batches(Call& call) {
  Term a = call.tensor("x"), b = call.tensor("mat2");
  return product(call, a, b, 3);
}

Results addmm(Call& call) {
  Term x = call.tensor("x"), mat1 = call.tensor("mat1"), mat2 = call.tensor("mat2");
  const double beta = call.number("beta"), alpha = call.number("alpha");
  const Results products = product(call, mat1, mat2, 2);
  Term y = products.front();
  if (broadcast_shapes(x.shape(), y.shape()) != y.shape())
    return call.fail_argument("x", "x is {}, expected a shape that broadcasts to {}",
                              x.type().text(), y.type().text());
  if (alpha != 1) y = y * alpha;
  if (beta == 0) return {y};
  return {beta == 1 ? x + y : x * beta + y};
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// k or v, with its heads repeated to the number of q (PyTorch's enable_gqa).
Term with_heads_of(Call& call, const Term& q, llvm::StringRef name, const Term& x) {
  const auto has_heads = [](const Term& term) { return term.rank() >= 3; };
  const auto heads = [](const Term& term) { return term.shape()[term.rank() - 3]; };
  const auto ratio =
      has_heads(q) && has_heads(x) ? heads(q).divided_by(heads(x)) : std::optional<Dim>();
  if (!ratio)
    return call.fail_argument("enable_gqa",
                              "enable_gqa=true, q is {} and {} is {}, expected [.., heads, length, "
                              "d], and heads of q that are a multiple of those of {}",
                              q.type().text(), name, x.type().text(), name)[0];
  return ratio->is(1) ? x : copied(x, x.rank() - 3, *ratio, Copies::in_a_row);
}

/// Whether k has fewer heads than q, so that enable_gqa would repeat them.
bool lacks_heads(const Term& q, const Term& k) {
  if (q.rank() < 3 || q.rank() != k.rank()) return false;
  const Dim &of_q = q.shape()[q.rank() - 3], &of_k = k.shape()[k.rank() - 3];
  return !(of_q == of_k) && of_q.divided_by(of_k);
}

/// q k^T times the scale.
Term scaled_scores(Call& call, const Term& q, const Term& k) {
  const Dim& d = q.shape().back();
  Term scores = matmul(q, k, {false, true});
  if (call.has("scale")) return scores * call.number("scale");
  if (d.is_fixed()) return scores * (1 / std::sqrt(static_cast<double>(d.fixed())));
  return scores *
         rsqrt(call.builder().op(OpKind::extent, {}, ExtentAttributes{scores.type().dtype, {d}}));
}

/// The scores plus attn_mask. With a bool mask, -Inf where the mask is false.
Term masked(Call& call, const Term& scores) {
  const Type& type = scores.type();
  if (!call.is_tensor("attn_mask"))
    return call.fail_argument(
        "attn_mask", "attn_mask is no tensor; a scale goes by its name, as in scale=0.125")[0];
  Term mask = call.tensor("attn_mask");
  const bool is_truth = mask.type().dtype == DType::boolean;
  if ((!is_truth && mask.type().dtype != type.dtype) ||
      broadcast_shapes(mask.shape(), scores.shape()) != scores.shape())
    return call.fail_argument(
        "attn_mask", "attn_mask is {}, expected bool or {}, and a shape that broadcasts to {}",
        mask.type().text(), spelling(type.dtype), text_of(scores.shape()))[0];
  if (!is_truth) return scores + mask;
  Term shut = call.builder().constant(type.dtype, -kInfinity);
  return scores + select(mask, 0, shut);
}

/// The softmax of the scores, with 0 in rows whose scores are all -Inf.
Term softmax_of_masked(const Term& scores) {
  auto [m, s] = reduce_pair(OpKind::max_sumexp, scores, scores.rank() - 1, Axes::keep);
  Term weights = exp(scores - m) / s;
  return select(equal(m, -kInfinity), 0, weights);
}

} // namespace

Results attention(Call& call) {
  Term q = call.tensor("q"), k = call.tensor("k"), v = call.tensor("v");
  const bool is_causal = call.boolean("is_causal");
  const double dropped = call.number("dropout_p");
  if (q.rank() < 2) return call.fail("q is {}, expected [.., length, d]", q.type().text());
  if (dropped != 0)
    return call.fail_argument(
        "dropout_p",
        "dropout_p is {}, expected 0: dropout draws random numbers, which graphs do not do",
        dropped);
  if (is_causal && call.has("attn_mask"))
    return call.fail_argument(
        "is_causal", "attn_mask and is_causal=true, expected one of them; of a mask of bool, "
                     "attn_mask=tril(mask) is both");
  if (call.boolean("enable_gqa")) {
    k = with_heads_of(call, q, "k", k);
    v = with_heads_of(call, q, "v", v);
  } else if (lacks_heads(q, k)) {
    return call.fail("q is {} and k is {}, expected as many heads (dim -3); enable_gqa=true "
                     "repeats those of k and v",
                     q.type().text(), k.type().text());
  }
  Term scores = scaled_scores(call, q, k);
  if (call.failed()) return {scores};
  const int64_t last = scores.rank() - 1;
  if (is_causal) {
    Term is_seen = is_beside(call.builder(), scores.shape(), OpKind::less_equal, 0);
    Term shut = call.builder().constant(scores.type().dtype, -kInfinity);
    scores = select(is_seen, scores, shut);
  }
  if (!call.has("attn_mask")) return {matmul(softmax_of(scores, last), v)};
  return {matmul(softmax_of_masked(masked(call, scores)), v)};
}

} // namespace ingot::library
