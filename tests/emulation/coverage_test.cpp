// SPDX-License-Identifier: Apache-2.0
// Every op of ops.def that has a value, on every type that it takes, in every position of a kernel.
// Made from the table: a new op is covered as soon as it has a row.
#include "ir/text/parser.h"
#include "tests/emulation/cases.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16,
                            DType::i32, DType::i64, DType::boolean};

/// Where the value under test comes from. `reach` makes h, of type F and the shape [rows, columns];
/// empty: h is an input.
struct Position {
  const char* name;
  int rows, columns;
  const char* inputs;
  const char* reach;
  /// Whether a kernel that holds an op of the table has it in this position.
  bool (*is_there)(const Group& group, OpId op);
};

const Position kAlone = {"in a kernel without matmul", 9, 70, "", "", [](const Group& group, OpId) {
                           return group.matmuls.empty();
                         }};
const Position kBehindMatmul = {"behind a matmul",
                                33,
                                40,
                                "x: F[33, 24], param w: F[40, 24]",
                                "h = matmul(x, w, transpose_b=true)",
                                [](const Group& group, OpId op) {
                                  return !group.matmuls.empty() && group.matmuls.front().op < op;
                                }};
const Position kAfterRow = {"after a reduction in its kernel",
                            9,
                            70,
                            "x: F[9, 70]",
                            "h = x - mean(x, axis=1, keepdim=true)",
                            [](const Group& group, OpId op) {
                              return llvm::any_of(group.reductions,
                                                  [&](const Reduction& r) { return r.op < op; });
                            }};
const Position kAfterSegment = {"after a reduction of segments behind a matmul",
                                33,
                                48,
                                "x: F[33, 24], param w: F[48, 24]",
                                "p = reshape(matmul(x, w, transpose_b=true), shape=[33, 3, 16])\n"
                                "  h = reshape(p - mean(p, axis=2, keepdim=true), shape=[33, 48])",
                                [](const Group& group, OpId op) {
                                  return !group.matmuls.empty() &&
                                         llvm::any_of(group.reductions, [&](const Reduction& r) {
                                           return r.op < op && r.span == ReduceSpan::segment;
                                         });
                                }};
const Position kAfterGlobal = {
    "after a reduction that crosses tiles",
    9,
    300,
    "x: F[9, 24], param w: F[300, 24]",
    "p = matmul(x, w, transpose_b=true)\n  h = p - mean(p, axis=1, keepdim=true)",
    [](const Group& group, OpId) {
      return llvm::any_of(group.reads, [](const Read& read) { return read.combine; });
    }};
const Position kPrologue = {
    "before an operand of a matmul", 33, 24, "", "", [](const Group& group, OpId op) {
      return !group.matmuls.empty() && op < group.matmuls.front().op;
    }};

/// One use of an op, as text: statements, and their values.
struct Use {
  const OpInfo* op;
  DType dtype;
  std::string statements;
  std::vector<std::string> values;
};

std::string text_of(DType dtype) { return spelling(dtype).str(); }

