// SPDX-License-Identifier: Apache-2.0
// Every elementwise op of ops.def, on each type it takes, over special values and all pairs of
// them: the device functors against the reference.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"
#include "src/support/error.h"
#include "tests/emulation/emulator.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16,
                            DType::i32, DType::i64, DType::boolean};

bool takes(TypeRule rule, DType dtype) {
  switch (rule) {
  case TypeRule::numeric:
  case TypeRule::compare: return dtype != DType::boolean;
  case TypeRule::floating:
  case TypeRule::classify: return is_float(dtype);
  case TypeRule::logical: return dtype == DType::boolean;
  default: return true; // equality, choose, convert
  }
}

std::vector<double> special_reals() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> values = {std::numeric_limits<double>::quiet_NaN()};
  for (double size : {0.0,
                      0x1p-149,
                      0x1p-130,
                      0x1p-126,
                      0x1p-24,
                      1e-3,
                      0.5,
                      1.0,
                      1.5,
                      2.0,
                      2.5,
                      3.0,
                      20.0,
                      88.5,
                      1e10,
                      0x1p31,
                      0x1p63,
                      65504.0,
                      0x1.fffffep127,
                      kInf})
    for (double value : {size, -size}) values.push_back(value);
  return values;
}

std::vector<int64_t> special_integers(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  std::vector<int64_t> values = {0, 1, 2, 3, 7, 65520, 0x1000001, 0x1800001};
  if (dtype == DType::i64) values.insert(values.end(), {1ll << 31, (1ll << 53) + 1, INT64_MAX});
  values.push_back(INT32_MAX);
  for (size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  values.push_back(dtype == DType::i64 ? INT64_MIN : INT32_MIN);
  return values;
}

/// a and b run over all pairs of special values, c over both truths.
std::vector<Tensor> make_inputs(DType dtype) {
  const std::vector<double> reals = special_reals();
  const std::vector<int64_t> integers = special_integers(dtype);
  const auto n = static_cast<int64_t>(is_float(dtype) ? reals.size() : integers.size());
  std::vector<Tensor> inputs;
  for (DType type : {dtype, dtype, DType::boolean}) inputs.emplace_back(type, 2 * n * n);
  auto set = [&](Tensor& tensor, int64_t i, int64_t which) {
    if (is_float(dtype))
      tensor.set(i, reals[which]);
    else
      tensor.set_integer(i, integers[which]);
  };
  for (int64_t i = 0; i < 2 * n * n; ++i) {
    set(inputs[0], i, i / n % n);
    set(inputs[1], i, i % n);
    inputs[2].set_integer(i, i / (n * n));
  }
  return inputs;
}

/// Divisions whose divisors are known to be at least 1/2, which have functors of their own.
void add_bounded_divisions(Graph& graph, DType dtype, ValueId a, ValueId b) {
  auto constant = [&](double value) { return llvm::cantFail(graph.add_constant(dtype, value)); };
  auto add = [&](OpKind kind, ValueId x, ValueId y) {
    return llvm::cantFail(graph.add_value(kind, {x, y}));
  };
  const ValueId divisor = add(OpKind::maximum, b, constant(0.75));
  const ValueId bounded = add(OpKind::minimum, divisor, constant(0x1p15));
  llvm::cantFail(graph.add_output("y_reciprocal_bounded", add(OpKind::div, constant(1), divisor)));
  const ValueId quotient = add(OpKind::div, a, bounded);
  llvm::cantFail(graph.add_output("y_div_bounded", quotient));
  // The sign of zero.
  llvm::cantFail(graph.add_output("y_inverse",
                                  llvm::cantFail(graph.add_value(OpKind::reciprocal, {quotient}))));
}

/// All ops that take `dtype`, one output each.
Graph make_graph(DType dtype, int64_t count) {
  Graph graph(spelling(dtype).str());
  constexpr auto kInput = InputAttributes::Role::input;
  const ValueId a = llvm::cantFail(graph.add_input("a", {dtype, {count}}, kInput));
  const ValueId b = llvm::cantFail(graph.add_input("b", {dtype, {count}}, kInput));
  const ValueId c = llvm::cantFail(graph.add_input("c", {DType::boolean, {count}}, kInput));
  auto add = [&](const OpInfo& op, const std::string& name, Attributes attributes) {
    const ValueId operands[] = {op.rule == TypeRule::choose ? c : a,
                                op.rule == TypeRule::choose ? a : b, b};
    auto value = llvm::cantFail(graph.add_value(
        op.kind, llvm::ArrayRef(operands).take_front(op.arity), std::move(attributes)));
    llvm::cantFail(graph.add_output(name, value));
  };
  for (const OpInfo& op : all_ops()) {
    if (op.op_class != OpClass::elementwise || !takes(op.rule, dtype)) continue;
    if (op.kind != OpKind::cast) {
      add(op, "y_" + op.name.str(), NoAttributes{});
      continue;
    }
    for (DType to : kTypes)
      if (to != dtype) add(op, "y_cast_" + spelling(to).str(), CastAttributes{to});
  }
  if (is_float(dtype)) add_bounded_divisions(graph, dtype, a, b);
  return graph;
}

struct Compiled {
  DType dtype;
  std::vector<Tensor> inputs;
  Compilation compilation;
};

} // namespace

