// SPDX-License-Identifier: Apache-2.0
// Functions of the library where a size has a name, is 0, or a type is narrow: values by hand.
// tests/golden/operators has PyTorch's values of all of them.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"
#include "src/support/error.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ingot;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// 0, 1, 2, ...
Tensor counted(DType dtype, llvm::ArrayRef<int64_t> extents) {
  Tensor result(dtype, extents);
  for (int64_t i = 0; i < result.count(); ++i)
    is_float(dtype) ? result.set(i, static_cast<double>(i)) : result.set_integer(i, i);
  return result;
}

Tensor of(DType dtype, llvm::ArrayRef<double> values) {
  Tensor result(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) result.set(static_cast<int64_t>(i), values[i]);
  return result;
}

Tensor of(llvm::ArrayRef<int64_t> values) {
  Tensor result(DType::i64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) result.set_integer(static_cast<int64_t>(i), values[i]);
  return result;
}

std::vector<Evaluated> run(const std::string& spec, llvm::ArrayRef<const Tensor*> inputs) {
  auto graph = parse_graph(spec, "spec");
  if (!graph) FAIL(take_error(graph.takeError()).second);
  auto results = evaluate(*graph, inputs);
  if (!results) FAIL(take_error(results.takeError()).second);
  return std::move(*results);
}

std::vector<double> reals(const Evaluated& result) {
  return {result.reals().begin(), result.reals().end()};
}

bool same(const Evaluated& result, const std::vector<double>& wanted) {
  const std::vector<double> got = reals(result);
  if (got.size() != wanted.size()) return false;
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != wanted[i] && !(std::isnan(got[i]) && std::isnan(wanted[i]))) return false;
  return true;
}

} // namespace

TEST_CASE("library functions: parts of a named extent are those of the number before it") {
  const Tensor x = counted(DType::f32, {6, 2}), y = counted(DType::f32, {2});
  const auto results = run("graph g(x: f32[3*n, 2], y: f32[n]) {\n"
                           "  a, b, c = chunk(x, 3)\n"
                           "  d, e = split(x, [2*n, n])\n"
                           "  f, h, k = split(x, n)\n"
                           "  return a, b, c, d, e, k }",
                           {&x, &y});
  CHECK(same(results[0], {0, 1, 2, 3}));
  CHECK(same(results[1], {4, 5, 6, 7}));
  CHECK(same(results[2], {8, 9, 10, 11}));
  CHECK(same(results[3], {0, 1, 2, 3, 4, 5, 6, 7}));
  CHECK(same(results[4], {8, 9, 10, 11}));
  CHECK(same(results[5], {8, 9, 10, 11}));
}

TEST_CASE("library functions: split takes a cat along named extents apart again") {
  const Tensor x = counted(DType::f32, {2, 2}), y = counted(DType::f32, {3, 2});
  const auto results = run("graph g(x: f32[n, 2], y: f32[t, 2]) {\n"
                           "  z = cat([x, y + 10])\n"
                           "  a, b = split(z, [n, t])\n"
                           "  c, d = chunk(cat([y, y + 20]), 2)\n"
                           "  e, f, h = z.split([1, n, t - 1], 0)\n"
                           "  return a, b, c, d, e, f, h }",
                           {&x, &y});
  const std::vector<std::vector<double>> expected = {
      {0, 1, 2, 3}, {10, 11, 12, 13, 14, 15}, {0, 1, 2, 3, 4, 5}, {20, 21, 22, 23, 24, 25},
      {0, 1},       {2, 3, 10, 11},           {12, 13, 14, 15}};
  for (size_t i = 0; i < expected.size(); ++i) CHECK(same(results[i], expected[i]));
}

TEST_CASE("library functions: glu and stack along named extents") {
  const Tensor x = counted(DType::f32, {4}), y = counted(DType::f32, {2});
  const auto results =
      run("graph g(x: f32[2*n], y: f32[n]) { return glu(x * 0 + 1), stack([y, y + 5], dim=-1) }",
          {&x, &y});
  CHECK(results[0].reals()[0] == doctest::Approx(1 / (1 + std::exp(-1))).epsilon(1e-12));
  CHECK(results[0].reals().size() == 2);
  CHECK(same(results[1], {0, 5, 1, 6}));
}

TEST_CASE("library functions: sums of products over named extents, and over none") {
  for (int64_t n : {3, 0}) {
    const Tensor a = counted(DType::f32, {2, n}), b = counted(DType::f32, {n, 2});
    const auto results = run("graph g(a: f32[2, n], b: f32[n, 2]) {\n"
                             "  return einsum(\"ik,kj->ji\", a, b), einsum(\"ik->i\", a), "
                             "einsum(\"ik,ki->\", a, b) }",
                             {&a, &b});
    // a is [[0, 1, 2], [3, 4, 5]], b is [[0, 1], [2, 3], [4, 5]].
    CHECK(same(results[0], n ? std::vector<double>{10, 28, 13, 40} : std::vector<double>(4)));
    CHECK(same(results[1], n ? std::vector<double>{3, 12} : std::vector<double>(2)));
    CHECK(same(results[2], {n ? 50.0 : 0.0}));
  }
}

