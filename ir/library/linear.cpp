// SPDX-License-Identifier: Apache-2.0
// Linear layers and attention over matmul.
#include "ir/library/functions.h"

#include <cmath>

namespace ingot::library {

Results linear(Call& call) {
  Term x = call.tensor("x"), w = call.tensor("weight");
  if (call.failed()) return {x};
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
  if (call.has("bias") && !call.failed() && !broadcast_shapes(shape, call.tensor("bias").shape()))
    return call.fail(
        "bias is {} and weight is {}, expected a bias of [{}], one for each row of weight",
        call.tensor("bias").type().text(), w.type().text(), w.shape()[0].text());
  return {call.has("bias") ? y + call.tensor("bias") : y};
}

namespace {

Results product(Call& call, const Term& a, const Term& b, int64_t rank) {
  if (call.failed()) return {a};
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
  if (call.failed()) return {x};
  Term y = products.front();
  if (broadcast_shapes(x.shape(), y.shape()) != y.shape())
    return call.fail_argument("x", "x is {}, expected what broadcasts to {}", x.type().text(),
                              y.type().text());
  if (alpha != 1) y = y * alpha;
  if (beta == 0) return {y};
  return {beta == 1 ? x + y : x * beta + y};
}

Results attention(Call& call) {
  Term q = call.tensor("q"), k = call.tensor("k"), v = call.tensor("v");
  if (call.failed()) return {q};
  if (q.rank() < 2) return call.fail("q is {}, expected [.., length, d]", q.type().text());
  const Dim& d = q.shape().back();
  Term scores = matmul(q, k, {false, true});
  if (call.has("scale"))
    scores = scores * call.number("scale");
  else if (d.is_fixed())
    scores = scores * (1 / std::sqrt(static_cast<double>(d.fixed())));
  else
    scores = scores * rsqrt(call.builder().op(OpKind::extent, {},
                                              ExtentAttributes{scores.type().dtype, {d}}));
  if (call.failed()) return {scores};
  return {matmul(softmax_of(scores, scores.rank() - 1), v)};
}

} // namespace ingot::library
