// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

using namespace ingot;
using namespace ingot::test;

namespace {

struct Reductions : GraphMaker {
  ValueId x = input("x", {4, 6, 8});
  ValueId column = input("column", {4, 1});
  ValueId mul(ValueId a, double number) { return op(OpKind::mul, {a, this->number(number)}); }
  ValueId add(ValueId a, double number) { return op(OpKind::add, {a, this->number(number)}); }
  ValueId add(ValueId a, ValueId b) { return op(OpKind::add, {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return op(OpKind::sub, {a, b}); }
};

} // namespace

TEST_CASE("simplify_reductions: axes of extent 1") {
  Reductions g;
  ValueId flat = g.reshape(g.column, {4});
  for (OpKind kind :
       {OpKind::sum, OpKind::mean, OpKind::prod, OpKind::reduce_max, OpKind::reduce_min}) {
    check_becomes(g, g.reduce(kind, g.column, {1}), flat);
  }
  ValueId zero = g.sub(flat, flat);
  auto moments = g.reduce_pair(OpKind::moments, g.column, {1});
  check_becomes(g, moments[0], flat);
  check_becomes(g, moments[1], g.reshape(g.sub(g.column, g.column), {4}));
  auto pair = g.reduce_pair(OpKind::max_sumexp, g.column, {1});
  check_becomes(g, pair[0], flat);
  check_becomes(g, g.op(OpKind::exp, {zero}),
                g.reshape(g.op(OpKind::exp, {g.sub(g.column, g.column)}), {4}));
  // Among axes that are reduced in earnest.
  ValueId spread = g.reshape(g.x, {4, 1, 6, 8});
  check_becomes(g, g.reduce(OpKind::sum, spread, {1, 3}), g.reduce(OpKind::sum, g.x, {2}));
}

TEST_CASE("simplify_reductions: scans of one element") {
  Reductions g;
  check_becomes(g, g.op(OpKind::cumsum, {g.column}, ScanAttributes{1}), g.column);
  const ScanAttributes exclusive{.axis = 1, .exclusive = true};
  check_becomes(g, g.op(OpKind::cumsum, {g.column}, exclusive), g.broadcast(g.number(0), {4, 1}));
  check_becomes(g, g.op(OpKind::cumprod, {g.column}, exclusive), g.broadcast(g.number(1), {4, 1}));
}

TEST_CASE("simplify_reductions: logsumexp of one element only drops the sign of zero") {
  Reductions g;
  ValueId v = g.input("v", {4});
  auto logsumexp = [&](ValueId x) {
    auto pair = g.reduce_pair(OpKind::max_sumexp, g.reshape(x, {4, 1}), {1});
    ValueId sum = g.add(pair[0], g.op(OpKind::log, {pair[1]}));
    return g.op(OpKind::select, {g.op(OpKind::is_inf, {pair[0]}), pair[0], sum});
  };
  check_becomes(g, logsumexp(v), g.add(v, 0.0), MathMode::strict);
  check_becomes(g, logsumexp(v), v, MathMode::relaxed);
}

TEST_CASE("simplify_reductions: through movement") {
  Reductions g;
  auto sum = [&](ValueId v, llvm::ArrayRef<int64_t> axes) {
    return g.reduce(OpKind::sum, v, axes);
  };
  check_becomes(g, sum(g.reshape(g.x, {4, 48}), {1}), sum(g.x, {1, 2}));
  check_becomes(g, sum(g.reshape(g.x, {24, 8}), {1}), g.reshape(sum(g.x, {2}), {24}));
  check_stays(g, sum(g.reshape(g.x, {4, 24, 2}), {2}));
  check_becomes(g, sum(g.transpose(g.x, {2, 0, 1}), {1}), g.transpose(sum(g.x, {0}), {1, 0}));
  check_becomes(g, sum(g.transpose(g.x, {0, 2, 1}), {1, 2}), sum(g.x, {1, 2}));
  ValueId row = g.input("row", {6, 8});
  check_becomes(g, sum(g.broadcast(row, {4, 6, 8}), {2}), g.broadcast(sum(row, {1}), {4, 6}));
  check_becomes(g, g.reduce(OpKind::reduce_max, g.broadcast(row, {4, 6, 8}), {0}), row);
  check_stays(g, sum(g.broadcast(row, {4, 6, 8}), {0}));
  Dim m = Dim::named("m");
  ValueId named = g.input("named", {m, 6, 8});
  check_becomes(g, sum(g.reshape(named, {m, 48}), {1}), sum(named, {1, 2}));
  check_becomes(g, sum(g.reshape(named, {m * 6, 8}), {1}), g.reshape(sum(named, {2}), {m * 6}));
}

TEST_CASE("simplify_reductions: extrema move through rising and falling functions") {
  Reductions g;
  auto max = [&](ValueId v) { return g.reduce(OpKind::reduce_max, v, {2}); };
  auto min = [&](ValueId v) { return g.reduce(OpKind::reduce_min, v, {2}); };
  check_becomes(g, max(g.mul(g.x, 2)), g.mul(max(g.x), 2));
  check_becomes(g, max(g.mul(g.x, 0.1)), g.mul(max(g.x), 0.1));
  check_becomes(g, max(g.mul(g.x, -3)), g.mul(min(g.x), -3));
  check_becomes(g, min(g.op(OpKind::neg, {g.x})), g.op(OpKind::neg, {max(g.x)}));
  check_becomes(g, max(g.add(g.x, 1)), g.add(max(g.x), 1));
  ValueId relu = g.op(OpKind::maximum, {g.x, g.number(0)});
  check_becomes(g, max(relu), g.op(OpKind::maximum, {max(g.x), g.number(0)}));
  check_stays(g, max(g.mul(g.x, 0)));
  check_stays(g, max(g.op(OpKind::sin, {g.x})));
  ValueId inner = g.reduce(OpKind::reduce_max, g.x, {1});
  check_becomes(g, g.reduce(OpKind::reduce_max, inner, {1}),
                g.reduce(OpKind::reduce_max, g.x, {1, 2}));
  // Scaled values that are needed anyway are not scaled twice.
  ValueId scaled = g.mul(g.x, 2);
  Graph shared = g.with_outputs({max(scaled), scaled});
  CHECK(equivalent(run_all(shared, MathMode::strict), shared));
}

TEST_CASE("merge_reductions: means and maxima beside pair reductions") {
  Reductions g;
  const auto moments = g.reduce_pair(OpKind::moments, g.x, {0, 2});
  const auto sumexp = g.reduce_pair(OpKind::max_sumexp, g.x, {1});
  const auto results = [&](ValueId value, ValueId of_pair) {
    return run_all(g.with_outputs({value, of_pair}), MathMode::relaxed);
  };
  const auto same = [&](ValueId value, ValueId of_pair, ValueId wanted) {
    return equivalent(results(value, of_pair), g.with_outputs({wanted, of_pair}));
  };
  CHECK(same(g.reduce(OpKind::mean, g.x, {0, 2}), moments[1], moments[0]));
  CHECK(same(g.reduce(OpKind::reduce_max, g.x, {1}), sumexp[1], sumexp[0]));
  for (ValueId other : {g.reduce(OpKind::mean, g.x, {0}), g.reduce(OpKind::sum, g.x, {0, 2}),
                        g.reduce(OpKind::reduce_min, g.x, {1}), g.reduce(OpKind::mean, g.x, {1})})
    for (ValueId pair : {moments[1], sumexp[1]}) CHECK(same(other, pair, other));
  // Without the pair, nothing is made of it.
  check_stays(g, g.reduce(OpKind::mean, g.x, {0, 2}), MathMode::relaxed);
}

TEST_CASE("merge_reductions: relaxed only") {
  Reductions g;
  auto sum = [&](ValueId v, llvm::ArrayRef<int64_t> axes) {
    return g.reduce(OpKind::sum, v, axes);
  };
  auto mean = [&](ValueId v, llvm::ArrayRef<int64_t> axes) {
    return g.reduce(OpKind::mean, v, axes);
  };
  auto becomes = [&](ValueId before, ValueId after, MathMode math = MathMode::relaxed) {
    check_becomes(g, before, after, math);
    check_stays(g, before, MathMode::strict);
  };
  becomes(sum(sum(g.x, {1}), {0}), sum(g.x, {0, 1}));
  becomes(mean(mean(g.x, {2}), {1}), mean(g.x, {1, 2}));
  becomes(sum(g.mul(g.x, 3), {2}), g.mul(sum(g.x, {2}), 3));
  becomes(sum(g.mul(g.x, 0.1), {2}), g.mul(sum(g.x, {2}), 0.1), MathMode::finite);
  check_stays(g, sum(g.mul(g.x, 0.1), {2}), MathMode::relaxed); // the plain sum may overflow
  ValueId row = g.input("row", {6, 8});
  becomes(sum(g.broadcast(row, {4, 6, 8}), {0}), g.mul(row, 4));
  becomes(mean(g.broadcast(row, {4, 6, 8}), {0, 1}), mean(row, {0}));
  ValueId w = g.input("w", {4, 8, 3});
  becomes(g.matmul(g.mul(g.x, 3), w), g.mul(g.matmul(g.x, w), 3));
  check_stays(g, sum(mean(g.x, {2}), {1}), MathMode::relaxed);
}

TEST_CASE("hoist_factors: factors that the reduced elements share leave sums and means") {
  Reductions g;
  const ValueId y = g.input("y", {4, 6, 8}), r = g.input("r", {4}), s = g.input("s", {8});
  const ValueId rows = g.broadcast(g.reshape(r, {4, 1, 1}), {4, 6, 8});
  const auto product = [&](OpKind kind, ValueId a, ValueId b) { return g.op(kind, {a, b}); };
  const ValueId quotient = product(OpKind::div, g.x, rows);
  for (OpKind kind : {OpKind::sum, OpKind::mean}) {
    const ValueId before = g.reduce(kind, product(OpKind::mul, quotient, y), {1, 2});
    const ValueId of_products = g.reduce(kind, product(OpKind::mul, g.x, y), {1, 2});
    check_becomes(g, before, product(OpKind::div, of_products, r), MathMode::relaxed);
    check_stays(g, before, MathMode::strict);
  }
  // A result for each of several elements of the factor.
  const ValueId columns = g.broadcast(s, {4, 6, 8});
  check_becomes(g, g.reduce(OpKind::sum, product(OpKind::mul, g.x, columns), {1}),
                product(OpKind::mul, g.reduce(OpKind::sum, g.x, {1}), g.broadcast(s, {4, 8})),
                MathMode::relaxed);
}

TEST_CASE("hoist_factors: not from values with other uses, and not where they vary or overflow") {
  Reductions g;
  const ValueId s = g.input("s", {8});
  const ValueId columns = g.broadcast(s, {4, 6, 8});
  const ValueId scaled = g.op(OpKind::mul, {g.x, columns});
  check_stays(g, g.reduce(OpKind::sum, scaled, {2}), MathMode::relaxed);
  const ValueId sum = g.reduce(OpKind::sum, scaled, {1});
  const Graph shared = g.with_outputs({sum, scaled});
  CHECK(equivalent(run_all(shared), shared));
  // A pass that finds nothing leaves the graph alone, or the rounds would not end.
  const ValueId rows_of_x = g.broadcast(g.reshape(g.column, {4, 1, 1}), {4, 6, 8});
  const ValueId part = g.broadcast(g.input("part", {4, 1, 8}), {4, 6, 8});
  for (const ValueId value :
       {g.op(OpKind::div, {rows_of_x, g.x}), g.op(OpKind::mul, {g.x, part})}) {
    const Graph kept = g.with_outputs({g.reduce(OpKind::sum, value, {1, 2})});
    CHECK(identical(run(hoist_factors, kept), kept));
  }
  const Graph repeated = g.with_outputs({g.reduce(OpKind::sum, part, {1, 2})});
  CHECK(identical(run(simplify_reductions, repeated, MathMode::strict), repeated));
  // Sums of f16 would overflow.
  const ValueId half = g.input("half", {4, 8}, DType::f16), row = g.input("row", {4}, DType::f16);
  const ValueId rows = g.broadcast(g.reshape(row, {4, 1}), {4, 8});
  check_stays(g, g.reduce(OpKind::sum, g.op(OpKind::mul, {half, rows}), {1}), MathMode::relaxed);
  // No element reduced: 0 times a factor is 0 only if the factor is finite.
  const ValueId named = g.input("named", {4, Dim::named("n")}),
                spread = g.broadcast(g.column, {4, Dim::named("n")});
  check_stays(g, g.reduce(OpKind::sum, g.op(OpKind::mul, {named, spread}), {1}), MathMode::relaxed);
}

TEST_CASE("push_down_reductions: the sum of a linear layer's features") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32});
  ValueId w = g.param("w", {48, 32});
  ValueId b = g.param("b", {48});
  ValueId h = g.matmul(x, w, {false, true});
  ValueId biased = g.op(OpKind::add, {h, g.broadcast(b, {64, 48})});
  ValueId scaled = g.op(OpKind::div, {biased, g.number(2)});
  ValueId y = g.op(OpKind::mul, {g.reduce(OpKind::sum, scaled, {1}), g.number(1.5)});

  ValueId summed = g.reduce(OpKind::sum, w, {0});
  ValueId dots = g.reduce(OpKind::sum, g.op(OpKind::mul, {x, g.broadcast(summed, {64, 32})}), {1});
  ValueId expected =
      g.op(OpKind::mul, {g.op(OpKind::add, {dots, g.reduce(OpKind::sum, b, {0})}), g.number(0.75)});
  check_becomes(g, y, expected, MathMode::relaxed);
  CHECK(count(run_all(g.with_outputs({y}), MathMode::strict), OpKind::matmul) == 1);
}