/// The ways to use an op on `v` of the position's shape.
std::vector<Use> uses_of(const OpInfo& op, DType dtype, const Position& at, size_t number) {
  const std::string name = op.name.str();
  const auto one = [&](const std::string& value) { return Use{&op, dtype, "", {value}}; };
  const int rows = at.rows, columns = at.columns;
  std::vector<Use> uses;
  switch (op.op_class) {
  case OpClass::source:
  case OpClass::matmul: return {}; // no operand of their own; the positions themselves
  case OpClass::elementwise:
    if (op.rule == TypeRule::convert)
      for (DType to : kTypes) uses.push_back(one(fmt::format("cast(v, {})", text_of(to))));
    else if (op.rule == TypeRule::choose)
      uses = {one(name + "(condition, v, other)"), one(name + "(condition, other, v)")};
    else if (op.arity == 1)
      uses = {one(name + "(v)")};
    else {
      // Without a mode the quotient of integers is one of floats.
      const bool is_mode = op.kind == OpKind::div && is_integer(dtype);
      const std::string mode = is_mode ? ", rounding_mode=\"trunc\")" : ")";
      uses = {one(name + "(v, other" + mode), one(name + "(other, v" + mode)};
    }
    return uses;
  case OpClass::reduce: {
    for (int axis : {0, 1}) {
      const std::string call = fmt::format("{}(v, axis={})", name, axis);
      if (op.results == 1) {
        uses.push_back(one(call));
        continue;
      }
      const std::string a = fmt::format("a{}_{}", number, axis), b = "b" + a;
      uses.push_back({&op, dtype, fmt::format("  {}, {} = {}\n", a, b, call), {a, b}});
    }
    return uses;
  }
  case OpClass::scan: return {one(name + "(v, axis=1)"), one(name + "(v, axis=0, reverse=true)")};
  case OpClass::gather:
    return {one(name + "(v, places, axis=1)"),
            one(name + "(other, cast(cast(v, i32) * 3, i64), axis=0)")};
  case OpClass::movement: break;
  }
  switch (op.rule) {
  case TypeRule::reshape: return {one(fmt::format("reshape(v, shape=[{}, {}])", columns, rows))};
  case TypeRule::transpose: return {one("transpose(v, permutation=[1, 0])")};
  case TypeRule::broadcast:
    return {one(fmt::format("broadcast(v, shape=[2, {}, {}])", rows, columns))};
  case TypeRule::slice:
    return {
        one(fmt::format("slice(v, starts=[2, 1], stops=[{}, {}], steps=[1, 3])", rows, columns))};
  case TypeRule::concat:
    return {one("concat([v, other], axis=1)"), one("concat([other, v], axis=0)")};
  case TypeRule::window: // in front lies one column that v has not
    return {one(fmt::format("where(iota(i32, [{0}, {1}], axis=1) < 1, other,\n"
                            "    window(v, axis=1, start=-1, extent={1}))",
                            rows, columns))};
  default: break;
  }
  FAIL("no use of ", name, " is known here");
  return {};
}

/// v of `dtype` out of h of the kernel's floating type.
std::string conversion(DType dtype) {
  if (dtype == DType::boolean) return "  v = h > 0.0\n";
  return fmt::format("  v = cast(h * 50.0, {})\n", text_of(dtype));
}

std::string spec_of(llvm::ArrayRef<Use> uses, const Position& at) {
  const DType dtype = uses.front().dtype;
  const std::string type = text_of(dtype), floating = is_float(dtype) ? type : "f32";
  const bool is_input = at.reach[0] == 0, is_prologue = &at == &kPrologue;
  std::string body = is_input ? "" : fmt::format("  {}\n", at.reach);
  if (!is_input && !is_float(dtype)) body += conversion(dtype);
  std::vector<std::string> values;
  for (const Use& use : uses) {
    body += use.statements;
    for (const std::string& value : use.values)
      values.push_back(
          is_prologue ? fmt::format("matmul(cast({}, {}), w, transpose_b=true)", value, floating)
                      : value);
  }
  body += fmt::format("  return {}", fmt::join(values, ", "));
  std::string inputs = at.inputs;
  const auto add = [&](const std::string& input) {
    inputs += (inputs.empty() ? "" : ", ") + input;
  };
  const std::string shape = fmt::format("[{}, {}]", at.rows, at.columns);
  if (is_input) add("v: " + type + shape);
  if (is_prologue) add(fmt::format("param w: {}[20, {}]", floating, at.columns));
  if (body.find("other") != std::string::npos) add("other: " + type + shape);
  if (body.find("condition") != std::string::npos) add("condition: bool" + shape);
  if (body.find("places") != std::string::npos) add(fmt::format("places: i64[{}, 7]", at.rows));
  std::string spec = fmt::format("graph g({}) {{\n{} }}", inputs, body);
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t i = 0; (i = spec.find(from, i)) != std::string::npos; i += to.size())
      spec.replace(i, from.size(), to);
  };
  replace("F[", floating + "[");
  if (!is_input && is_float(dtype)) {
    replace("  h =", "  v =");
  }
  return spec;
}

bool is_legal(const Use& use, const Position& at) {
  auto graph = parse_graph(spec_of(use, at), "use");
  if (!graph) llvm::consumeError(graph.takeError());
  return bool(graph);
}

