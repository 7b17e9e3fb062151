// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include "tests/support/equivalence.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ingot;

namespace {

constexpr auto kInput = InputAttributes::Role::input;
constexpr auto kParam = InputAttributes::Role::param;

ValueId input(Graph& graph, llvm::StringRef name, Shape shape) {
  return llvm::cantFail(graph.add_input(name, {DType::f32, std::move(shape)}, kInput));
}

ValueId op(Graph& graph, OpKind kind, llvm::ArrayRef<ValueId> operands,
           Attributes attributes = NoAttributes{}) {
  return llvm::cantFail(graph.add_value(kind, operands, std::move(attributes)));
}

std::string text(llvm::Error error) { return error ? take_error(std::move(error)).second : "ok"; }

std::string text(llvm::Expected<ValueId> value) {
  return value ? "ok" : take_error(value.takeError()).second;
}

} // namespace

TEST_CASE("dims multiply and divide") {
  Dim m = Dim::named("m"), n = Dim::named("n");
  CHECK((4 * n * m).text() == "4*m*n");
  CHECK(4 * n * m == m * 2 * n * 2);
  CHECK((m * m).text() == "m*m");
  CHECK((4 * m * n).divided_by(2 * n)->text() == "2*m");
  CHECK((4 * m).divided_by(4 * m)->is(1));
  CHECK(!(4 * m).divided_by(3));
  CHECK(!(4 * m).divided_by(n));
  CHECK(!m.divided_by(m * m));
  CHECK(!Dim(4).divided_by(0));
  CHECK(!checked_multiply(int64_t{1} << 62, 2 * m));
  CHECK(element_count({2, m, 3}).text() == "6*m");
  CHECK(element_count({}).is(1));
  CHECK(Type{DType::bf16, {2, m}}.text() == "bf16[2, m]");
  CHECK(Type{DType::boolean, {}}.text() == "bool[]");
}

TEST_CASE("dims add, and sums divide") {
  const Dim m = Dim::named("m"), n = Dim::named("n");
  CHECK((n + 2 * m - 1).text() == "2*m + n - 1");
  CHECK((Dim(3) - m).text() == "3 - m");
  CHECK((n - m).text() == "n - m"); // no extent begins with a sign
  CHECK((Dim(0) - m - 1).text() == "-m - 1");
  CHECK((m + n - m) == n);
  CHECK((m - m).is(0));
  CHECK(((m + n) * (m - n)).text() == "m*m - n*n");
  CHECK((m * m - n * n).divided_by(m + n) == m - n);
  CHECK((m * m + 2 * m * n + n * n).divided_by(m + n) == m + n);
  CHECK((64 * (m + n) * 3).divided_by(64) == 3 * m + 3 * n);
  CHECK(!(m * m + n).divided_by(m));
  CHECK(!(m + 1).divided_by(2));
  CHECK((4 * m + 6 * n).factor() == 2);
  CHECK((4 * m + 3).factor() == 1);
  CHECK((m * n + m).names() == std::vector<std::string>{"m", "n"});
  CHECK((m - n + 2).evaluate({{"m", 3}, {"n", 7}}) == -2);
  CHECK(!(m * m + n).evaluate({{"m", int64_t{1} << 40}, {"n", 7}}));
  CHECK((m * m * n + 1).evaluate({{"m", int64_t{1} << 40}, {"n", 0}}) == 1);
  CHECK(!checked_add(INT64_MAX, m + 1));
  CHECK((m - 1).may_be_negative());
  CHECK(!(m + 1).may_be_negative());
}

TEST_CASE("names of dtypes read back") {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64, DType::boolean})
    CHECK(parse_dtype(spelling(dtype)) == dtype);
  CHECK(!parse_dtype("f64"));
}

TEST_CASE("equal constants are shared, by bits") {
  Graph graph;
  auto constant = [&](DType dtype, double value) {
    return llvm::cantFail(graph.add_constant(dtype, value));
  };
  CHECK(constant(DType::f32, 0.5) == constant(DType::f32, 0.5));
  CHECK(constant(DType::f32, 0.5) != constant(DType::f16, 0.5));
  CHECK(constant(DType::f32, 0.0) != constant(DType::f32, -0.0));
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(constant(DType::f32, nan) == constant(DType::f32, -nan));
  CHECK(constant(DType::boolean, 1) == constant(DType::boolean, 7));
  CHECK(constant(DType::i32, 3) == constant(DType::i32, 3));
  CHECK(graph.ops().size() == 7);
}

