// SPDX-License-Identifier: Apache-2.0
// Random small graphs: passes keep their values. Strict mode to the bit, in f32 arithmetic on
// values that overflow, vanish and are no numbers; relaxed and finite mode within the reference's
// bounds.
#include "tests/unit/passes_support.h"

#include "ir/interpreter/compare.h"
#include "ir/interpreter/rules.h"
#include "ir/random.h"

#include <array>
#include <bit>
#include <cfloat>
#include <random>

using namespace ingot;
using namespace ingot::test;

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// 0 .. count - 1
  size_t below(size_t count) { return engine_() % count; }
  template <typename Range> auto pick(const Range& range) { return range[below(std::size(range))]; }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

private:
  std::mt19937_64 engine_;
};

constexpr std::array kUnary = {OpKind::neg,  OpKind::abs,   OpKind::exp,   OpKind::log,
                               OpKind::sqrt, OpKind::tanh,  OpKind::floor, OpKind::round,
                               OpKind::sign, OpKind::log1p, OpKind::erf,   OpKind::is_nan,
                               OpKind::exp2, OpKind::log2,  OpKind::log10, OpKind::atan};
constexpr std::array kBinary = {OpKind::add, OpKind::add,     OpKind::sub,     OpKind::mul,
                                OpKind::mul, OpKind::div,     OpKind::minimum, OpKind::maximum,
                                OpKind::sub, OpKind::maximum, OpKind::minimum, OpKind::less};
constexpr std::array kNumbers = {0.0, -0.0, 1.0,   -1.0, 2.0,     0.5,   -4.0,    3.0,
                                 0.1, 10.0, 0.125, 1e20, 0x1p127, 1e-20, 0x1p-30, -0.5};

/// Adds an elementwise op over `values`, which are f32 or bool and have one shape or none.
ValueId add_elementwise(GraphMaker& g, Random& random, std::vector<ValueId>& values,
                        std::vector<ValueId>& predicates) {
  auto value = [&] { // late values make deep graphs
    size_t window = std::min<size_t>(values.size(), 6);
    return values[values.size() - 1 - random.below(random.below(3) ? window : values.size())];
  };
  auto operand = [&] { return random.below(4) ? value() : g.number(random.pick(kNumbers)); };
  if (!predicates.empty() && random.below(6) == 0) {
    return g.op(OpKind::select, {random.pick(predicates), operand(), value()});
  }
  bool is_unary = random.below(3) == 0;
  OpKind kind = is_unary ? random.pick(kUnary) : random.pick(kBinary);
  bool number_first = !is_unary && random.below(3) == 0;
  ValueId x = number_first ? operand() : value(), y = number_first ? value() : operand();
  ValueId result = is_unary ? g.op(kind, {x}) : g.op(kind, {x, y});
  bool is_predicate = info(kind).rule == TypeRule::classify || info(kind).rule == TypeRule::compare;
  (is_predicate ? predicates : values).push_back(result);
  return result;
}

/// The result of an f32 kernel without fast paths: each op in f64, rounded to f32. Scalars only.
class ScalarKernel {
public:
  explicit ScalarKernel(const Graph& graph) : graph_(graph) {}

  double run(llvm::ArrayRef<float> inputs) {
    values_.assign(graph_.values().size(), 0);
    size_t position = 0;
    for (const Op& op : graph_.ops()) {
      double& result = values_[op.results[0].index];
      if (op.kind == OpKind::input) {
        result = inputs[position++];
      } else if (op.kind == OpKind::constant) {
        const auto& literal = graph_.attributes<ConstantAttributes>(op);
        result = is_float(literal.dtype) ? literal.real : static_cast<double>(literal.integer);
      } else {
        result = apply(op);
      }
      result = static_cast<float>(result);
    }
    return values_[graph_.outputs()[0].value.index];
  }

private:
  template <typename Rule, int arity> static double rule(const double* x) {
    if constexpr (requires { sizeof(Rule); }) {
      if constexpr (arity == 1 && requires { Rule::value(x[0]); }) return Rule::value(x[0]);
      if constexpr (arity == 2 && requires { Rule::value(x[0], x[1]); }) {
        return Rule::value(x[0], x[1]);
      }
    }
    FAIL("no rule");
    return 0;
  }