TEST_CASE("emulation: every elementwise op on special values of every type") {
  std::deque<Compiled> all; // they do not move
  for (DType dtype : kTypes) {
    std::vector<Tensor> inputs = make_inputs(dtype);
    CompileOptions options;
    options.math = MathMode::strict;
    auto compilation = compile_graph(make_graph(dtype, inputs[0].count()), options);
    REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
    all.push_back({dtype, std::move(inputs), std::move(*compilation)});
  }
  std::vector<const Module*> modules;
  for (const Compiled& one : all) {
    modules.push_back(&one.compilation.module);
    const std::string source = module_source(one.compilation.module);
    const std::string space = is_16_bit(one.dtype) ? "math::short_form::" : "math::";
    for (const char* functor : {"reciprocal_bounded(", "div_bounded(", "exp(", "erf("})
      CHECK(llvm::StringRef(source).contains(space + functor) == is_float(one.dtype));
  }
  auto library = KernelLibrary::build(modules);
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  size_t checked = 0;
  for (const Compiled& one : all) {
    CAPTURE(spelling(one.dtype).str());
    std::vector<const Tensor*> inputs;
    for (const Tensor& tensor : one.inputs) inputs.push_back(&tensor);
    EvaluateOptions options;
    options.precisions = {MatmulPrecision::pedantic};
    const auto reference = llvm::cantFail(evaluate(one.compilation.graph, inputs, options));
    const Outcome outcome = run_module(one.compilation, **library, inputs, {});
    REQUIRE(outcome.problem == "");
    for (size_t i = 0; i < reference.size(); ++i) {
      const Comparison comparison = compare(reference[i], outcome.outputs[i], 0);
      CHECK_MESSAGE(comparison.pass, comparison.problem);
      // The operands are exact: few results are open, at poles and near overflow.
      CHECK_MESSAGE(4 * comparison.unbounded < comparison.count, reference[i].name);
      ++checked;
    }
  }
  // Of the elementwise ops, floats take all but the three logical ones.
  CHECK(checked > 3 * 35);
}

TEST_CASE("emulation: many elements divided by the same special values") {
  const std::vector<double> reals = special_reals();
  const auto n = static_cast<int64_t>(reals.size());
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    CAPTURE(spelling(dtype).str());
    Tensor a(dtype, {1, n}), b(dtype, {n, 1});
    for (int64_t i = 0; i < n; ++i) {
      a.set(i, reals[i]);
      b.set(i, reals[i]);
    }
    const std::string spec = fmt::format(
        "graph g(a: {0}[1, {1}], b: {0}[{1}, 1]) {{ return a / b }}", spelling(dtype).str(), n);
    auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
    REQUIRE(bool(compilation));
    CHECK(llvm::StringRef(module_source(compilation->module)).contains("math::div_shared("));
    auto library = KernelLibrary::build({&compilation->module});
    REQUIRE(bool(library));
    const std::vector<const Tensor*> inputs = {&a, &b};
    const auto reference = llvm::cantFail(evaluate(compilation->graph, inputs));
    const Outcome outcome = run_module(*compilation, **library, inputs, {});
    REQUIRE(outcome.problem == "");
    const Comparison comparison = compare(reference[0], outcome.outputs[0], 0);
    CHECK_MESSAGE(comparison.pass, comparison.problem);
    CHECK(4 * comparison.unbounded < comparison.count);
    for (int64_t i = 0; i < n * n; ++i) { // the sign of zero
      const double x = a.real(i % n), y = b.real(i / n), got = outcome.outputs[0].real(i);
      if (x == 0 && !std::isnan(y) && y != 0)
        CHECK_MESSAGE(std::signbit(got) == std::signbit(x / y), x, " / ", y);
    }
  }
}