TEST_CASE("library functions: an extent of 1 repeats in a sum of products") {
  const Tensor a = counted(DType::f32, {3, 1}), b = counted(DType::f32, {3, 2});
  const auto results =
      run("graph g(a: f32[3, 1], b: f32[3, 2]) {\n"
          "  return einsum(\"ij,ij->ij\", a, b), einsum(\"ij,ij->i\", a, b),\n"
          "         einsum(\"ij,kj->ik\", narrow(b, 0, 1, 2), narrow(a, 0, 1, 2)) }",
          {&a, &b});
  CHECK(same(results[0], {0, 0, 2, 3, 8, 10}));
  CHECK(same(results[1], {0, 5, 18}));
  CHECK(same(results[2], {5, 10, 9, 18}));
}

TEST_CASE("library functions: numbers of a named extent") {
  const Tensor x = counted(DType::f32, {3});
  const auto results =
      run("graph g(x: f32[n]) {\n"
          "  return arange(n, dtype=f32) + x, ones(n) - full([n], 0.25), arange(0, 2*n), "
          "arange(end=n) }",
          {&x});
  CHECK(same(results[0], {0, 2, 4}));
  CHECK(same(results[1], {0.75, 0.75, 0.75}));
  CHECK(results[2].dtype == DType::i64);
  CHECK(results[2].integers().back() == 5);
  CHECK(results[3].integers().size() == 3);
}