  double apply(const Op& op) {
    double x[3] = {};
    for (size_t k = 0; k < op.operands.size(); ++k) x[k] = values_[op.operands[k].index];
    if (op.kind == OpKind::select) return x[0] != 0 ? x[1] : x[2];
    // The op does not say which of two zeros it yields; one that orders them does not depend on the
    // order of its operands.
    bool zeros = x[0] == 0 && x[1] == 0;
    if (zeros && op.kind == OpKind::minimum) return std::signbit(x[0]) ? x[0] : x[1];
    if (zeros && op.kind == OpKind::maximum) return std::signbit(x[0]) ? x[1] : x[0];
    using Apply = double (*)(const double*);
    static constexpr Apply kRules[] = {
#define INGOT_OP(name, op_class, arity, ...) rule<rules::name, arity>,
#include "ir/ops.def"
    };
    return kRules[static_cast<size_t>(op.kind)](x);
  }

  const Graph& graph_;
  std::vector<double> values_;
};

std::vector<float> scalar_inputs(Random& random, size_t count) {
  constexpr float kSpecial[] = {0.0f,       -0.0f,    1.0f,      -1.0f,      0x1p-149f,
                                -0x1p-140f, 0x1p127f, 3.4e38f,   -3.4e38f,   INFINITY,
                                -INFINITY,  NAN,      0x1p-126f, 1.0000001f, 0.3f};
  std::vector<float> inputs;
  for (size_t k = 0; k < count; ++k) {
    double exponent = random.uniform(-40, 40);
    auto value = static_cast<float>(random.uniform(-2, 2) * std::exp2(exponent));
    inputs.push_back(random.below(2) ? random.pick(kSpecial) : value);
  }
  return inputs;
}

bool same_bits(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

Graph random_scalar_graph(Random& random) {
  GraphMaker g;
  std::vector<ValueId> values = {g.input("x", {}), g.param("b", {}), g.input("y", {}),
                                 g.param("c", {})};
  std::vector<ValueId> predicates;
  size_t count = 3 + random.below(14);
  for (size_t k = 0; k < count; ++k) add_elementwise(g, random, values, predicates);
  return g.with_outputs({values.back()});
}

/// The form is final, and reached again from the same graph.
void check_settled(const Graph& source, const Graph& result, MathMode math) {
  CHECK(identical(run_all(result, math), result));
  CHECK(identical(run_all(source, math), result));
}

} // namespace

TEST_CASE("passes fuzz: strict keeps every bit of f32 arithmetic") {
  size_t changed = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Graph source = random_scalar_graph(random);
    Graph strict = run_all(source, MathMode::strict);
    if (seed % 10 == 0) check_settled(source, strict, MathMode::strict);
    changed += !equivalent(strict, source);
    ScalarKernel before(source), after(strict);
    for (int trial = 0; trial < 60; ++trial) {
      std::vector<float> inputs = scalar_inputs(random, 4);
      double expected = before.run(inputs), actual = after.run(inputs);
      if (same_bits(expected, actual)) continue;
      CAPTURE(seed);
      CAPTURE(print_graph(source));
      CAPTURE(print_graph(strict));
      FAIL_CHECK(
          fmt::format("inputs {}: {} before, {} after", fmt::join(inputs, " "), expected, actual));
      return;
    }
  }
  CHECK(changed > 500); // the passes had something to do
}

namespace {

/// Graphs over [M, N] matrices with reductions, movement and matmuls.
struct MatrixGraph : GraphMaker {
  static constexpr int64_t kRows = 4, kColumns = 6;
  std::vector<ValueId> matrices, predicates;

