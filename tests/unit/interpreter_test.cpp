// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: values of each class of ops on small graphs, dimension binding, and
// comparison with planted errors.
#include "ir/interpreter/compare.h"
#include "ir/interpreter/gemm.h"
#include "ir/random.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ingot;

namespace {

/// Builds a graph by hand; every step must succeed.
struct Builder {
  Graph graph{"test"};
  ValueId input(llvm::StringRef name, DType dtype, Shape shape) {
    return llvm::cantFail(
        graph.add_input(name, {dtype, std::move(shape)}, InputAttributes::Role::input));
  }
  ValueId op(OpKind kind, llvm::ArrayRef<ValueId> operands,
             Attributes attributes = NoAttributes{}) {
    return llvm::cantFail(graph.add_value(kind, operands, std::move(attributes)));
  }
  void output(llvm::StringRef name, ValueId value) {
    llvm::cantFail(graph.add_output(name, value));
  }
};

Tensor tensor(DType dtype, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<double> values) {
  Tensor result(dtype, extents);
  for (size_t i = 0; i < values.size(); ++i) result.set(static_cast<int64_t>(i), values[i]);
  return result;
}

std::vector<Evaluated> run(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs) {
  EvaluateOptions options;
  options.precisions.assign(all_matmul_precisions().begin(), all_matmul_precisions().end());
  return llvm::cantFail(evaluate(graph, inputs, options));
}

std::string failure(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs) {
  auto result = evaluate(graph, inputs);
  if (result) return "no error";
  return take_error(result.takeError()).second;
}

std::vector<double> values(const Evaluated& result) {
  return {result.reals().begin(), result.reals().end()};
}

TEST_CASE("a number of elements is exact, and is not rounded to f16 before its use") {
  const Graph graph = llvm::cantFail(parse_graph(
      "graph g(x: f16[m]) { return y=cast(var(x), f32), n=extent(f16, [m, 5000]) }", "test"));
  const Tensor x = tensor(DType::f16, {4}, {1, 2, 3, 5});
  const auto results = run(graph, {&x});
  CHECK(std::abs(results[0].reals()[0] - 2.1875 * 4 / 3) < 0x1p-22);
  CHECK(results[1].reals()[0] == 20000);
}

TEST_CASE("matmul in every layout gives the same product") {
  Tensor a = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor at = tensor(DType::f32, {3, 2}, {1, 4, 2, 5, 3, 6});
  Tensor b = tensor(DType::f32, {3, 2}, {1, 0, -1, 2, 0.5, 4});
  Tensor bt = tensor(DType::f32, {2, 3}, {1, -1, 0.5, 0, 2, 4});
  for (int layout = 0; layout < 4; ++layout) {
    bool ta = layout & 1, tb = layout & 2;
    Builder builder;
    ValueId x = builder.input("a", DType::f32, ta ? Shape{3, 2} : Shape{2, 3});
    ValueId y = builder.input("b", DType::f32, tb ? Shape{2, 3} : Shape{3, 2});
    builder.output("c", builder.op(OpKind::matmul, {x, y}, MatmulAttributes{ta, tb}));
    auto results = run(builder.graph, {ta ? &at : &a, tb ? &bt : &b});
    CHECK(values(results[0]) == std::vector<double>{0.5, 16, 2, 34});
  }
}

TEST_CASE("large matmuls agree with a plain loop in every tile position") {
  const int64_t m = 101, n = 403, k = 530;
  Tensor a(DType::f32, {m, k}), b(DType::f32, {k, n});
  fill_random(a, {Distribution::Kind::normal, 0, 1}, 1);
  fill_random(b, {Distribution::Kind::normal, 0, 1}, 2);
  Builder builder;
  ValueId x = builder.input("a", DType::f32, {m, k});
  ValueId y = builder.input("b", DType::f32, {k, n});
  builder.output("c", builder.op(OpKind::matmul, {x, y}, MatmulAttributes{}));
  auto results = run(builder.graph, {&a, &b});
  double worst = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a.real(i * k + p) * b.real(p * n + j);
      worst = std::fmax(worst, std::fabs(sum - results[0].reals()[static_cast<size_t>(i * n + j)]));
    }
  CHECK(worst < 1e-11);
}

