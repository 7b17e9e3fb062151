// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::test;

TEST_CASE("simplify_arithmetic: identities that keep every bit") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 8});
  ValueId y = g.input("y", {4, 8});
  auto op = [&](OpKind kind, ValueId a, ValueId b) { return g.op(kind, {a, b}); };
  ValueId neg_x = g.op(OpKind::neg, {x});
  ValueId neg_y = g.op(OpKind::neg, {y});
  check_becomes(g, op(OpKind::add, x, x), op(OpKind::mul, x, g.number(2)));
  check_becomes(g, op(OpKind::mul, x, g.number(1)), x);
  check_becomes(g, op(OpKind::mul, g.number(-1), x), neg_x);
  check_becomes(g, op(OpKind::div, x, g.number(1)), x);
  check_becomes(g, op(OpKind::sub, x, g.number(0.0)), x);
  check_becomes(g, op(OpKind::add, x, g.number(-0.0)), x);
  check_becomes(g, op(OpKind::sub, x, g.number(3)), op(OpKind::add, x, g.number(-3)));
  check_becomes(g, op(OpKind::div, x, g.number(4)), op(OpKind::mul, x, g.number(0.25)));
  check_becomes(g, op(OpKind::add, x, neg_y), op(OpKind::sub, x, y));
  check_becomes(g, op(OpKind::add, neg_x, y), op(OpKind::sub, y, x));
  check_becomes(g, op(OpKind::sub, x, neg_y), op(OpKind::add, x, y));
  check_becomes(g, op(OpKind::mul, neg_x, neg_y), op(OpKind::mul, x, y));
  check_becomes(g, op(OpKind::mul, neg_x, g.number(3)), op(OpKind::mul, x, g.number(-3)));
  check_becomes(g, op(OpKind::div, neg_x, neg_y), op(OpKind::div, x, y));
  check_becomes(g, g.op(OpKind::neg, {neg_x}), x);
  check_becomes(g, g.op(OpKind::abs, {neg_x}), g.op(OpKind::abs, {x}));
  check_becomes(g, g.op(OpKind::abs, {g.op(OpKind::abs, {x})}), g.op(OpKind::abs, {x}));
  check_becomes(g, op(OpKind::minimum, x, x), x);
  check_becomes(g, g.op(OpKind::round, {g.op(OpKind::floor, {x})}), g.op(OpKind::floor, {x}));
}

TEST_CASE("simplify_arithmetic: in strict, ops whose rewrite would change a bit stay") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 8});
  auto op = [&](OpKind kind, ValueId a, ValueId b) { return g.op(kind, {a, b}); };
  check_stays(g, op(OpKind::add, x, g.number(0.0)));                // -0.0 would stay -0.0
  check_stays(g, op(OpKind::div, x, g.number(3)));                  // 1/3 rounds
  check_stays(g, op(OpKind::div, x, g.number(std::ldexp(1, 127)))); // the reciprocal is subnormal
  check_stays(g, op(OpKind::sub, x, x));                            // NaN for Inf
  check_stays(g, op(OpKind::mul, x, g.number(0)));                  // NaN for Inf, -0.0
  check_stays(g, op(OpKind::add, op(OpKind::add, x, g.number(1)), g.number(2)));
  check_stays(g, op(OpKind::mul, op(OpKind::mul, x, g.number(3)), g.number(5)));
  check_stays(g, op(OpKind::sub, g.number(0.0), x)); // 0 - 0 is 0.0, -(0.0) is -0.0
}

TEST_CASE("simplify_arithmetic: select and logic") {
  GraphMaker g;
  ValueId x = g.input("x", {4});
  ValueId y = g.input("y", {4});
  ValueId p = g.input("p", {4}, DType::boolean);
  ValueId yes = g.number(1, DType::boolean), no = g.number(0, DType::boolean);
  check_becomes(g, g.op(OpKind::select, {yes, x, y}), x);
  check_becomes(g, g.op(OpKind::select, {no, x, y}), y);
  check_becomes(g, g.op(OpKind::select, {p, x, x}), x);
  check_becomes(g, g.op(OpKind::select, {g.op(OpKind::not_, {p}), x, y}),
                g.op(OpKind::select, {p, y, x}));
  check_becomes(g, g.op(OpKind::and_, {p, yes}), p);
  check_becomes(g, g.op(OpKind::or_, {p, no}), p);
  check_becomes(g, g.op(OpKind::not_, {g.op(OpKind::not_, {p})}), p);
  // A number takes the result's shape.
  check_becomes(g, g.op(OpKind::select, {yes, g.number(1), y}), g.broadcast(g.number(1), {4}));
}

