// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

using namespace ingot;
using namespace ingot::test;

TEST_CASE("dataflow: uses, params and hashes") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 8});
  ValueId b = g.param("b", {4, 8});
  ValueId b2 = g.op(OpKind::add, {b, g.number(2)});
  ValueId y = g.op(OpKind::mul, {x, b2});
  ValueId z = g.op(OpKind::mul, {y, y});
  Graph graph = g.with_outputs({z, y});

  auto uses = count_uses(graph);
  CHECK(uses[x.index] == 1);
  CHECK(uses[y.index] == 3);
  CHECK(uses[z.index] == 1);
  auto params_only = depends_only_on_params(graph);
  CHECK_FALSE(params_only[x.index]);
  CHECK(params_only[b.index]);
  CHECK(params_only[b2.index]);
  CHECK_FALSE(params_only[y.index]);
  auto hashes = hash_definitions(graph);
  CHECK(hashes[x.index] != hashes[b.index]);
  CHECK(hashes[y.index] != hashes[z.index]);
}

TEST_CASE("dataflow: hashes ignore names and the order of independent ops") {
  auto make = [](bool swapped) {
    GraphMaker g;
    ValueId x = g.input(swapped ? "u" : "x", {4});
    ValueId first = g.op(swapped ? OpKind::log : OpKind::exp, {x});
    ValueId second = g.op(swapped ? OpKind::exp : OpKind::log, {x});
    return g.with_outputs({swapped ? second : first, swapped ? first : second});
  };
  Graph a = make(false), b = make(true);
  auto hashes_a = hash_definitions(a), hashes_b = hash_definitions(b);
  for (size_t output : {0, 1}) {
    CHECK(hashes_a[a.outputs()[output].value.index] == hashes_b[b.outputs()[output].value.index]);
  }
}

TEST_CASE("remove_dead_code keeps inputs, names and locations") {
  GraphMaker g;
  ValueId x = g.input("x", {4});
  g.input("unused", {8});
  ValueId b = g.param("b", {4});
  g.op(OpKind::exp, {b});
  Graph source = g.with_outputs({});
  ValueId y = llvm::cantFail(source.add_value(OpKind::tanh, {x}, NoAttributes{}, {7, 3}));
  source.set_name(y, "squashed");
  llvm::cantFail(source.add_output("result", y));

  Graph graph = run(remove_dead_code, source);
  REQUIRE(graph.inputs().size() == 3);
  CHECK(graph.value(graph.inputs()[1]).name == "unused");
  CHECK(graph.attributes<InputAttributes>(graph.producer(graph.inputs()[2])).role ==
        InputAttributes::Role::param);
  CHECK(graph.ops().size() == 4);
  CHECK(count(graph, OpKind::exp) == 0);
  ValueId result = graph.outputs()[0].value;
  CHECK(graph.outputs()[0].name == "result");
  CHECK(graph.value(result).name == "squashed");
  CHECK(graph.producer(result).location.line == 7);
  CHECK(identical(graph, run(remove_dead_code, graph)));
}

TEST_CASE("merge_common_subexpressions merges equal ops and nothing else") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 8});
  ValueId a = g.op(OpKind::exp, {x});
  ValueId b = g.op(OpKind::exp, {x});
  ValueId sum_rows = g.reduce(OpKind::sum, a, {0});
  ValueId sum_columns = g.reduce(OpKind::sum, b, {1});
  ValueId again = g.reduce(OpKind::sum, b, {0});
  Graph graph = run(merge_common_subexpressions, g.with_outputs({sum_rows, sum_columns, again}));
  CHECK(count(graph, OpKind::exp) == 1);
  CHECK(count(graph, OpKind::sum) == 2);
  CHECK(graph.outputs()[0].value == graph.outputs()[2].value);
  CHECK(identical(graph, run(merge_common_subexpressions, graph)));
}

TEST_CASE("merge_common_subexpressions tells scans apart by each attribute") {
  GraphMaker g;
  const ValueId x = g.input("x", {8, 8});
  std::vector<ValueId> scans;
  for (const ScanAttributes& scan :
       {ScanAttributes{.axis = 0}, ScanAttributes{.axis = 1},
        ScanAttributes{.axis = 1, .exclusive = true}, ScanAttributes{.axis = 1, .reverse = true}}) {
    scans.push_back(g.op(OpKind::cumsum, {x}, scan));
    scans.push_back(g.op(OpKind::cumsum, {x}, scan));
    for (size_t other = 0; other + 2 < scans.size(); ++other)
      CHECK(!equivalent(g.with_outputs({scans[other]}), g.with_outputs({scans.back()})));
  }
  CHECK(count(run(merge_common_subexpressions, g.with_outputs(scans)), OpKind::cumsum) == 4);
}

TEST_CASE("merge_common_subexpressions merges both results of a pair reduction") {
  GraphMaker g;
  ValueId x = g.input("x", {4, 8});
  Graph source = g.with_outputs({});
  for (const char* name : {"a", "b"}) {
    OpId op = llvm::cantFail(source.add(OpKind::moments, {x}, ReduceAttributes{{1}}));
    ValueId var = source.op(op).results[1];
    llvm::cantFail(source.add_output(name, var));
  }
  Graph graph = run(merge_common_subexpressions, source);
  CHECK(count(graph, OpKind::moments) == 1);
  CHECK(graph.outputs()[0].value == graph.outputs()[1].value);
  CHECK(graph.value(graph.outputs()[0].value).result == 1);
}

TEST_CASE("run_passes reports each change, in the table's order, and stops") {
  GraphMaker g;
  ValueId x = g.input("x", {4});
  ValueId y = g.op(OpKind::neg, {g.op(OpKind::neg, {x})});
  g.op(OpKind::exp, {x});
  Graph source = g.with_outputs({y});
  std::vector<std::string> names;
  Graph graph = llvm::cantFail(run_passes(source, {}, [&](const PassReport& report) {
    names.push_back(report.pass.name.str());
    CHECK_FALSE(identical(report.before, report.after));
  }));
  REQUIRE(names.size() >= 2);
  CHECK(names.front() == "remove_dead_code");
  CHECK(graph.ops().size() == 1);
  CHECK(graph.outputs()[0].value == graph.inputs()[0]);

  bool called = false;
  Graph again = llvm::cantFail(run_passes(graph, {}, [&](const PassReport&) { called = true; }));
  CHECK_FALSE(called);
  CHECK(identical(graph, again));
}

TEST_CASE("math modes are nested") {
  for (const Pass& pass : all_passes()) {
    CHECK(applies(pass, MathMode::strict) == (pass.pass_class == PassClass::exact));
    CHECK(applies(pass, MathMode::relaxed) == (pass.pass_class != PassClass::finite_only));
    CHECK(applies(pass, MathMode::finite));
  }
}
