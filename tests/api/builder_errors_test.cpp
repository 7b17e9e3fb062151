// SPDX-License-Identifier: Apache-2.0
// The graph builder's errors: one row a message, its code and exact text.
#include "ingot/ingot.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Row {
  const char* name; ///< of the graph
  void (*build)(GraphBuilder&);
  StatusCode code;
  const char* text;
};

Var input(GraphBuilder& g, Extents extents = {4}) {
  return g.input("x", ElementType::f32, extents);
}

const Row kRows[] = {
    {"two words", [](GraphBuilder&) {}, StatusCode::invalid_argument,
     "graph 'two words': expected a name of letters, digits and _ that is no word of the language"},
    {"return", [](GraphBuilder&) {}, StatusCode::invalid_argument,
     "graph 'return': expected a name of letters, digits and _ that is no word of the language"},
    {"g", [](GraphBuilder& g) { input(g, {4, 0}); }, StatusCode::invalid_argument,
     "tensor 'x': expected extents of at least 1, names, or their products and "
     "sums such as '2*m + 1', got "
     "'0'"},
    {"g", [](GraphBuilder& g) { input(g, {-3}); }, StatusCode::invalid_argument,
     "tensor 'x': expected extents of at least 1, names, or their products and "
     "sums such as '2*m + 1', got "
     "'-3'"},
    {"g", [](GraphBuilder& g) { input(g, {"a b"}); }, StatusCode::invalid_argument,
     "tensor 'x': expected extents of at least 1, names, or their products and "
     "sums such as '2*m + 1', got "
     "'a b'"},
    {"g", [](GraphBuilder& g) { input(g, {""}); }, StatusCode::invalid_argument,
     "tensor 'x': expected extents of at least 1, names, or their products and "
     "sums such as '2*m + 1', got ''"},
    {"g", [](GraphBuilder& g) { input(g, {"2**m"}); }, StatusCode::invalid_argument,
     "tensor 'x': expected extents of at least 1, names, or their products and "
     "sums such as '2*m + 1', got "
     "'2**m'"},
    {"g", [](GraphBuilder& g) { reshape(input(g), {"0*m"}); }, StatusCode::invalid_argument,
     "reshape: expected an extent such as 4, m or 2*m + 1, got '0*m'"},
    {"g", [](GraphBuilder& g) { g.input("x", static_cast<ElementType>(77), {4}); },
     StatusCode::invalid_argument,
     "77 is no ElementType; expected f32, f16, bf16, i32, i64 or boolean"},
    {"g", [](GraphBuilder& g) { g.constant(static_cast<ElementType>(77), 1); },
     StatusCode::invalid_argument,
     "77 is no ElementType; expected f32, f16, bf16, i32, i64 or boolean"},
    {"g", [](GraphBuilder& g) { cast(input(g), static_cast<ElementType>(77)); },
     StatusCode::invalid_argument,
     "cast: 77 is no ElementType; expected f32, f16, bf16, i32, i64 or boolean"},
    {"g", [](GraphBuilder& g) { g.call("relu", {Var()}); }, StatusCode::invalid_argument,
     "relu: an operand belongs to no or another graph"},
    {"g",
     [](GraphBuilder& g) {
       GraphBuilder other("other");
       g.call("add", {input(g), input(other)});
     },
     StatusCode::invalid_argument, "add: an operand belongs to no or another graph"},
    // The first of several mistakes.
    {"g", [](GraphBuilder& g) { g.call("reshape", {Var(), Extent("a b")}); },
     StatusCode::invalid_argument, "reshape: an operand belongs to no or another graph"},
    {"g", [](GraphBuilder& g) { g.output("y", Var()); }, StatusCode::invalid_argument,
     "output 'y': the value belongs to no or another graph"},
    {"g", [](GraphBuilder& g) { g.output("y", relu(ingot::exp(Var()))); },
     StatusCode::invalid_argument,
     "output 'y': the value belongs to no graph: it was made by 'exp' of a value that no builder "
     "gave"},
    {"g", [](GraphBuilder& g) { g.output("y", input(g) + moments(Var())[1]); },
     StatusCode::invalid_argument,
     "add: an operand belongs to no graph: it was made by 'moments' of a value that no builder "
     "gave"},
    {"g", [](GraphBuilder& g) { g.output("y", moments(g.call("mush", {input(g)}))[1]); },
     StatusCode::invalid_argument, "unknown operator 'mush'; did you mean 'mish'?"},
    {"g", [](GraphBuilder& g) { input(g); }, StatusCode::invalid_argument,
     "graph 'g' has no output: declare one with output()"},
    {"g", [](GraphBuilder& g) { g.output("y", g.call("mush", {input(g)})); },
     StatusCode::invalid_argument, "unknown operator 'mush'; did you mean 'mish'?"},
    {"g", [](GraphBuilder& g) { g.output("y", g.call("relu", {input(g)}, {{"slope", 2.0}})); },
     StatusCode::invalid_argument, "relu: no argument is named 'slope'; expected relu(x)"},
    {"g", [](GraphBuilder& g) { g.output("y", input(g) * 1e39); }, StatusCode::type_error,
     "mul: argument 'b' is 1e+39, beyond f32, in which kernels hold literals: expected "
     "-3.4028235e+38 to 3.4028235e+38, or inf"},
    {"g", [](GraphBuilder& g) { g.output("y", input(g) + g.constant(ElementType::f32, -1e300)); },
     StatusCode::type_error,
     "constant: -1e+300 is beyond f32, in which kernels hold literals: expected -3.4028235e+38 to "
     "3.4028235e+38, or inf"},
    {"g", [](GraphBuilder& g) { g.output("y", g.index(input(g, {4, 30}), {0, -31})); },
     StatusCode::type_error, "index -31 on axis 1 of f32[4, 30], expected -30 to 29"},
    {"g", [](GraphBuilder& g) { g.output("y", g.index(input(g), {Arg::List{0, 1, 1, 1}})); },
     StatusCode::invalid_argument,
     "index: expected a range of start, stop and step, got a list of 4"},
    {"g", [](GraphBuilder& g) { g.output("y", g.index(Var(), {0})); }, StatusCode::invalid_argument,
     "index: an operand belongs to no or another graph"},
    {"g", [](GraphBuilder& g) { g.output("y", group_norm(input(g, {4, 30}), 7)); },
     StatusCode::invalid_argument, "group_norm: 30 channels do not divide into 7 groups"},
};

} // namespace

TEST_CASE("api: the builder's errors use the words of the operator") {
  for (const Row& row : kRows) {
    GraphBuilder graph(row.name);
    row.build(graph);
    const auto spec = graph.finish();
    REQUIRE_FALSE_MESSAGE(spec.ok(), row.text);
    CHECK(spec.status().code() == row.code);
    CHECK(spec.status().message() == row.text);
  }
}