TEST_CASE("simplify_arithmetic: casts that round stay") {
  GraphMaker g;
  ValueId x = g.input("x", {4});
  ValueId h = g.input("h", {4}, DType::f16);
  ValueId i = g.input("i", {4}, DType::i32);
  check_becomes(g, g.cast(x, DType::f32), x);
  check_becomes(g, g.cast(h, DType::f16), h);
  check_becomes(g, g.cast(g.cast(h, DType::f32), DType::f16), h);
  check_becomes(g, g.cast(g.cast(i, DType::i64), DType::i32), i);
  ValueId narrow = g.cast(x, DType::f16);
  check_becomes(g, g.cast(narrow, DType::f16), narrow);
  check_stays(g, g.cast(narrow, DType::f32));
  // An f16 sum is an f32 until it is stored; the cast rounds it.
  ValueId sum = g.op(OpKind::add, {h, g.number(1, DType::f16)});
  check_stays(g, g.cast(sum, DType::f16));
  check_becomes(g, g.cast(g.cast(sum, DType::f32), DType::f16), g.cast(sum, DType::f16));
  check_stays(g, g.cast(g.cast(x, DType::i32), DType::f32));
}

TEST_CASE("simplify_movement: chains and identities") {
  GraphMaker g;
  Dim m = Dim::named("m");
  ValueId x = g.input("x", {m, 6, 4});
  ValueId y = g.input("y", {6, 4});
  check_becomes(g, g.reshape(g.reshape(x, {m, 24}), {m, 6, 4}), x);
  check_becomes(g, g.reshape(g.reshape(x, {m, 24}), {m, 4, 6}), g.reshape(x, {m, 4, 6}));
  check_becomes(g, g.transpose(g.transpose(x, {1, 0, 2}), {1, 0, 2}), x);
  check_becomes(g, g.transpose(g.transpose(x, {1, 2, 0}), {1, 2, 0}), g.transpose(x, {2, 0, 1}));
  check_becomes(g, g.transpose(g.reshape(y, {1, 6, 4}), {1, 0, 2}), g.reshape(y, {6, 1, 4}));
  check_becomes(g, g.broadcast(g.broadcast(y, {2, 6, 4}), {3, 2, 6, 4}),
                g.broadcast(y, {3, 2, 6, 4}));
  check_becomes(g, g.broadcast(g.reshape(y, {1, 6, 4}), {2, 6, 4}), g.broadcast(y, {2, 6, 4}));
  check_becomes(g, g.broadcast(y, {1, 6, 4}), g.reshape(y, {1, 6, 4}));
  check_becomes(g, g.op(OpKind::concat, {x}, AxisAttributes{1}), x);
  ValueId sums = g.op(OpKind::cumsum, {y}, ScanAttributes{0});
  ValueId pair = g.op(OpKind::concat, {sums, y}, AxisAttributes{0});
  check_becomes(g, g.op(OpKind::concat, {pair, y}, AxisAttributes{0}),
                g.op(OpKind::concat, {sums, y, y}, AxisAttributes{0}));
  auto window = [&](int64_t start, int64_t extent) {
    return g.op(OpKind::window, {y}, WindowAttributes{0, start, extent});
  };
  check_becomes(g, window(0, 6), y);
  check_becomes(g, window(2, 4), g.op(OpKind::slice, {y}, SliceAttributes{{2, 0}, {6, 4}, {1, 1}}));
  check_stays(g, window(-1, 6));
  check_stays(g, window(2, 5));
  auto slice = [&](ValueId v, int64_t start, int64_t stop, int64_t step) {
    return g.op(OpKind::slice, {v}, SliceAttributes{{start, 0}, {stop, 4}, {step, 1}});
  };
  check_becomes(g, slice(y, 0, 6, 1), y);
  check_becomes(g, slice(slice(y, 1, 6, 2), 1, 3, 1), slice(y, 3, 6, 2));
}