TEST_CASE("a constant has a value of its type") {
  Graph graph;
  double nan = std::numeric_limits<double>::quiet_NaN();
  double inf = std::numeric_limits<double>::infinity();
  for (double value : {0x1p31, -0x1p31 - 1, 1e10, 1e30, nan, inf, -inf, 0.5})
    CHECK(text(graph.add_constant(DType::i32, value)) != "ok");
  for (double value : {0x1p63, -1e19, 1e19, nan, inf, 3.9})
    CHECK(text(graph.add_constant(DType::i64, value)) != "ok");
  CHECK(text(graph.add_constant(DType::i32, -0x1p31)) == "ok");
  CHECK(text(graph.add_constant(DType::i64, -0x1p63)) == "ok");
  CHECK(text(graph.add_constant(DType::i64, 1e19)) ==
        "constant: 1e+19 is no value of i64; write cast(x, f32) in place of the tensor");
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (double value : {nan, inf, -inf, 3.4028235e38, -3.4028235e38, 1e-300})
      CHECK(text(graph.add_constant(dtype, value)) == "ok");
    for (double value : {1e39, -3.5e38, 1e300})
      CHECK(text(graph.add_constant(dtype, value)) != "ok");
  }
  CHECK(text(graph.add_constant(DType::f32, 1e39)) ==
        "constant: 1e+39 is beyond f32, in which kernels hold literals: expected -3.4028235e+38 to "
        "3.4028235e+38, or inf");
}

TEST_CASE("names of inputs and outputs are checked") {
  Graph graph;
  ValueId x = input(graph, "x", {Dim::named("m"), 4});
  auto add = [&](llvm::StringRef name, Shape shape) {
    return text(graph.add_input(name, {DType::f32, std::move(shape)}, kParam));
  };
  CHECK(add("x", {4}) == "input name 'x' is already the name of an input or output; use another");
  CHECK(add("m", {4}) == "input name 'm' is the name of a dimension; use another");
  CHECK(add("layer.weight", {4}) ==
        "input name 'layer.weight' is not an identifier; expected a letter or _, then letters, "
        "digits and _, and no word of the language");
  CHECK(add("return", {4}).find("not an identifier") != std::string::npos);
  CHECK(add("y", {Dim::named("x")}) ==
        "input 'y': dimension 'x' has the name of an input or output; use another");
  CHECK(add("y", {Dim::named("0")}) == "input 'y': dimension name '0' is not an identifier");
  CHECK(add("y", {0}) == "input: f32[0] has an extent of 0, expected at least 1");
  CHECK(add("y", {4}) == "ok");
  CHECK(text(graph.add_output("x", x)) ==
        "output name 'x' is already the name of an input or output; use another");
  CHECK(text(graph.add_output("z", x)) == "ok");
  CHECK(text(graph.add_output("z", x)) ==
        "output name 'z' is already the name of an input or output; use another");
  CHECK(graph.inputs().size() == 2);
  CHECK(graph.dim_names() == std::vector<std::string>{"m"});
  CHECK(text(verify(graph)) == "ok");
}

TEST_CASE("named dims come from inputs") {
  Graph graph;
  ValueId x = input(graph, "x", {1});
  CHECK(text(graph.add_value(OpKind::broadcast, x, ShapeAttributes{{Dim::named("k")}})) ==
        "broadcast: f32[k] has the dimension 'k', which no input has; named dimensions get their "
        "sizes from inputs");
  Graph products;
  ValueId y = input(products, "y", {2 * Dim::named("m")});
  llvm::cantFail(products.add_output("z", y));
  CHECK(text(verify(products)) ==
        "dimension 'm' occurs only in products or sums: its size is unknown; give an input with "
        "'m' alone as an extent, as in n: f32[m]");
}

TEST_CASE("a graph without outputs does not verify") {
  Graph graph("empty");
  input(graph, "x", {4});
  CHECK(text(verify(graph)) == "graph empty has no outputs");
}

TEST_CASE("a failed op leaves the graph as it was") {
  Graph graph;
  ValueId x = input(graph, "x", {4});
  ValueId y = input(graph, "y", {5});
  CHECK(text(graph.add_value(OpKind::add, {x, y})) ==
        "add: operand shapes differ: f32[4] and f32[5]");
  CHECK(graph.ops().size() == 2);
  CHECK(graph.values().size() == 2);
}