TEST_CASE("library functions: rows by index, and those that are not there") {
  const Tensor table = counted(DType::f16, {3, 2}), index = of({2, 0, 3, -1});
  const auto results = run("graph g(table: f16[v, 2], index: i64[n]) {\n"
                           "  return embedding(index, table), index_select(table, -2, index),\n"
                           "         embedding(reshape(index, [n, 1]), table), one_hot(index, 3) }",
                           {&table, &index});
  const std::vector<double> rows = {4, 5, 0, 1, kNaN, kNaN, kNaN, kNaN};
  for (int i = 0; i < 3; ++i) CHECK(same(results[i], rows));
  CHECK(results[2].extents() == llvm::ArrayRef<int64_t>({4, 1, 2}));
  const std::vector<int64_t> hot(results[3].integers().begin(), results[3].integers().end());
  CHECK(hot == std::vector<int64_t>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("library functions: attention sees the keys that masks and the diagonal leave") {
  // Where q is 0, all keys that a row sees have one weight.
  const std::string inputs = "graph t(q: f32[n, 1], k: f32[m, 1], v: f32[m, 1], mask: bool[n, m], "
                             "bias: f32[n, m]) { return ";
  const auto is = [&](const std::string& arguments, const std::vector<double>& wanted) {
    Tensor q(DType::f32, {4, 1}), k = counted(DType::f32, {3, 1}), v = counted(DType::f32, {3, 1});
    v.set(1, 4);
    Tensor mask(DType::boolean, {4, 3}), bias(DType::f32, {4, 3});
    for (int64_t i = 0; i < 4; ++i) q.set(i, 0);
    // Row 2 sees nothing.
    for (int64_t i = 0; i < 12; ++i) mask.set_integer(i, i == 0 || i == 2 || i == 4 || i > 8);
    for (int64_t i = 0; i < 12; ++i) bias.set(i, i == 1 || i / 3 == 2 ? -kInf : i / 3);
    const Evaluated result =
        run(inputs + "scaled_dot_product_attention(q, k, v, " + arguments + ") }",
            {&q, &k, &v, &mask, &bias})
            .front();
    Tensor expected(DType::f32, {4, 1});
    for (size_t i = 0; i < wanted.size(); ++i) expected.set(static_cast<int64_t>(i), wanted[i]);
    return compare(result, expected, 0).pass;
  };
  // More rows than columns: the triangle begins at the top left.
  CHECK(is("is_causal=true", {0, 2, 2, 2}));
  CHECK_FALSE(is("is_causal=true", {0, 0, 2, 2}));
  CHECK(is("mask", {1, 4, 0, 2}));
  CHECK(is("attn_mask=tril(mask)", {0, 4, 0, 2}));
  CHECK(is("bias", {1, 2, 0, 2}));
}

TEST_CASE("library functions: the remedies in errors of named extents work") {
  const Tensor cache = counted(DType::f32, {3, 2}), row = of(DType::f32, {8, 9});
  Tensor position(DType::i64, {});
  position.set_integer(0, 1);
  const auto results =
      run("graph g(cache: f32[n, 2], new: f32[2], position: i64[]) {\n"
          "  return where(reshape(arange(n), [n, 1]) == position, new, cache),\n"
          "         index_select(cache, 0, arange(1, 3)), index_select(cache, 0, arange(2, 4)) }",
          {&cache, &row, &position});
  CHECK(same(results[0], {0, 1, 8, 9, 4, 5}));
  CHECK(same(results[1], {2, 3, 4, 5}));
  CHECK(same(results[2], {4, 5, kNaN, kNaN}));
}

TEST_CASE("library functions: parts of named extents are joined and taken") {
  const Tensor cache = counted(DType::f32, {3, 2}), row = counted(DType::f32, {1, 2}),
               all = counted(DType::f32, {4, 1});
  const auto results = run("graph g(cache: f32[n, 2], new: f32[t, 2], all: f32[n + t, 1]) {\n"
                           "  y = cat([cache, new, cache], 0)\n"
                           "  return y, y[n:n + t], narrow(y, 0, 1, t), y[-n:], all + y[:-n] }",
                           {&cache, &row, &all});
  CHECK(same(results[0], {0, 1, 2, 3, 4, 5, 0, 1, 0, 1, 2, 3, 4, 5}));
  CHECK(same(results[1], {0, 1}));
  CHECK(same(results[2], {2, 3}));
  CHECK(same(results[3], {0, 1, 2, 3, 4, 5}));
  CHECK(same(results[4], {0, 1, 3, 4, 6, 7, 3, 4}));
}

TEST_CASE("library functions: a mean of losses is over the targets that count") {
  const Tensor x = counted(DType::f32, {3, 2}), target = of({0, -100, 1});
  const double rising = std::log1p(std::exp(1.0)); // of the class 0; rising - 1 of the class 1
  const auto results =
      run("graph g(x: f32[n, 2], t: i64[n]) {\n"
          "  return cross_entropy(x, t), cross_entropy(x, t, reduction=\"none\"),\n"
          "         nll_loss(x, t), cross_entropy(x, 0 * t - 100) }",
          {&x, &target});
  CHECK(results[0].reals()[0] == doctest::Approx((2 * rising - 1) / 2).epsilon(1e-12));
  CHECK(results[1].reals()[1] == 0);
  CHECK(results[2].reals()[0] == -(0.0 + 5.0) / 2);
  CHECK(std::isnan(results[3].reals()[0]));
  const Tensor none(DType::f32, {0, 2}), no_target(DType::i64, {0});
  const auto empty =
      run("graph g(x: f32[n, 2], t: i64[n]) { return cross_entropy(x, t) }", {&none, &no_target});
  CHECK(std::isnan(empty[0].reals()[0]));
}

TEST_CASE("library functions: sums of half-typed losses do not overflow in the mean") {
  Tensor x(DType::f16, {4000, 2}), target(DType::i64, {4000});
  for (int64_t i = 0; i < 4000; ++i) {
    x.set(2 * i, 60);
    x.set(2 * i + 1, 0);
    target.set_integer(i, 1);
  }
  const std::string mean = "graph g(x: f16[n, 2], t: i64[n]) { return cross_entropy(x, t) }";
  const auto results = run(mean, {&x, &target});
  CHECK(results[0].dtype == DType::f16);
  CHECK(results[0].reals()[0] == 60);
  // 240000 is beyond f16: a plan may store sums only as the f32 that the graph says.
  const Graph graph = llvm::cantFail(parse_graph(mean, "spec"));
  for (const Op& op : graph.ops())
    if (op.kind == OpKind::sum) CHECK(graph.type(op.results[0]).dtype == DType::f32);
}

TEST_CASE("library functions: hyperbolic functions at the ends of f16 and f32") {
  const Tensor half = of(DType::f16, {11.5, -11.5, 12, kInf, -kInf, kNaN, 0x1p-24});
  const auto results = run("graph g(x: f16[7]) { return sinh(x), cosh(x) }", {&half});
  const auto sines = reals(results[0]);
  CHECK(sines[0] == doctest::Approx(std::sinh(11.5)).epsilon(0x1p-10));
  CHECK(sines[1] == -sines[0]);
  CHECK(sines[2] == kInf);
  CHECK(sines[4] == -kInf);
  CHECK(std::isnan(sines[5]));
  CHECK(sines[6] == doctest::Approx(0x1p-24).epsilon(1e-12));
  CHECK(reals(results[1])[4] == kInf);
}

TEST_CASE("library functions: max of one axis has the first NaN and its index") {
  const Tensor x = of(DType::f32, {1, kNaN, 7, kNaN});
  const auto results = run("graph g(x: f32[n]) {\n"
                           "  v, i = max(x, dim=-1)\n"
                           "  return v, i, max(x), max(x, 2.5) }",
                           {&x});
  CHECK(std::isnan(results[0].reals()[0]));
  CHECK(results[1].integers()[0] == 1);
  CHECK(std::isnan(results[2].reals()[0]));
  CHECK(same(results[3], {2.5, kNaN, 7, kNaN}));
}