TEST_CASE("transpose_products: a transposed product of which rows are reduced") {
  GraphMaker g;
  Dim m = Dim::named("m");
  ValueId x = g.input("x", {2, m, 6}), w = g.input("w", {2, 5, 6});
  ValueId h = g.op(OpKind::matmul, {x, w}, MatmulAttributes{false, true});
  auto sum = [&](ValueId value, int64_t axis) {
    return g.op(OpKind::sum, {g.op(OpKind::exp, {value})}, ReduceAttributes{{axis}});
  };
  check_becomes(g, sum(g.transpose(h, {0, 2, 1}), 2),
                sum(g.op(OpKind::matmul, {w, x}, MatmulAttributes{false, true}), 2));
  // Rows of the product become columns of the transposed one: these cross tiles.
  const Graph rows = run_all(g.with_outputs({sum(g.transpose(h, {0, 2, 1}), 1)}));
  CHECK(equivalent(rows, run_all(g.with_outputs({sum(h, 2)}))));
  const Graph moved = run_all(g.with_outputs({g.transpose(h, {0, 2, 1})}));
  CHECK(count(moved, OpKind::transpose) == 1);
  // Used as it is too, it is computed once.
  const Graph both = run_all(g.with_outputs({g.transpose(h, {0, 2, 1}), h}));
  CHECK(count(both, OpKind::matmul) == 1);
}

TEST_CASE("spread_concats: a choice by position between parts in memory") {
  GraphMaker g;
  Dim m = Dim::named("m");
  ValueId x = g.input("x", {m, 6}), y = g.input("y", {m, 3});
  auto window = [&](ValueId v, int64_t start) {
    return g.op(OpKind::window, {v}, WindowAttributes{1, start, 9});
  };
  ValueId position = g.op(OpKind::iota, {}, IotaAttributes{1, {DType::i32, {m, 9}}});
  ValueId first = g.op(OpKind::less, {position, g.number(6, DType::i32)});
  check_becomes(g, g.op(OpKind::concat, {x, y}, AxisAttributes{1}),
                g.op(OpKind::select, {first, window(x, 0), window(y, -6)}));
  check_becomes(g,
                g.op(OpKind::concat,
                     {g.op(OpKind::exp, {x}), g.transpose(g.transpose(y, {1, 0}), {1, 0})},
                     AxisAttributes{1}),
                g.op(OpKind::select, {first, g.op(OpKind::exp, {window(x, 0)}), window(y, -6)}));
  // The filled part lies in no memory.
  check_becomes(g, g.op(OpKind::concat, {g.broadcast(g.number(0), {m, 6}), y}, AxisAttributes{1}),
                g.op(OpKind::select, {first, g.number(0), window(y, -6)}));
  // A window of a window is one window of the tensor.
  check_becomes(g, g.op(OpKind::window, {window(y, -6)}, WindowAttributes{1, 2, 9}), window(y, -4));
  // Of many parts some are chosen together, and of those again some while they are few.
  auto many = [&](int count, ValueId last) {
    llvm::SmallVector<ValueId, 3> parts(count - 1, y);
    parts.push_back(last);
    return run_all(g.with_outputs({g.op(OpKind::concat, parts, AxisAttributes{1})}));
  };
  for (const auto& [parts, left] : {std::pair(9, 0), {40, 5}, {57, 8}, {100, 13}}) {
    CAPTURE(parts);
    const Graph chosen = many(parts, g.op(OpKind::exp, {y}));
    CHECK(count(chosen, OpKind::concat) == (left > 0));
    for (const Op& op : chosen.ops())
      if (op.kind == OpKind::concat) CHECK(op.operands.size() == static_cast<size_t>(left));
  }
  // Nothing is made of the first parts where the last one has to be stored.
  const Graph stored = many(9, g.op(OpKind::cumsum, {y}, ScanAttributes{1}));
  CHECK(stored.ops().size() == 4);
  // Windows that start too far outside to be joined stay as they are.
  const int64_t far = -((int64_t{1} << 62) - 4);
  auto outside = [&](ValueId v) { return g.op(OpKind::window, {v}, WindowAttributes{1, far, 4}); };
  CHECK(count(run_all(g.with_outputs({outside(outside(y))})), OpKind::window) == 2);
}

TEST_CASE("spread_concats: a part that is computed from params is prepared in its own shape") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 6});
  ValueId p = g.param("p", {4, 3});
  const Graph mixed = run_all(
      g.with_outputs({g.op(OpKind::concat, {x, g.op(OpKind::exp, {p})}, AxisAttributes{1})}));
  for (const Op& op : mixed.ops())
    if (op.kind == OpKind::exp) CHECK(mixed.type(op.results[0]).shape == Shape{4, 3});
  CHECK(count(mixed, OpKind::exp) == 1);
}

TEST_CASE("spread_concats: parts of parts do not multiply") {
  GraphMaker g;
  ValueId c = g.op(OpKind::cumsum, {g.input("x", {16, 4})}, ScanAttributes{0});
  for (int level = 0; level < 14; ++level)
    c = g.op(OpKind::concat, {c, g.op(OpKind::tanh, {c})}, AxisAttributes{1});
  CHECK(run_all(g.with_outputs({c})).ops().size() < 200);
}