TEST_CASE("push_down_reductions: pooling is a smaller linear layer") {
  GraphMaker g;
  ValueId x = g.input("x", {Dim::named("m"), 32});
  ValueId w = g.param("w", {48, 32});
  ValueId b = g.param("b", {48});
  ValueId h = g.matmul(x, w, {false, true});
  Dim m = Dim::named("m");
  ValueId biased = g.op(OpKind::add, {h, g.broadcast(b, {m, 48})});
  ValueId pooled = g.reduce(OpKind::mean, g.reshape(biased, {m, 12, 4}), {2});

  ValueId small_w = g.reduce(OpKind::mean, g.reshape(w, {12, 4, 32}), {1});
  ValueId small_b = g.reduce(OpKind::mean, g.reshape(b, {12, 4}), {1});
  ValueId expected =
      g.op(OpKind::add, {g.matmul(x, small_w, {false, true}), g.broadcast(small_b, {m, 12})});
  check_becomes(g, pooled, expected, MathMode::relaxed);
}

TEST_CASE("push_down_reductions: rows, batches and untransposed operands") {
  GraphMaker g;
  ValueId a = g.param("a", {3, 64, 32});
  ValueId b = g.param("b", {3, 32, 48});
  ValueId x = g.input("x", {3, 64, 32});
  ValueId v = g.input("v", {3, 32, 48});
  // Over rows, where A is a param; over columns, where B is.
  Graph rows = run_all(g.with_outputs({g.reduce(OpKind::sum, g.matmul(a, v), {1})}));
  Graph columns = run_all(g.with_outputs({g.reduce(OpKind::sum, g.matmul(x, b), {2})}));
  for (const Graph* graph : {&rows, &columns}) {
    for (const Op& op : graph->ops()) {
      if (op.kind != OpKind::matmul) continue;
      const Shape& shape = graph->type(op.results[0]).shape;
      CHECK((shape[1].is(1) || shape[2].is(1)));
    }
  }
  CHECK(count(columns, OpKind::matmul) == 0);
  // Both at once.
  Graph all = run_all(g.with_outputs({g.reduce(OpKind::sum, g.matmul(x, b), {1, 2})}));
  CHECK(count(all, OpKind::matmul) == 0);
}