TEST_CASE("named dims are bound from extents, and a disagreement names both tensors") {
  Builder builder;
  Dim m = Dim::named("m");
  ValueId x = builder.input("x", DType::f32, {m, 2});
  ValueId y = builder.input("y", DType::f32, {m, 2});
  builder.output("z", builder.op(OpKind::add, {x, y}));
  Tensor three = tensor(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor two = tensor(DType::f32, {2, 2}, {1, 2, 3, 4});
  CHECK(values(run(builder.graph, {&three, &three})[0])[5] == 12);
  CHECK(failure(builder.graph, {&three, &two}) ==
        "input y: expected f32[m, 2], got f32[2, 2]: axis 0 is 2, expected m; m is 3 in input x");
  CHECK(failure(builder.graph, {&three}) == "graph test has 2 inputs, got 1 tensors");
  Tensor wrong(DType::i32, {3, 2});
  CHECK(failure(builder.graph, {&three, &wrong}) == "input y: expected f32[m, 2], got i32[3, 2]");
}

TEST_CASE("sizes for which a part lies outside of its tensor are refused") {
  Builder builder;
  const Dim n = Dim::named("n");
  const ValueId x = builder.input("x", DType::f32, {n});
  builder.output("head", builder.op(OpKind::window, {x}, WindowAttributes{0, 0, 3, true}));
  builder.output("rest", builder.op(OpKind::window, {x}, WindowAttributes{0, 1, n - 1, true}));
  const Tensor four = tensor(DType::f32, {4}, {1, 2, 3, 4});
  const auto results = run(builder.graph, {&four});
  CHECK(values(results[0]) == std::vector<double>{1, 2, 3});
  CHECK(values(results[1]) == std::vector<double>{2, 3, 4});
  const Tensor two = tensor(DType::f32, {2}, {1, 2});
  CHECK(failure(builder.graph, {&two}) == "graph test: a part of 'x', axis 0, ends behind it: n - "
                                          "3 is -1, expected at least 0; n is 2");
}

TEST_CASE("a size that must be at least 0 is named with its tensor") {
  Builder builder;
  const Dim n = Dim::named("n"), m = Dim::named("m");
  const ValueId x = builder.input("x", DType::f32, {n}), y = builder.input("y", DType::f32, {m});
  builder.input("z", DType::f32, {2, n - m});
  const auto part = [&](const Dim& start, const Dim& extent) {
    return builder.op(OpKind::window, {x}, WindowAttributes{0, start, extent, true});
  };
  builder.output("tail", part(n - 3, 3));
  builder.output("middle", part(m - 2, 1));
  builder.output("row", builder.op(OpKind::broadcast, {part(0, 1)}, ShapeAttributes{{2 * m - 3}}));
  builder.output("v", y);
  const auto refusal = [&](int64_t n, int64_t m) {
    auto error = check_requirements(builder.graph, {{"n", n}, {"m", m}});
    return error ? take_error(std::move(error)).second : "";
  };
  CHECK(refusal(5, 3) == "");
  CHECK(refusal(3, 5) == "graph test: input 'z', axis 1: n - m is -2, expected at least 0; "
                         "m is 5, n is 3");
  CHECK(refusal(2, 2) == "graph test: a part of 'x', axis 0, starts before it: n - 3 is -1, "
                         "expected at least 0; n is 2");
  CHECK(refusal(9, 1) == "graph test: a part of 'x', axis 0, starts before it: m - 2 is -1, "
                         "expected at least 0; m is 1");
  CHECK(refusal(INT64_MAX, INT64_MAX) == "graph test: f32[2*m - 3], axis 0: 2*m - 3 overflows, "
                                         "expected at least 0; m is 9223372036854775807");
}

TEST_CASE("inputs whose extents are sums of names are checked at their edges") {
  Builder builder;
  const Dim n = Dim::named("n");
  builder.output("y", builder.input("x", DType::f32, {n - 1}));
  builder.output("z", builder.input("w", DType::f32, {n}));
  const Tensor none(DType::f32, {0}), one(DType::f32, {1}), two(DType::f32, {2});
  CHECK(values(run(builder.graph, {&none, &one})[1]).size() == 1);
  CHECK(
      failure(builder.graph, {&none, &none}) ==
      "input x: expected f32[n - 1], got f32[0]: axis 0 is 0, but n - 1 is -1; n is 0 in input w");
  CHECK(failure(builder.graph, {&two, &two}) ==
        "input x: expected f32[n - 1], got f32[2]: axis 0 is 2, expected 1 (n - 1); n is 2 in "
        "input w");
}

TEST_CASE("casts round, half intermediates do not, half outputs overflow") {
  Builder builder;
  ValueId x = builder.input("x", DType::f16, {2});
  ValueId doubled = builder.op(OpKind::mul, {x, x});
  ValueId wide = builder.op(OpKind::cast, {doubled}, CastAttributes{DType::f32});
  ValueId brain = builder.op(OpKind::cast, {doubled}, CastAttributes{DType::bf16});
  builder.output("half", doubled);
  builder.output("wide", wide);
  builder.output("brain", builder.op(OpKind::cast, {brain}, CastAttributes{DType::f32}));
  double third = 1365.0 / 4096; // 1/3 in f16
  Tensor in = tensor(DType::f16, {2}, {third, 300});
  auto results = run(builder.graph, {&in});
  CHECK(results[1].reals()[0] == third * third);
  CHECK(results[1].reals()[1] == 90000);
  CHECK(results[2].reals()[0] == 0.11083984375);
  CHECK(std::isinf(results[0].reals()[1]));
  CHECK(results[0].bounds(0)[0] >= 0x1p-16f); // half an ulp of f16 at 0.11 is 2^-15
  CHECK(results[0].bounds(0)[0] <= 0x1p-14f);
}

TEST_CASE("comparison rejects planted errors and accepts the rounded reference") {
  Builder builder;
  ValueId x = builder.input("x", DType::f32, {64, 200});
  ValueId w = builder.input("w", DType::f32, {96, 200});
  ValueId h = builder.op(OpKind::matmul, {x, w}, MatmulAttributes{false, true});
  builder.output("y", builder.op(OpKind::tanh, {h}));
  Tensor a(DType::f32, {64, 200}), b(DType::f32, {96, 200});
  fill_random(a, {Distribution::Kind::uniform, 0, 1}, 1);
  fill_random(b, {Distribution::Kind::uniform, -0.07, 0.07}, 2);
  auto results = run(builder.graph, {&a, &b});
  Tensor right = results[0].to_tensor();
  for (size_t p = 0; p < 4; ++p) {
    Comparison same = compare(results[0], right, p);
    CHECK(same.pass);
    CHECK(same.max_bound_ratio < 1);
    for (const PlantedError& planted : plant_errors(results[0], right, p)) {
      INFO(planted.name << " under precision " << p);
      CHECK(planted.applies);
      CHECK(planted.rejected);
    }
  }
  Comparison typed = compare(results[0], a, 0);
  CHECK(!typed.pass);
  CHECK(typed.problem == "expected f32[64, 96], got f32[64, 200]");
}

} // namespace

