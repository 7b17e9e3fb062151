// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

#include <cmath>

using namespace ingot;
using namespace ingot::test;

namespace {

struct Scales : GraphMaker {
  ValueId x = input("x", {4, 8});
  ValueId y = input("y", {4, 8});
  ValueId mul(ValueId a, double number) { return op(OpKind::mul, {a, this->number(number)}); }
  ValueId mul(ValueId a, ValueId b) { return op(OpKind::mul, {a, b}); }
  ValueId div(ValueId a, double number) { return op(OpKind::div, {a, this->number(number)}); }
  ValueId add(ValueId a, ValueId b) { return op(OpKind::add, {a, b}); }
  ValueId add(ValueId a, double number) { return op(OpKind::add, {a, this->number(number)}); }
  ValueId sub(ValueId a, ValueId b) { return op(OpKind::sub, {a, b}); }
};

} // namespace

TEST_CASE("merge_exact_scales: powers of two that do not shrink") {
  Scales g;
  check_becomes(g, g.mul(g.mul(g.x, 2), 2), g.mul(g.x, 4));
  check_becomes(g, g.mul(g.mul(g.x, 2), -3), g.mul(g.x, -6));
  // 2 (2 h) as in a residual of itself.
  ValueId h = g.mul(g.x, 2);
  check_becomes(g, g.add(h, h), g.mul(g.x, 4));
  check_stays(g, g.mul(g.mul(g.x, 3), 2));     // x * 3 may round as a subnormal
  check_stays(g, g.mul(g.mul(g.x, 2), 0.5));   // x * 2 may overflow
  check_stays(g, g.mul(g.mul(g.x, 0.5), 0.5)); // x * 0.5 may round as a subnormal
  check_stays(g, g.mul(g.mul(g.x, 0x1p100), 0x1p100));
}

TEST_CASE("merge_scales: any numbers, relaxed only") {
  Scales g;
  auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::relaxed);
    check_stays(g, before, MathMode::strict);
  };
  becomes(g.mul(g.mul(g.x, 3), 5), g.mul(g.x, 15));
  becomes(g.mul(g.div(g.x, 3), 6), g.mul(g.x, 6 * (1.0 / 3)));
  becomes(g.mul(g.mul(g.x, 2), 0.5), g.x);
  becomes(g.div(g.x, 3), g.mul(g.x, 1.0 / 3));
  becomes(g.mul(g.mul(g.mul(g.x, 0.5), g.y), 2), g.mul(g.x, g.y));
  // The product would be subnormal.
  check_stays(g, g.mul(g.mul(g.x, 0x1p-100), 0x1p-100), MathMode::relaxed);
}

TEST_CASE("merge_scales: the number goes where nothing grows") {
  Scales g;
  auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::relaxed);
  };
  auto chain = [&](double c, double d) { return g.mul(g.mul(g.mul(g.x, c), g.y), d); };
  auto early = [&](double c) { return g.mul(g.mul(g.x, c), g.y); };
  auto late = [&](double c) { return g.mul(g.mul(g.x, g.y), c); };
  becomes(chain(0.5, 0.25), early(0.125));
  becomes(chain(8, 0.25), early(2));
  becomes(chain(2, 4), late(8));
  becomes(chain(0.5, 8), late(4));
  becomes(chain(0.125, 2), early(0.25));
}

TEST_CASE("merge_scales: a factor used elsewhere is not computed twice") {
  Scales g;
  ValueId inner = g.mul(g.mul(g.x, 0.5), g.y);
  Graph graph = g.with_outputs({g.mul(inner, 2), inner});
  CHECK(equivalent(run_all(graph), graph));
}

TEST_CASE("relax_arithmetic: zeros and powers") {
  Scales g;
  auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::relaxed);
    check_stays(g, before, MathMode::strict);
  };
  auto pow = [&](double exponent) { return g.op(OpKind::pow, {g.x, g.number(exponent)}); };
  becomes(g.add(g.x, 0.0), g.x);
  becomes(g.sub(g.number(0.0), g.x), g.op(OpKind::neg, {g.x}));
  becomes(g.op(OpKind::neg, {g.sub(g.x, g.y)}), g.sub(g.y, g.x));
  becomes(pow(1), g.x);
  becomes(pow(2), g.mul(g.x, g.x));
  becomes(pow(3), g.mul(g.mul(g.x, g.x), g.x));
  becomes(pow(0.5), g.op(OpKind::sqrt, {g.x}));
  becomes(pow(-1), g.op(OpKind::reciprocal, {g.x}));
}