TEST_CASE("push_down_reductions: not where the matmul is needed or it does not pay") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32});
  ValueId w = g.param("w", {32, 48});
  ValueId h = g.matmul(x, w);
  ValueId sum = g.reduce(OpKind::sum, h, {1});
  Graph shared = g.with_outputs({sum, h});
  CHECK(equivalent(run_all(shared), shared));
  // Something that is not linear stands between.
  check_stays(g, g.reduce(OpKind::sum, g.op(OpKind::tanh, {h}), {1}), MathMode::relaxed);
  check_stays(g, g.reduce(OpKind::reduce_max, h, {1}), MathMode::relaxed);
  // Both operands change with each launch, and the matmul is tiny.
  ValueId v = g.input("v", {32, 48});
  check_stays(g, g.reduce(OpKind::sum, g.matmul(x, v), {1}), MathMode::relaxed);
}

TEST_CASE("push_down_reductions: sums of 16-bit weights are vectors, which no matmul rounds") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32}, DType::f16);
  ValueId w = g.param("w", {32, 48}, DType::f16);
  const auto sums = [&](ValueId left, int64_t axis, const Shape& shape) {
    const ValueId products = g.reshape(g.matmul(left, w), shape);
    return count(run_all(g.with_outputs({g.reduce(OpKind::sum, products, {axis})})),
                 OpKind::matmul);
  };
  CHECK(sums(x, 1, {64, 48}) == 0);
  // A matmul would round sums of runs. It would also take a vector beside a computed operand. Few
  // rows leave the vector in 16 bits.
  CHECK(sums(x, 2, {64, 12, 4}) == 1);
  CHECK(sums(g.op(OpKind::tanh, {x}), 1, {64, 48}) == 1);
  const ValueId one = g.broadcast(x, {3, 64, 32});
  const ValueId batch = g.matmul(one, g.param("ws", {3, 32, 48}, DType::f16));
  CHECK(count(run_all(g.with_outputs({g.reduce(OpKind::sum, batch, {2})})), OpKind::matmul) == 1);
  CHECK(sums(g.input("few", {8, 32}, DType::f16), 1, {8, 48}) == 1);
}