  explicit MatrixGraph(Random& random) {
    ValueId x = input("x", {kRows, kColumns}), y = input("y", {kRows, kColumns});
    ValueId b = param("b", {kColumns}), c = param("c", {kColumns});
    ValueId w = param("w", {kColumns, kColumns});
    matrices = {x, y, row(b), row(c), matmul(x, w, {false, true})};
    size_t count = 2 + random.below(10);
    for (size_t k = 0; k < count; ++k) {
      if (random.below(2)) {
        add_elementwise(*this, random, matrices, predicates);
      } else {
        matrices.push_back(move_or_reduce(random, w));
      }
    }
  }

  ValueId row(ValueId v) { return broadcast(v, {kRows, kColumns}); }

  /// Back to a matrix, in one of several spellings.
  ValueId spread_column(ValueId v) { return broadcast(reshape(v, {kRows, 1}), {kRows, kColumns}); }

  ValueId move_or_reduce(Random& random, ValueId w) {
    ValueId x = matrices[matrices.size() - 1 - random.below(std::min<size_t>(3, matrices.size()))];
    constexpr std::array kKinds = {OpKind::sum, OpKind::mean, OpKind::reduce_max,
                                   OpKind::reduce_min};
    OpKind kind = random.pick(kKinds);
    switch (random.below(9)) {
    case 0: return spread_column(reduce(kind, x, {1}));
    case 1: return row(reduce(kind, x, {0}));
    case 2: // runs of three columns
      return reshape(broadcast(reshape(reduce(kind, reshape(x, {kRows, 2, 3}), {2}), {kRows, 2, 1}),
                               {kRows, 2, 3}),
                     {kRows, kColumns});
    case 3: return spread_column(reduce_pair(OpKind::max_sumexp, x, {1})[random.below(2)]);
    case 4: return spread_column(reduce_pair(OpKind::moments, x, {1})[random.below(2)]);
    case 5: return matmul(x, w, {false, random.below(2) != 0});
    case 6: return transpose(op(OpKind::tanh, {transpose(x, {1, 0})}), {1, 0});
    case 7: { // over an axis of extent 1
      ValueId column = reshape(reduce(kind, x, {1}), {kRows, 1});
      return spread_column(reduce(random.pick(kKinds), column, {1}));
    }
    default: return broadcast(reduce(kind, x, {0, 1}), {kRows, kColumns});
    }
  }
};

std::vector<Tensor> matrix_inputs(const Graph& graph, Random& random, bool has_specials) {
  constexpr double kSpecial[] = {INFINITY, -INFINITY, NAN, -0.0, 0.0};
  std::vector<Tensor> tensors;
  for (ValueId input : graph.inputs()) {
    llvm::SmallVector<int64_t, 4> extents;
    for (const Dim& dim : graph.type(input).shape) extents.push_back(dim.fixed());
    Tensor& tensor = tensors.emplace_back(DType::f32, extents);
    for (int64_t k = 0; k < tensor.count(); ++k) {
      bool special = has_specials && random.below(12) == 0;
      tensor.set(k, special ? random.pick(kSpecial) : random.uniform(-2, 2));
    }
  }
  return tensors;
}

std::vector<Evaluated> evaluate_all(const Graph& graph, llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<const Tensor*, 8> pointers;
  for (const Tensor& tensor : inputs) pointers.push_back(&tensor);
  EvaluateOptions options;
  options.threads = 1;
  return llvm::cantFail(evaluate(graph, pointers, options));
}

/// A result that f32 holds, of intermediates that it holds too: a bound that admits anything says
/// that they may not be.
bool is_judged(const Evaluated& reference, int64_t index) {
  double bound = reference.bounds(0).empty() ? 0 : reference.bounds(0)[index];
  return bound >= 0 && std::abs(reference.reals()[index]) + bound <= FLT_MAX;
}

} // namespace