TEST_CASE("group_params: biases and numbers meet, relaxed only") {
  Scales g;
  ValueId b = g.param("b", {8}), c = g.param("c", {8}), d = g.param("d", {8});
  auto row = [&](ValueId v) { return g.broadcast(v, {4, 8}); };
  auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::relaxed);
  };
  ValueId double_bias = g.add(g.add(g.x, row(b)), row(c));
  becomes(double_bias, g.add(g.x, row(g.add(b, c))));
  CHECK(count(run_all(g.with_outputs({double_bias}), MathMode::strict), OpKind::broadcast) == 2);
  becomes(g.add(g.add(g.x, 1), 2), g.add(g.x, 3));
  becomes(g.add(g.sub(g.number(1), g.x), 2), g.sub(g.number(3), g.x));
  // Whatever the order and the signs, two ops are left over x and y.
  ValueId mixed = g.sub(g.add(g.sub(row(b), g.x), row(c)), g.sub(row(d), g.y));
  Graph graph = run_all(g.with_outputs({mixed}));
  auto params_only = depends_only_on_params(graph);
  size_t computed = 0;
  for (const Op& op : graph.ops()) {
    bool is_arithmetic = op.kind == OpKind::add || op.kind == OpKind::sub || op.kind == OpKind::neg;
    computed += is_arithmetic && !params_only[op.results[0].index];
  }
  CHECK(computed == 2);
}

TEST_CASE("group_params: ops whose rewrite would cost more stay") {
  Scales g;
  ValueId b = g.param("b", {8});
  ValueId table = g.param("table", {4, 8});
  ValueId row = g.broadcast(b, {4, 8});
  // A second matrix would be prepared to save one addition.
  Graph graph = run_all(g.with_outputs({g.add(g.add(g.x, row), table)}));
  auto params_only = depends_only_on_params(graph);
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::add) CHECK_FALSE(params_only[op.results[0].index]);
  }
  // Prepared halves would be rounded once more.
  ValueId h = g.input("h", {8}, DType::f16);
  ValueId p = g.param("p", {8}, DType::f16), q = g.param("q", {8}, DType::f16);
  check_stays(g, g.add(g.add(h, p), q), MathMode::relaxed);
  // The sum is no literal of f32.
  check_stays(g, g.add(g.add(g.x, 3e38), 3e38), MathMode::relaxed);
  // The inner sum is needed as it is.
  ValueId inner = g.add(g.x, 1);
  Graph shared = g.with_outputs({g.add(inner, 2), inner});
  CHECK(equivalent(run_all(shared), shared));
}

TEST_CASE("group_params: products of matrices meet, relaxed only") {
  Scales g;
  const ValueId w = g.input("w", {8, 8}), v = g.input("v", {8, 8}), r = g.input("r", {4, 8});
  const ValueId p = g.matmul(g.x, w), q = g.matmul(g.y, v);
  const auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::relaxed);
  };
  becomes(g.add(g.add(p, r), q), g.add(g.add(p, q), r));
  becomes(g.add(g.add(p, r), g.mul(q, 0.3)), g.add(g.add(p, g.mul(q, 0.3)), r));
  becomes(g.sub(g.add(p, r), q), g.add(g.sub(p, q), r));
  becomes(g.sub(g.sub(r, p), q), g.sub(r, g.add(p, q)));
  check_stays(g, g.add(g.add(p, q), r), MathMode::relaxed);
  check_stays(g, g.add(q, g.add(p, r)), MathMode::strict);
  // A product that others use is stored.
  Graph shared = g.with_outputs({g.add(q, g.add(p, r)), p});
  CHECK(equivalent(run_all(shared), shared));
}

TEST_CASE("fold_constants: in strict only results that every kernel has") {
  Scales g;
  ValueId two = g.number(2), three = g.number(3), tenth = g.number(0.1);
  auto plus_x = [&](ValueId number) { return g.op(OpKind::maximum, {g.x, number}); };
  auto folds = [&](ValueId before, double after, MathMode math) {
    check_becomes(g, plus_x(before), plus_x(g.number(after)), math);
  };
  folds(g.add(two, three), 5, MathMode::strict);
  folds(g.mul(g.sub(two, three), three), -3, MathMode::strict);
  folds(g.op(OpKind::exp, {g.number(0)}), 1, MathMode::strict);
  folds(g.op(OpKind::exp2, {three}), 8, MathMode::strict);
  folds(g.op(OpKind::log2, {g.number(0.125)}), -3, MathMode::strict);
  folds(g.op(OpKind::log10, {g.number(1000)}), 3, MathMode::strict);
  folds(g.cast(g.cast(three, DType::i32), DType::f32), 3, MathMode::strict);
  ValueId less = g.op(OpKind::less, {two, three});
  check_becomes(g, g.op(OpKind::select, {less, g.x, g.y}), g.x);
  for (ValueId number : {g.add(two, tenth), g.op(OpKind::exp, {two}), g.div(two, 3),
                         g.op(OpKind::exp, {g.number(200)}), g.op(OpKind::log2, {three}),
                         g.op(OpKind::log10, {tenth}), g.op(OpKind::exp2, {g.number(-140)})}) {
    check_stays(g, plus_x(number), MathMode::strict);
  }
  folds(g.add(tenth, two), 0.1 + 2, MathMode::relaxed);
  folds(g.op(OpKind::exp, {two}), std::exp(2.0), MathMode::relaxed);
  check_stays(g, plus_x(g.op(OpKind::exp, {g.number(200)})), MathMode::relaxed); // overflows f32
  ValueId big = g.number(0x1p30, DType::i32);
  ValueId i = g.input("i", {4, 8}, DType::i32);
  check_stays(g, g.op(OpKind::mul, {i, g.op(OpKind::mul, {big, big})})); // wraps
}