TEST_CASE("expand_matrix_vectors: matrix-vector products become sums along K") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32});
  ValueId column = g.input("column", {32, 1});
  ValueId row = g.input("row", {1, 32});
  ValueId rows = g.broadcast(g.reshape(row, {32}), {64, 32});
  ValueId dots = g.reduce(OpKind::sum, g.op(OpKind::mul, {x, rows}), {1});
  check_becomes(g, g.matmul(row, x, {false, true}), g.reshape(dots, {1, 64}), MathMode::relaxed);
  CHECK(count(run_all(g.with_outputs({g.matmul(x, column)})), OpKind::matmul) == 0);
  check_stays(g, g.matmul(x, column), MathMode::strict);
  // K along the rows of the matrix, and a batch of matrices.
  ValueId k_row = g.input("k_row", {1, 64});
  ValueId columns = g.broadcast(g.reshape(k_row, {64, 1}), {64, 32});
  ValueId sums = g.reduce(OpKind::sum, g.op(OpKind::mul, {x, columns}), {0});
  check_becomes(g, g.matmul(k_row, x), g.reshape(sums, {1, 32}), MathMode::relaxed);
  ValueId k_column = g.input("k_column", {64, 1});
  CHECK(count(run_all(g.with_outputs({g.matmul(x, k_column, {true, false})})), OpKind::matmul) ==
        0);
  ValueId batch = g.input("batch", {3, 64, 32});
  ValueId batch_column = g.input("batch_column", {3, 32, 1});
  CHECK(count(run_all(g.with_outputs({g.matmul(batch, batch_column)})), OpKind::matmul) == 0);
}