TEST_CASE("where a half may overflow, infinity is no planted error") {
  Builder b;
  const ValueId x = b.input("x", DType::f16, {4});
  const ValueId e = b.op(OpKind::exp, {b.op(OpKind::cast, {x}, CastAttributes{DType::f32})});
  b.output("y", b.op(OpKind::cast, {e}, CastAttributes{DType::f16}));
  const Tensor in = tensor(DType::f16, {4}, {1, 11.0859375, 2, 3}); // exp(x) is 65242
  auto results = run(b.graph, {&in});
  Tensor right = results[0].to_tensor();
  REQUIRE(std::isfinite(right.real(1)));
  for (const PlantedError& planted : plant_errors(results[0], right, 0)) {
    INFO(planted.name);
    CHECK((!planted.applies || planted.rejected));
  }
}

TEST_CASE("scans start from either end, and leave an element out where they are exclusive") {
  auto scan = [](OpKind kind, bool exclusive, bool reverse, llvm::ArrayRef<double> row) {
    Builder b;
    const auto length = static_cast<int64_t>(row.size());
    const ValueId x = b.input("x", DType::f32, {length});
    b.output("y", b.op(kind, {x},
                       ScanAttributes{.axis = 0, .exclusive = exclusive, .reverse = reverse}));
    const Tensor in = tensor(DType::f32, {length}, row);
    const std::vector<Evaluated> results = run(b.graph, {&in});
    return values(results[0]);
  };
  using Row = std::vector<double>;
  CHECK(scan(OpKind::cumsum, false, false, {1, 2, 4}) == Row{1, 3, 7});
  CHECK(scan(OpKind::cumsum, true, false, {1, 2, 4}) == Row{0, 1, 3});
  CHECK(scan(OpKind::cumsum, false, true, {1, 2, 4}) == Row{7, 6, 4});
  CHECK(scan(OpKind::cumsum, true, true, {1, 2, 4}) == Row{6, 4, 0});
  CHECK(scan(OpKind::cumprod, false, false, {2, 3, 5}) == Row{2, 6, 30});
  CHECK(scan(OpKind::cumprod, true, false, {2, 3, 5}) == Row{1, 2, 6});
  CHECK(scan(OpKind::cumprod, false, true, {2, 3, 5}) == Row{30, 15, 5});
  CHECK(scan(OpKind::cumprod, true, true, {2, 3, 5}) == Row{15, 5, 1});
  // An infinity shows behind it alone, and exclusively not at its own place.
  const double inf = HUGE_VAL;
  CHECK(scan(OpKind::cumsum, true, false, {1, inf, 2}) == Row{0, 1, inf});
  CHECK(scan(OpKind::cumsum, true, true, {1, inf, 2}) == Row{inf, 2, 0});
}

TEST_CASE("scans of integers wrap around") {
  for (bool reverse : {false, true}) {
    Builder b;
    const ValueId x = b.input("x", DType::i32, {2});
    b.output("y", b.op(OpKind::cumsum, {x}, ScanAttributes{.axis = 0, .reverse = reverse}));
    Tensor in(DType::i32, {2});
    for (int64_t i : {0, 1}) in.set_integer(i, INT32_MAX);
    auto results = run(b.graph, {&in});
    const Tensor sums = results[0].to_tensor();
    CHECK(sums.integer(reverse ? 1 : 0) == INT32_MAX);
    CHECK(sums.integer(reverse ? 0 : 1) == -2);
  }
}

TEST_CASE("a product over nothing is zero, whatever the memory held") {
  Workers workers(1);
  std::vector<double> c(6, 7);
  std::vector<float> peak(6, 7), block_peak(6, 7);
  auto load = [](const PanelRequest<double>&) {};
  run_gemm(Gemm<double>{2, 3, 0, load, load, c.data(), peak.data(), block_peak.data()}, workers);
  CHECK(c == std::vector<double>(6, 0));
  CHECK(peak == std::vector<float>(6, 0));
  CHECK(block_peak == std::vector<float>(6, 0));
}