TEST_CASE("simplify_clamps: chains become one clamp") {
  Scales g;
  auto min = [&](ValueId v, double c) { return g.op(OpKind::minimum, {v, g.number(c)}); };
  auto max = [&](ValueId v, double c) { return g.op(OpKind::maximum, {v, g.number(c)}); };
  check_becomes(g, min(min(g.x, 3), 2), min(g.x, 2));
  check_becomes(g, max(max(g.x, 3), 4), max(g.x, 4));
  check_becomes(g, max(min(g.x, 2), -2), min(max(g.x, -2), 2));
  check_becomes(g, min(max(min(max(g.x, -1), 1), -1), 1), min(max(g.x, -1), 1));
  check_becomes(g, min(max(min(max(g.x, -1), 1), -2), 2), min(max(g.x, -1), 1));
  check_becomes(g, min(max(min(max(g.x, -2), 2), -1), 1), min(max(g.x, -1), 1));
  check_becomes(g, max(min(g.x, 1), 3), min(max(g.x, 3), 3)); // 3, but NaN stays
  check_stays(g, max(max(g.x, 0.0), -0.0));
}

TEST_CASE("simplify_clamps: bounds that are never reached") {
  Scales g;
  auto min = [&](ValueId v, double c) { return g.op(OpKind::minimum, {v, g.number(c)}); };
  auto max = [&](ValueId v, double c) { return g.op(OpKind::maximum, {v, g.number(c)}); };
  ValueId t = g.op(OpKind::tanh, {g.x});
  ValueId cdf = g.add(g.op(OpKind::erf, {g.mul(t, std::sqrt(0.5))}), 1);
  ValueId gelu = g.mul(g.mul(t, 0.5), cdf);
  check_becomes(g, min(max(gelu, -1), 1), gelu);
  check_becomes(g, max(g.op(OpKind::exp, {g.x}), -1), g.op(OpKind::exp, {g.x}));
  check_becomes(g, max(g.mul(g.x, g.x), -1e-3), g.mul(g.x, g.x));
  check_stays(g, min(t, 1));
  check_stays(g, max(g.op(OpKind::exp, {g.x}), 0.5));
  check_stays(g, min(gelu, 0.5));
  // An f16 may be rounded beyond the bound wherever it is stored.
  ValueId h = g.input("h", {4}, DType::f16);
  ValueId narrow = g.op(OpKind::minimum, {g.op(OpKind::tanh, {h}), g.number(1.001, DType::f16)});
  check_stays(g, narrow);
  // 1e-9 is stored as 0, and a number beyond 65504 as infinity.
  auto half = [&](OpKind kind, ValueId v, double c) {
    return g.op(kind, {v, g.number(c, DType::f16)});
  };
  ValueId small = g.op(OpKind::abs, {half(OpKind::maximum, h, 1e-9)});
  check_stays(g, half(OpKind::maximum, small, 1e-10));
  ValueId large = g.op(OpKind::abs, {half(OpKind::minimum, g.op(OpKind::abs, {h}), 6e4)});
  ValueId doubled = half(OpKind::mul, large, 2);
  check_stays(g, half(OpKind::minimum, doubled, 2e5));
}

TEST_CASE("relax_arithmetic: a division is not a product with a rounded reciprocal") {
  Scales g;
  ValueId sum = g.reduce_pair(OpKind::max_sumexp, g.x, {1})[1];
  ValueId row = g.broadcast(g.reshape(sum, {4, 1}), {4, 8});
  check_stays(g, g.op(OpKind::div, {g.op(OpKind::exp, {g.x}), row}), MathMode::relaxed);
}

TEST_CASE("simplify_finite: only finite mode yields constants") {
  Scales g;
  auto becomes = [&](ValueId before, ValueId after) {
    check_becomes(g, before, after, MathMode::finite);
    check_stays(g, before, MathMode::relaxed);
  };
  ValueId zero = g.broadcast(g.number(0), {4, 8});
  ValueId is_nan = g.op(OpKind::is_nan, {g.x});
  becomes(g.sub(g.x, g.x), zero);
  becomes(g.mul(g.x, 0), zero);
  becomes(g.op(OpKind::select, {is_nan, g.x, g.y}), g.y);
}