TEST_CASE("expand_matrix_vectors: products over one element need no matmul") {
  GraphMaker g;
  ValueId a = g.input("a", {3, 64, 1}), b = g.input("b", {3, 1, 32});
  ValueId row = g.input("row", {1, 64}), column = g.input("column", {32, 1});
  for (ValueId product : {g.matmul(a, b), g.matmul(row, column, {true, true})}) {
    const Graph expanded = run_all(g.with_outputs({product}));
    CHECK(count(expanded, OpKind::matmul) == 0);
    CHECK(count(expanded, OpKind::mul) == 1);
  }
  check_stays(g, g.matmul(a, b), MathMode::strict);
}

TEST_CASE("expand_matrix_vectors: one matrix and a batch of vectors are a matmul") {
  GraphMaker g;
  ValueId w = g.input("w", {32, 48});
  ValueId rows = g.input("rows", {5, 7, 1, 32});
  ValueId row_products = g.matmul(g.reshape(rows, {35, 32}), w);
  check_becomes(g, g.matmul(rows, g.broadcast(w, {5, 7, 32, 48})),
                g.reshape(row_products, {5, 7, 1, 48}), MathMode::relaxed);
  ValueId columns = g.input("columns", {5, 48, 1});
  ValueId column_products = g.matmul(g.reshape(columns, {5, 48}), w, {false, true});
  check_becomes(g, g.matmul(g.broadcast(w, {5, 32, 48}), columns),
                g.reshape(column_products, {5, 32, 1}), MathMode::relaxed);
  // Groups of vectors share a matrix.
  ValueId heads = g.input("heads", {2, 1, 32, 48});
  ValueId shared = g.reshape(g.broadcast(heads, {2, 3, 32, 48}), {6, 32, 48});
  CHECK(count(run_all(g.with_outputs({g.matmul(g.input("q", {6, 1, 32}), shared)})),
              OpKind::matmul) == 1);
}

TEST_CASE("expand_matrix_vectors: products of halves are not stored") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32}, DType::f16);
  ValueId v = g.input("v", {32, 1}, DType::f16);
  CHECK(count(run_all(g.with_outputs({g.matmul(x, v)})), OpKind::matmul) == 0);
  check_stays(g, g.matmul(g.op(OpKind::tanh, {x}), v), MathMode::relaxed);
}