TEST_CASE("a graph that is rewound has its earlier state, and can grow again") {
  Graph graph("g");
  const Dim n = Dim::named("n");
  ValueId x = input(graph, "x", {n});
  ValueId two = llvm::cantFail(graph.add_constant(DType::f32, 2));
  const Graph::Mark before = graph.mark();
  input(graph, "y", {Dim::named("k")});
  llvm::cantFail(graph.add_constant(DType::f32, 3));
  ValueId head = op(graph, OpKind::window, {x}, WindowAttributes{0, 0, 3, true});
  CHECK(text(graph.add_output("head", head)) == "ok");
  CHECK(graph.requirements().size() == 1);
  graph.rewind(before);

  CHECK(graph.ops().size() == before.ops);
  CHECK(graph.values().size() == before.values);
  CHECK(graph.inputs().size() == 1);
  CHECK(graph.outputs().empty());
  CHECK(graph.requirements().empty());
  CHECK(graph.dim_names() == std::vector<std::string>{"n"});
  // Equal constants are shared with the remaining ones, and with no removed one.
  CHECK(llvm::cantFail(graph.add_constant(DType::f32, 2)) == two);
  ValueId three = llvm::cantFail(graph.add_constant(DType::f32, 3));
  CHECK(graph.attributes<ConstantAttributes>(graph.producer(three)).real == 3);
  // The names are free again, those of dimensions for tensors too; those that are held are not.
  input(graph, "k", {n});
  input(graph, "head", {n});
  CHECK(text(graph.add_output("x", x)) ==
        "output name 'x' is already the name of an input or output; use another");
  CHECK(text(graph.add_output("y", x)) == "ok");
  CHECK(text(verify(graph)) == "ok");
}

TEST_CASE("equivalence looks at definitions, not at order, names or unused ops") {
  auto make = [](bool reversed, OpKind last, double factor) {
    Graph graph(reversed ? "a" : "b");
    ValueId x = input(graph, "x", {4});
    if (reversed) graph.set_name(op(graph, OpKind::tanh, x), "unused");
    ValueId first = op(graph, reversed ? OpKind::exp : OpKind::log, x);
    ValueId second = op(graph, reversed ? OpKind::log : OpKind::exp, x);
    ValueId logarithm = reversed ? second : first;
    ValueId exponential = reversed ? first : second;
    ValueId scaled =
        op(graph, OpKind::mul, {logarithm, llvm::cantFail(graph.add_constant(DType::f32, factor))});
    llvm::cantFail(graph.add_output("y", op(graph, last, {scaled, exponential})));
    return graph;
  };
  CHECK(equivalent(make(false, OpKind::sub, 2), make(true, OpKind::sub, 2)));
  CHECK(!equivalent(make(false, OpKind::sub, 2), make(true, OpKind::add, 2)));
  CHECK(!equivalent(make(false, OpKind::sub, 2), make(true, OpKind::sub, 3)));

  auto swapped = [](bool is_swapped) {
    Graph graph;
    ValueId x = input(graph, "x", {4}), y = input(graph, "y", {4});
    llvm::cantFail(graph.add_output("z", is_swapped ? op(graph, OpKind::sub, {y, x})
                                                    : op(graph, OpKind::sub, {x, y})));
    return graph;
  };
  CHECK(!equivalent(swapped(false), swapped(true)));
}

TEST_CASE("equivalence tells the results of one op apart") {
  auto make = [](size_t result) {
    Graph graph;
    ValueId x = input(graph, "x", {4});
    OpId moments = llvm::cantFail(graph.add(OpKind::moments, x, ReduceAttributes{{0}}));
    llvm::cantFail(graph.add_output("y", graph.op(moments).results[result]));
    return graph;
  };
  CHECK(equivalent(make(0), make(0)));
  CHECK(!equivalent(make(0), make(1)));
}

TEST_CASE("equivalence compares inputs by name, type, role and order") {
  auto make = [](llvm::StringRef name, Shape shape, InputAttributes::Role role) {
    Graph graph;
    ValueId x = llvm::cantFail(graph.add_input(name, {DType::f32, std::move(shape)}, role));
    llvm::cantFail(graph.add_output("y", x));
    return graph;
  };
  CHECK(equivalent(make("a", {4}, kInput), make("a", {4}, kInput)));
  CHECK(!equivalent(make("a", {4}, kInput), make("b", {4}, kInput)));
  CHECK(!equivalent(make("a", {4}, kInput), make("a", {5}, kInput)));
  CHECK(!equivalent(make("a", {4}, kInput), make("a", {4}, kParam)));
}