TEST_CASE("push_down_slices: elementwise ops of slices, and matmuls of slices") {
  GraphMaker g;
  ValueId x = g.input("x", {64, 32}), w = g.input("w", {32, 48}), b = g.input("b", {48});
  auto columns = [&](ValueId v, int64_t start, int64_t stop) {
    return g.op(OpKind::slice, {v}, SliceAttributes{{0, start}, {64, stop}, {1, 1}});
  };
  check_becomes(g, columns(g.op(OpKind::exp, {x}), 3, 9), g.op(OpKind::exp, {columns(x, 3, 9)}));
  ValueId h = g.op(OpKind::add, {g.matmul(x, w), g.broadcast(b, {64, 48})});
  auto matmuls = [&](std::initializer_list<ValueId> outputs) {
    std::vector<Shape> shapes;
    const Graph graph = run_all(g.with_outputs(outputs));
    for (const Op& op : graph.ops())
      if (op.kind == OpKind::matmul) shapes.push_back(graph.type(op.results[0]).shape);
    return shapes;
  };
  const Shape half = {64, 24}, whole = {64, 48};
  ValueId first = columns(h, 0, 24), second = columns(h, 24, 48);
  // Several slices that go to memory are parts of one product.
  CHECK(matmuls({first, second}) == std::vector{whole});
  CHECK(matmuls({first}) == std::vector{half});
  CHECK(matmuls({g.op(OpKind::mul, {g.op(OpKind::tanh, {first}), second})}) ==
        std::vector{half, half});
  // Used as a whole as well, more than once by all, and most of it where no copy is aligned.
  CHECK(matmuls({first, h}) == std::vector{whole});
  CHECK(matmuls({first, columns(h, 16, 48)}) == std::vector{whole});
  CHECK(matmuls({columns(h, 1, 47)}) == std::vector{whole});
  CHECK(matmuls({columns(h, 1, 23)}) == std::vector{Shape{64, 22}});
  // Rows of an operand that is not transposed begin rows in memory.
  CHECK(matmuls({g.op(OpKind::slice, {h}, SliceAttributes{{1, 0}, {64, 48}, {1, 1}})}) ==
        std::vector{Shape{63, 48}});
}

TEST_CASE("push_down_slices: long chains with many slices take no longer than their ops") {
  // Quadratic, the first would take minutes; recursive, the second would overflow the stack.
  GraphMaker many, deep;
  ValueId x = many.input("x", {64, 256}), y = x;
  std::vector<ValueId> outputs;
  for (int i = 0; i < 4000; ++i) {
    y = many.op(OpKind::tanh, {many.op(OpKind::mul, {y, x})});
    outputs.push_back(many.op(OpKind::slice, {y}, SliceAttributes{{0, 8}, {64, 24}, {1, 1}}));
  }
  const Graph graph = many.with_outputs(outputs);
  CHECK(run(push_down_slices, graph).ops().size() < 2 * graph.ops().size());
  ValueId z = deep.input("z", {64, 256});
  for (int i = 0; i < 100000; ++i) z = deep.op(OpKind::sin, {z});
  const Graph chain =
      deep.with_outputs({deep.op(OpKind::slice, {z}, SliceAttributes{{0, 8}, {64, 24}, {1, 1}})});
  CHECK(identical(run(push_down_slices, chain), chain));
}

TEST_CASE("simplify_movement: slices of concats are of the parts that they show") {
  GraphMaker g;
  ValueId a = g.input("a", {4, 6}), b = g.input("b", {4, 3}), c = g.input("c", {4, 9});
  ValueId all = g.op(OpKind::concat, {a, b, c}, AxisAttributes{1});
  auto part = [&](ValueId v, int64_t start, int64_t stop, int64_t step = 1) {
    return g.op(OpKind::slice, {v}, SliceAttributes{{0, start}, {4, stop}, {1, step}});
  };
  check_becomes(g, part(all, 6, 9), b);
  check_becomes(g, part(all, 1, 5), part(a, 1, 5));
  const Graph strided = run(simplify_movement, g.with_outputs({part(all, 4, 8, 2)}));
  const Op& shown = strided.producer(strided.outputs().front().value);
  CHECK(strided.producer(shown.operands[0]).kind == OpKind::concat);
}