TEST_CASE("a maximum minus its own mean is constant in finite mode alone") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32});
  ValueId max = g.reshape(g.reduce(OpKind::reduce_max, x, {1}), {64, 1});
  ValueId mean = g.reshape(g.reduce(OpKind::mean, max, {1}), {64, 1});
  ValueId y = g.op(OpKind::sub, {max, mean});
  Graph relaxed = run_all(g.with_outputs({y}), MathMode::relaxed);
  CHECK(count(relaxed, OpKind::reduce_max) == 1);
  CHECK(count(relaxed, OpKind::mean) == 0);
  Graph finite = run_all(g.with_outputs({y}), MathMode::finite);
  CHECK(count(finite, OpKind::reduce_max) == 0);
  CHECK(finite.inputs().size() == 1);
}

TEST_CASE("reduce_gathers: one element of each row of a product") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32}), w = g.input("w", {32, 48});
  ValueId one = g.input("one", {64, 1}, DType::i64), two = g.input("two", {64, 2}, DType::i64);
  auto gather = [&](ValueId table, ValueId index) {
    return g.op(OpKind::gather, {table, index}, AxisAttributes{1});
  };
  const Graph picked = run_all(g.with_outputs({gather(g.op(OpKind::tanh, {g.matmul(x, w)}), one)}));
  CHECK(count(picked, OpKind::gather) == 0);
  CHECK(count(picked, OpKind::reduce_max) == 1);
  CHECK(count(run_all(g.with_outputs({gather(g.matmul(x, w), two)})), OpKind::gather) == 1);
  CHECK(count(run_all(g.with_outputs({gather(x, one)})), OpKind::gather) == 1);
  // A product that is stored anyway, and rows that no tile holds side by side.
  const ValueId h = g.matmul(x, w);
  CHECK(count(run_all(g.with_outputs({gather(h, one), h})), OpKind::gather) == 1);
  ValueId row = g.input("row", {1, 48}, DType::i64);
  CHECK(count(run_all(g.with_outputs({g.op(OpKind::gather, {h, row}, AxisAttributes{0})})),
              OpKind::gather) == 1);
}

TEST_CASE("split_reductions: a half-typed result that is computed with is not rounded") {
  auto reductions = [](DType dtype, bool used) {
    GraphMaker g;
    ValueId h = g.matmul(g.input("x", {256, 96}, dtype), g.input("w", {96, 255}, dtype));
    ValueId mean = g.reduce(OpKind::mean, g.reshape(h, {16, 16, 255}), {1, 2});
    if (used) mean = g.op(OpKind::exp, {mean});
    return count(run_all(g.with_outputs({mean}), MathMode::relaxed), OpKind::mean);
  };
  CHECK(reductions(DType::f32, true) == 2);
  CHECK(reductions(DType::bf16, false) == 2);
  CHECK(reductions(DType::bf16, true) == 1);
}

TEST_CASE("split_reductions: a sum over rows that a kernel reduces already goes along them first") {
  // The number of sums of a graph that sums over rows and more behind a softmax of the rows.
  auto sums = [](Shape shape, std::vector<int64_t> axes, bool also_stored) {
    GraphMaker g;
    const ValueId x = g.input("x", shape, DType::f32);
    const int64_t last = static_cast<int64_t>(shape.size()) - 1;
    Shape kept = shape;
    kept.back() = 1;
    const ValueId largest =
        g.broadcast(g.reshape(g.reduce(OpKind::reduce_max, x, {last}), kept), shape);
    const ValueId h = g.op(OpKind::sub, {g.op(OpKind::exp, {x}), largest});
    const ValueId sum = g.reduce(OpKind::sum, h, axes);
    return count(run_all(also_stored ? g.with_outputs({sum, h}) : g.with_outputs({sum})),
                 OpKind::sum);
  };
  CHECK(sums({256, 300}, {0, 1}, false) == 2);
  CHECK(sums({4, 256, 300}, {1, 2}, false) == 2);
  CHECK(sums({Dim::named("m"), 300}, {0, 1}, false) == 2);
  // Rows alone, columns alone, and no more elements than one block reduces.
  CHECK(sums({4, 256, 300}, {2}, false) == 1);
  CHECK(sums({4, 256, 300}, {0, 1}, false) == 1);
  CHECK(sums({100, 300}, {0, 1}, false) == 1);
  CHECK(sums({400, 10, 30}, {1, 2}, false) == 1);
  // A value that is stored anyway is worth another step if it is large.
  CHECK(sums({256, 300}, {0, 1}, true) == 1);
  CHECK(sums({8192, 300}, {0, 1}, true) == 2);
}