/// Counts of one position: uses, and where the ops were planned.
struct Coverage {
  std::map<std::string, std::set<DType>> types; ///< by op
  int uses = 0, fused = 0, elsewhere = 0;
};

/// Where the planner put the ops under test.
void count_places(const Case& one, llvm::ArrayRef<Use> uses, const Position& at,
                  Coverage& coverage) {
  auto compilation =
      llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(one.spec, "use")), {}));
  std::set<OpKind> kinds;
  for (const Use& use : uses) kinds.insert(use.op->kind);
  for (const Group& group : compilation.plan.groups)
    for (OpId op : group.ops)
      if (kinds.count(compilation.rewritten.op(op).kind))
        ++(at.is_there(group, op) ? coverage.fused : coverage.elsewhere);
}

/// Checks all ops of `classes` at `at`, `together` uses of one type a graph.
void check_position(const Position& at, std::initializer_list<OpClass> classes, size_t together) {
  constexpr size_t kBatch = 30; // graphs compiled together
  Coverage coverage;
  std::vector<Case> cases;
  const auto check = [&] {
    CHECK_MESSAGE(check_cases(cases) == "", std::string(at.name));
    cases.clear();
  };
  for (DType dtype : kTypes) {
    std::vector<Use> uses;
    const auto finish = [&] {
      if (uses.empty()) return;
      cases.push_back({spec_of(uses, at), {{}}, Case().precision, Case::Depth::results});
      count_places(cases.back(), uses, at, coverage);
      uses.clear();
      if (cases.size() == kBatch) check();
    };
    for (const OpInfo& op : all_ops()) {
      if (!llvm::is_contained(classes, op.op_class)) continue;
      for (Use& use : uses_of(op, dtype, at, uses.size())) {
        if (!is_legal(use, at)) continue;
        coverage.types[op.name.str()].insert(dtype);
        ++coverage.uses;
        uses.push_back(std::move(use));
        if (uses.size() == together) finish();
      }
    }
    finish();
  }
  if (!cases.empty()) check();
  size_t pairs = 0;
  for (const auto& [name, types] : coverage.types) pairs += types.size();
  MESSAGE(std::string(at.name) << ": " << coverage.types.size() << " ops, " << pairs
                               << " with their types, " << coverage.uses << " uses; "
                               << coverage.fused << " there, " << coverage.elsewhere
                               << " in a kernel of another kind");
  // An op that no type suits is one that is written wrongly here.
  for (const OpInfo& op : all_ops())
    if (llvm::is_contained(classes, op.op_class))
      CHECK_MESSAGE(coverage.types.count(op.name.str()) == 1, op.name.str());
}

constexpr auto kElementwise = {OpClass::elementwise};
constexpr auto kOthers = {OpClass::reduce, OpClass::scan, OpClass::gather, OpClass::movement};

} // namespace

TEST_CASE("emulation: elementwise ops in a kernel without matmul") {
  check_position(kAlone, kElementwise, 8);
}
TEST_CASE("emulation: other ops in a kernel without matmul") { check_position(kAlone, kOthers, 6); }
TEST_CASE("emulation: elementwise ops behind a matmul") {
  check_position(kBehindMatmul, kElementwise, 8);
}
TEST_CASE("emulation: other ops behind a matmul") { check_position(kBehindMatmul, kOthers, 6); }
TEST_CASE("emulation: elementwise ops after a reduction in their kernel") {
  check_position(kAfterRow, kElementwise, 8);
}
TEST_CASE("emulation: other ops after a reduction in their kernel") {
  check_position(kAfterRow, kOthers, 6);
}
TEST_CASE("emulation: elementwise ops after a reduction of segments") {
  check_position(kAfterSegment, kElementwise, 8);
}
TEST_CASE("emulation: other ops after a reduction of segments") {
  check_position(kAfterSegment, kOthers, 6);
}
TEST_CASE("emulation: elementwise ops after a reduction that crosses tiles") {
  check_position(kAfterGlobal, kElementwise, 8);
}
TEST_CASE("emulation: other ops after a reduction that crosses tiles") {
  check_position(kAfterGlobal, kOthers, 6);
}
TEST_CASE("emulation: elementwise ops before an operand of a matmul") {
  check_position(kPrologue, kElementwise, 4);
}