TEST_CASE("emulation: a quotient of 16 bits is rounded before a jump") {
  // In f32, 41 times the reciprocal of 41 is less than 1. A quotient just below 3 is 3 in 16 bits.
  for (DType dtype : {DType::f16, DType::bf16}) {
    CAPTURE(spelling(dtype).str());
    const std::string spec = fmt::format(
        "graph g(x: {0}[8], z: {0}[8]) {{\n  y = maximum(minimum(x, 1000), 1)\n  q = x / y\n"
        "  return floor(q), cast(q, i32), q == 1, ceil(q), fmod(q, 1),\n"
        "         floor(z / {1}) }}",
        spelling(dtype).str(), dtype == DType::f16 ? "682.5" : "84.5");
    auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
    REQUIRE(bool(compilation));
    auto library = KernelLibrary::build({&compilation->module});
    REQUIRE(bool(library));
    Tensor x(dtype, 8), z(dtype, 8);
    const double values[] = {41, 47, 55, 61, 82, 83, 94, 97};
    for (int64_t i = 0; i < 8; ++i) {
      x.set(i, values[i]);
      z.set(i, dtype == DType::f16 ? 2047 : 253);
    }
    const std::vector<const Tensor*> inputs = {&x, &z};
    const Outcome outcome = run_module(*compilation, **library, inputs, {});
    REQUIRE(outcome.problem == "");
    const auto reference = llvm::cantFail(evaluate(compilation->graph, inputs));
    const double expected[] = {1, 1, 1, 1, 0, 3};
    for (size_t o = 0; o < std::size(expected); ++o) {
      const Tensor& output = outcome.outputs[o];
      const bool is_real = is_float(output.dtype());
      const Tensor exact = reference[o].to_tensor();
      for (int64_t i = 0; i < 8; ++i) {
        CAPTURE(values[i]);
        CAPTURE(o);
        CHECK((is_real ? output.real(i) : double(output.integer(i))) == expected[o]);
        CHECK((is_real ? exact.real(i) : double(exact.integer(i))) == expected[o]);
      }
    }
  }
}

TEST_CASE("emulation: gelu of half types is 0 far left of zero and x far right") {
  for (DType dtype : {DType::f16, DType::bf16}) {
    CAPTURE(spelling(dtype).str());
    const double largest = dtype == DType::f16 ? 65504 : 0x1.fep127;
    const double values[] = {-5, -7.5, -300, -largest, 5, 7.5, 300, largest};
    Tensor x(dtype, 8);
    for (int64_t i = 0; i < 8; ++i) x.set(i, values[i]);
    auto compilation = compile_graph(
        llvm::cantFail(parse_graph(
            fmt::format("graph g(x: {}[8]) {{ return gelu(x) }}", spelling(dtype).str()), "case")),
        {});
    REQUIRE(bool(compilation));
    auto library = KernelLibrary::build({&compilation->module});
    REQUIRE(bool(library));
    const Outcome outcome = run_module(*compilation, **library, {&x}, {});
    REQUIRE(outcome.problem == "");
    for (int64_t i = 0; i < 8; ++i) CHECK(outcome.outputs[0].real(i) == std::max(values[i], 0.0));
  }
}

TEST_CASE("emulation: logarithms and powers of two are exact where the type holds the result") {
  // x in f32, and the exact results that every f32 kernel must give.
  std::vector<double> x, log2, log10, exp2;
  for (int n = -149; n < 128; ++n) {
    x.push_back(std::ldexp(1.0, n));
    log2.push_back(n);
    log10.push_back(std::log10(x.back()));
    exp2.push_back(std::exp2(x.back()));
  }
  for (int n = -37; n < 39; ++n) {
    x.push_back(std::pow(10.0, n)); // rounded to f32: its logarithm still rounds to n
    log10.push_back(n);
    log2.push_back(std::log2(static_cast<float>(x.back())));
    exp2.push_back(std::exp2(static_cast<float>(x.back())));
  }
  for (int n = -149; n < 128; ++n) {
    x.push_back(n);
    exp2.push_back(std::ldexp(1.0, n));
    log2.push_back(std::log2(x.back()));
    log10.push_back(std::log10(x.back()));
  }
  const auto count = static_cast<int64_t>(x.size());
  Tensor input(DType::f32, count);
  for (int64_t i = 0; i < count; ++i) input.set(i, x[static_cast<size_t>(i)]);
  auto compilation = compile_graph(
      llvm::cantFail(parse_graph(
          fmt::format("graph g(x: f32[{}]) {{ return log2(x), log10(x), exp2(x) }}", count),
          "case")),
      {});
  REQUIRE(bool(compilation));
  auto library = KernelLibrary::build({&compilation->module});
  REQUIRE(bool(library));
  const Outcome outcome = run_module(*compilation, **library, {&input}, {});
  REQUIRE(outcome.problem == "");
  const std::vector<double>* wanted[] = {&log2, &log10, &exp2};
  size_t whole = 0;
  for (size_t k = 0; k < 3; ++k)
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = (*wanted[k])[i], got = outcome.outputs[k].real(static_cast<int64_t>(i));
      CAPTURE(k);
      CAPTURE(x[i]);
      const bool must_be_exact = k == 2 ? std::rint(x[i]) == x[i] : std::rint(exact) == exact;
      if (std::isnan(exact))
        CHECK(std::isnan(got));
      else if (must_be_exact || std::isinf(exact))
        CHECK(got == static_cast<float>(exact));
      else
        CHECK(std::fabs(got - exact) <= std::fabs(exact) * 0x1p-23 + 0x1p-149);
      whole += must_be_exact;
    }
  CHECK(whole > 2 * 277 + 76);
}