TEST_CASE("spread_concats: parts that are computed are computed on") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 6}), y = g.input("y", {4, 3}), z = g.input("z", {4, 9});
  ValueId sums = g.op(OpKind::cumsum, {x}, ScanAttributes{0});
  auto concat = [&](ValueId a, ValueId b) {
    return g.op(OpKind::concat, {a, b}, AxisAttributes{1});
  };
  auto part = [&](int64_t start, int64_t stop) {
    return g.op(OpKind::slice, {z}, SliceAttributes{{0, start}, {4, stop}, {1, 1}});
  };
  auto op = [&](OpKind kind, ValueId a, ValueId b) { return g.op(kind, {a, b}); };
  check_stays(g, concat(sums, y));
  check_becomes(g, g.op(OpKind::exp, {concat(sums, y)}),
                concat(g.op(OpKind::exp, {sums}), g.op(OpKind::exp, {y})));
  check_becomes(g, op(OpKind::sub, concat(sums, y), z),
                concat(op(OpKind::sub, sums, part(0, 6)), op(OpKind::sub, y, part(6, 9))));
  ValueId both = concat(sums, y);
  check_becomes(g, op(OpKind::sub, both, g.op(OpKind::exp, {both})),
                concat(op(OpKind::sub, sums, g.op(OpKind::exp, {sums})),
                       op(OpKind::sub, y, g.op(OpKind::exp, {y}))));
  // Cut elsewhere, the other concat is read from memory.
  check_stays(g, op(OpKind::sub, both, concat(y, sums)));
}

TEST_CASE("simplify_movement: transposes become matmul's flags") {
  GraphMaker g;
  ValueId a = g.input("a", {3, 16, 8});
  ValueId b = g.input("b", {3, 32, 8});
  auto matmul = [&](ValueId x, ValueId y, bool transpose_a, bool transpose_b) {
    return g.op(OpKind::matmul, {x, y}, MatmulAttributes{transpose_a, transpose_b});
  };
  check_becomes(g, matmul(a, g.transpose(b, {0, 2, 1}), false, false), matmul(a, b, false, true));
  check_becomes(g, matmul(g.transpose(a, {0, 2, 1}), b, true, true), matmul(a, b, false, true));
  ValueId c = g.input("c", {8, 3, 32});
  check_stays(g, matmul(a, g.transpose(c, {1, 0, 2}), false, false));
}

TEST_CASE("canonicalize_elementwise: movement goes last") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 6});
  ValueId y = g.input("y", {4, 6});
  ValueId b = g.param("b", {6});
  ValueId c = g.param("c", {6});
  auto exp = [&](ValueId v) { return g.op(OpKind::exp, {v}); };
  auto mul = [&](ValueId v, ValueId w) { return g.op(OpKind::mul, {v, w}); };
  check_becomes(g, exp(g.reshape(x, {2, 2, 6})), g.reshape(exp(x), {2, 2, 6}));
  check_becomes(g, g.reshape(exp(g.reshape(x, {24})), {4, 6}), exp(x));
  check_becomes(g, mul(g.transpose(x, {1, 0}), g.transpose(y, {1, 0})),
                g.transpose(mul(x, y), {1, 0}));
  check_becomes(g, mul(g.broadcast(b, {4, 6}), g.broadcast(c, {4, 6})),
                g.broadcast(mul(b, c), {4, 6}));
  check_becomes(g, mul(x, g.broadcast(g.number(3), {4, 6})), mul(x, g.number(3)));
  check_stays(g, mul(g.reshape(x, {24}), g.input("z", {24})));
  // The outer product costs the same either way.
  ValueId row = g.reshape(g.input("r", {4}), {4, 1});
  check_stays(g, mul(g.broadcast(row, {4, 6}), g.broadcast(b, {4, 6})));
}

TEST_CASE("canonicalize_elementwise: operand order does not depend on spelling") {
  auto make = [](bool swapped) {
    GraphMaker g;
    ValueId x = g.input("x", {4, 6});
    ValueId b = g.param("b", {4, 6});
    ValueId h = g.op(OpKind::exp, {x});
    ValueId t = g.op(OpKind::tanh, {x});
    auto order = [&](ValueId v, ValueId w) {
      return g.op(OpKind::add, swapped ? std::array{w, v} : std::array{v, w});
    };
    return g.with_outputs({order(order(order(order(h, t), x), b), g.number(2))});
  };
  Graph a = run_all(make(false), MathMode::strict);
  CHECK(equivalent(a, run_all(make(true), MathMode::strict)));
  // Numbers come last, and before them values that depend on params alone.
  const Op& last = a.producer(a.outputs()[0].value);
  CHECK(a.producer(last.operands[1]).kind == OpKind::constant);
  const Op& bias = a.producer(last.operands[0]);
  CHECK(bias.operands[1] == a.inputs()[1]);
}