TEST_CASE("passes fuzz: matrices, reductions and matmuls keep their values") {
  size_t changed = 0, judged = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    MatrixGraph maker(random);
    Graph source = maker.with_outputs({maker.matrices.back()});
    auto math = static_cast<MathMode>(seed % 3);
    Graph result = run_all(source, math);
    if (seed % 10 < 3) check_settled(source, result, math);
    changed += !equivalent(source, result);
    bool has_specials = math == MathMode::strict && seed % 2;
    std::vector<Tensor> inputs = matrix_inputs(source, random, has_specials);
    Evaluated reference = std::move(evaluate_all(source, inputs)[0]);
    Evaluated actual = std::move(evaluate_all(result, inputs)[0]);
    for (int64_t index = 0; index < reference.count(); ++index) {
      double expected = reference.reals()[index], value = actual.reals()[index];
      if (!std::isfinite(expected) && math == MathMode::strict) {
        if (same_bits(expected, value)) continue;
      } else {
        if (!is_judged(reference, index)) continue;
        ++judged;
        double bound = reference.bounds(0).empty() ? 0 : std::abs(reference.bounds(0)[index]);
        // Both are f64: a sum that is exact in f32 may still have another order.
        if (std::abs(value - expected) <= bound + 1e-12 * std::abs(expected)) continue;
      }
      CAPTURE(seed);
      CAPTURE(print_graph(source));
      CAPTURE(print_graph(result));
      FAIL_CHECK(fmt::format("element {}: {} before, {} after", index, expected, value));
      return;
    }
  }
  CHECK(changed > 300);
  CHECK(judged > 1000);
}

TEST_CASE("passes fuzz: relaxed results that are no numbers stay so") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed + 10000);
    MatrixGraph maker(random);
    Graph source = maker.with_outputs({maker.matrices.back()});
    Graph result = run_all(source, MathMode::relaxed);
    std::vector<Tensor> inputs = matrix_inputs(source, random, true);
    Evaluated reference = std::move(evaluate_all(source, inputs)[0]);
    Evaluated actual = std::move(evaluate_all(result, inputs)[0]);
    for (int64_t index = 0; index < reference.count(); ++index) {
      double expected = reference.reals()[index], value = actual.reals()[index];
      if (std::isfinite(expected) || !std::isfinite(value)) continue;
      CAPTURE(seed);
      CAPTURE(print_graph(source));
      CAPTURE(print_graph(result));
      FAIL_CHECK(fmt::format("element {}: {} before, {} after", index, expected, value));
      return;
    }
  }
}

TEST_CASE("passes fuzz: relaxed f32 arithmetic stays within the reference's bounds") {
  size_t judged = 0;
  for (uint64_t seed = 0; seed < 800; ++seed) {
    Random random(seed + 20000);
    Graph source = random_scalar_graph(random);
    Graph relaxed = run_all(source, MathMode::relaxed);
    ScalarKernel kernel(relaxed);
    for (int trial = 0; trial < 8; ++trial) {
      std::vector<float> values;
      std::vector<Tensor> inputs;
      for (size_t k = 0; k < 4; ++k) {
        double size = std::exp2(random.uniform(-20, 20));
        values.push_back(static_cast<float>(random.uniform(-2, 2) * size));
        inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>()).set(0, values.back());
      }
      Evaluated reference = std::move(evaluate_all(source, inputs)[0]);
      if (!is_judged(reference, 0)) continue;
      ++judged;
      double expected = reference.reals()[0], actual = kernel.run(values);
      double bound = reference.bounds(0).empty() ? 0 : std::abs(reference.bounds(0)[0]);
      bound += std::abs(expected) * 0x1p-24; // a result is rounded
      if (std::abs(actual - expected) <= bound) continue;
      CAPTURE(seed);
      CAPTURE(print_graph(source));
      CAPTURE(print_graph(relaxed));
      FAIL_CHECK(fmt::format("inputs {}: {} +- {} before, {} after", fmt::join(values, " "),
                             expected, bound, actual));
      return;
    }
  }
  CHECK(judged > 1000);
}
