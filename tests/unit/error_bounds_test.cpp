// SPDX-License-Identifier: Apache-2.0
// The interpreter's error bounds: emulated f32, TF32, bf16 and f16 kernels stay within them, on
// friendly and on hostile data, and kernels with a plausible mistake do not.
#include "ir/float_bits.h"
#include "ir/interpreter/compare.h"
#include "ir/random.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace ingot;

namespace {

struct Reference {
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<Evaluated> outputs;
};

Reference evaluate_spec(llvm::StringRef spec, std::vector<Tensor> inputs) {
  auto graph = parse_graph(spec, "test");
  if (!graph) FAIL(take_error(graph.takeError()).second);
  Reference result{std::move(*graph), std::move(inputs), {}};
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : result.inputs) pointers.push_back(&input);
  EvaluateOptions options;
  options.precisions.assign(all_matmul_precisions().begin(), all_matmul_precisions().end());
  result.outputs = llvm::cantFail(evaluate(result.graph, pointers, options));
  return result;
}

size_t index_of(MatmulPrecision precision) { return static_cast<size_t>(precision); }

Tensor random(DType dtype, llvm::ArrayRef<int64_t> extents, Distribution distribution,
              uint64_t key) {
  Tensor tensor(dtype, extents);
  fill_random(tensor, distribution, key);
  return tensor;
}

constexpr auto kUniform = Distribution::Kind::uniform;
constexpr auto kNormal = Distribution::Kind::normal;

// ---- emulated matmuls --------------------------------------------------------------------------

/// Rounds toward zero to a multiple of 2^(exponent - 24). Aligning to the largest exponent with
/// one bit beyond f32 does the same.
double truncate_at(double x, int exponent) {
  double grid = std::ldexp(1.0, exponent - 24);
  return std::trunc(x / grid) * grid;
}

float truncate_to_f32(double x) {
  auto rounded = static_cast<float>(x);
  return std::fabs(rounded) > std::fabs(x) ? std::nextafter(rounded, 0.0f) : rounded;
}

/// One tensor-core step: c plus `count` products, aligned, truncated, summed, truncated again.
float tensor_core_step(float c, const double* products, int count) {
  int largest = c == 0 ? -1000 : std::ilogb(c);
  for (int i = 0; i < count; ++i)
    if (products[i] != 0) largest = std::max(largest, std::ilogb(products[i]));
  if (largest == -1000) return c;
  double sum = truncate_at(c, largest);
  for (int i = 0; i < count; ++i) sum += truncate_at(products[i], largest);
  return truncate_to_f32(sum);
}

struct Product {
  int64_t m, n, k;
  const Tensor& a; ///< [m, k]
  const Tensor& b; ///< [n, k]
};

using Dot = std::function<float(const Product&, int64_t row, int64_t column)>;

float fma_chain(const Product& p, int64_t i, int64_t j) {
  float sum = 0;
  for (int64_t k = 0; k < p.k; ++k)
    sum = std::fma(static_cast<float>(p.a.real(i * p.k + k)),
                   static_cast<float>(p.b.real(j * p.k + k)), sum);
  return sum;
}

/// Operands rounded to `bits` significant bits, `step` products at a time.
Dot tensor_cores(int bits, int step) {
  return [=](const Product& p, int64_t i, int64_t j) {
    float sum = 0;
    double products[16];
    for (int64_t k = 0; k < p.k; k += step) {
      int count = static_cast<int>(std::min<int64_t>(step, p.k - k));
      for (int s = 0; s < count; ++s)
        products[s] = round_to_format(p.a.real(i * p.k + k + s), bits, -126, 3.4e38) *
                      round_to_format(p.b.real(j * p.k + k + s), bits, -126, 3.4e38);
      sum = tensor_core_step(sum, products, count);
    }
    return sum;
  };
}

/// Products of TF32 halves, 4 at a time; over 32 of K first the small ones, then the large ones,
/// then the sum is promoted.
float split_tf32(const Product& p, int64_t i, int64_t j) {
  auto high = [](double x) { return round_to_format(x, 11, -126, 3.4e38); };
  float total = 0, level = 0;
  for (int64_t k0 = 0; k0 < p.k; k0 += 32) {
    float sum = 0;
    for (int pass = 0; pass < 3; ++pass)
      for (int64_t k = k0; k < std::min(p.k, k0 + 32); k += 4) {
        double products[4];
        int count = static_cast<int>(std::min<int64_t>(4, p.k - k));
        for (int s = 0; s < count; ++s) {
          double a = p.a.real(i * p.k + k + s), b = p.b.real(j * p.k + k + s);
          double x = pass == 0 ? high(a - high(a)) : high(a);
          double y = pass == 1 ? high(b - high(b)) : high(b);
          products[s] = x * y;
        }
        sum = tensor_core_step(sum, products, count);
      }
    level += sum;
    if (k0 % 512 == 480 || k0 + 32 >= p.k) {
      total += level;
      level = 0;
    }
  }
  return total;
}

Tensor multiply(const Product& product, const Dot& dot, DType dtype = DType::f32) {
  Tensor result(dtype, {product.m, product.n});
  for (int64_t i = 0; i < product.m; ++i)
    for (int64_t j = 0; j < product.n; ++j) result.set(i * product.n + j, dot(product, i, j));
  return result;
}

std::string matmul_spec(llvm::StringRef dtype, int64_t m, int64_t n, int64_t k) {
  return fmt::format("graph t(a: {0}[{1}, {3}], b: {0}[{2}, {3}]) {{ return matmul(a, b, "
                     "transpose_b=true) }}",
                     dtype.str(), m, n, k);
}

/// Data of a case: mixed signs, all positive, constant (every rounding error the same), and rows of
/// very different size.
std::vector<Tensor> operands(int data, DType dtype, int64_t m, int64_t n, int64_t k) {
  std::vector<Tensor> result;
  for (int side = 0; side < 2; ++side) {
    Distribution distribution =
        data == 0 ? Distribution{kNormal, 0, 1} : Distribution{kUniform, 0, 1};
    Tensor tensor = random(dtype, {side ? n : m, k}, distribution, 10 * data + side);
    for (int64_t i = 0; data >= 2 && i < tensor.count(); ++i) {
      const int64_t line = i / k;
      if (data == 2)
        tensor.set(i, 0.3 + 0.001 * static_cast<double>(line));
      else
        tensor.set(i, tensor.real(i) * std::ldexp(1.0, static_cast<int>(line % 40) - 20));
    }
    result.push_back(std::move(tensor));
  }
  return result;
}

TEST_CASE("f32 matmuls stay within the bound of their precision") {
  const int64_t m = 6, n = 7;
  struct {
    MatmulPrecision precision;
    Dot dot;
  } kernels[] = {{MatmulPrecision::pedantic, fma_chain},
                 {MatmulPrecision::highest, split_tf32},
                 {MatmulPrecision::high, tensor_cores(11, 4)},
                 {MatmulPrecision::high, tensor_cores(11, 8)},
                 {MatmulPrecision::medium, tensor_cores(8, 8)},
                 {MatmulPrecision::medium, tensor_cores(8, 16)}};
  for (int64_t k : {17, 64, 300, 2000})
    for (int data = 0; data < 4; ++data) {
      Reference reference =
          evaluate_spec(matmul_spec("f32", m, n, k), operands(data, DType::f32, m, n, k));
      Product product{m, n, k, reference.inputs[0], reference.inputs[1]};
      for (const auto& kernel : kernels) {
        Tensor result = multiply(product, kernel.dot);
        Comparison comparison = compare(reference.outputs[0], result, index_of(kernel.precision));
        INFO(spelling(kernel.precision).str()
             << ", K " << k << ", data " << data << ": " << comparison.problem);
        CHECK(comparison.pass);
        // The bound is no more than 2000 times the actual error.
        CHECK(comparison.max_bound_ratio > 5e-4);
      }
    }
}

TEST_CASE("short f32 matmuls are bounded as plain FMA in every precision") {
  const int64_t m = 6, n = 7;
  for (int64_t k : {1, 5, 16})
    for (int data = 0; data < 4; ++data) {
      Reference reference =
          evaluate_spec(matmul_spec("f32", m, n, k), operands(data, DType::f32, m, n, k));
      Product product{m, n, k, reference.inputs[0], reference.inputs[1]};
      Tensor exact = multiply(product, fma_chain), rounded = multiply(product, tensor_cores(11, 4));
      for (MatmulPrecision precision : all_matmul_precisions()) {
        CHECK(compare(reference.outputs[0], exact, index_of(precision)).pass);
        CHECK(!compare(reference.outputs[0], rounded, index_of(precision)).pass);
      }
    }
}

TEST_CASE("16-bit matmuls accumulate in f32 and round once") {
  const int64_t m = 6, n = 7, k = 500;
  for (DType dtype : {DType::f16, DType::bf16})
    for (int data = 0; data < 3; ++data) {
      Reference reference =
          evaluate_spec(matmul_spec(spelling(dtype), m, n, k), operands(data, dtype, m, n, k));
      Product product{m, n, k, reference.inputs[0], reference.inputs[1]};
      for (int step : {8, 16}) {
        Tensor right = multiply(product, tensor_cores(11, step), dtype);
        for (size_t p = 0; p < 4; ++p) CHECK(compare(reference.outputs[0], right, p).pass);
      }
      // Accumulating in the half type is wrong.
      Tensor wrong = multiply(
          product,
          [&](const Product& q, int64_t i, int64_t j) {
            double sum = 0;
            for (int64_t s = 0; s < q.k; ++s) {
              sum += q.a.real(i * q.k + s) * q.b.real(j * q.k + s);
              sum = dtype == DType::f16 ? round_to_f16(sum) : round_to_bf16(sum);
            }
            return static_cast<float>(sum);
          },
          dtype);
      CHECK(!compare(reference.outputs[0], wrong, 0).pass);
    }
}

TEST_CASE("matmuls that miss a part or use too few bits are refused") {
  const int64_t m = 6, n = 7, k = 300;
  Reference reference =
      evaluate_spec(matmul_spec("f32", m, n, k), operands(0, DType::f32, m, n, k));
  const Tensor& a = reference.inputs[0];
  const Tensor& b = reference.inputs[1];
  auto fails = [&](const Dot& dot, MatmulPrecision precision) {
    Product product{m, n, k, a, b};
    return !compare(reference.outputs[0], multiply(product, dot), index_of(precision)).pass;
  };
  auto without_last = [](const Product& p, int64_t i, int64_t j) {
    float last = static_cast<float>(p.a.real(i * p.k + p.k - 1) * p.b.real(j * p.k + p.k - 1));
    return fma_chain(p, i, j) - last;
  };
  for (MatmulPrecision precision : all_matmul_precisions()) CHECK(fails(without_last, precision));
  CHECK(fails(tensor_cores(11, 8), MatmulPrecision::highest));
  CHECK(fails(tensor_cores(11, 8), MatmulPrecision::pedantic));
  CHECK(fails(tensor_cores(6, 8), MatmulPrecision::high));
  CHECK(fails(tensor_cores(4, 8), MatmulPrecision::medium));
}

// ---- elementwise -------------------------------------------------------------------------------

TEST_CASE("f32 functions of an inexact operand stay within their bounds") {
  struct {
    llvm::StringRef name;
    double low, high;
    float (*f)(float);
  } functions[] = {
      {"exp", -120, 110, [](float x) { return std::exp(x); }},
      {"exp2", -160, 140, [](float x) { return std::exp2(x); }},
      {"expm1", -20, 60, [](float x) { return std::expm1(x); }},
      {"log", 0, 50, [](float x) { return std::log(x); }},
      {"log2", 0, 50, [](float x) { return std::log2(x); }},
      {"log10", 0, 50, [](float x) { return std::log10(x); }},
      {"log1p", -0.999, 50, [](float x) { return std::log1p(x); }},
      {"sqrt", 0, 1e5, [](float x) { return std::sqrt(x); }},
      {"rsqrt", 0, 100, [](float x) { return 1 / std::sqrt(x); }},
      {"reciprocal", -3, 3, [](float x) { return 1 / x; }},
      {"tanh", -8, 8, [](float x) { return std::tanh(x); }},
      {"erf", -4, 4, [](float x) { return std::erf(x); }},
      {"sin", -50, 50, [](float x) { return std::sin(x); }},
      {"cos", -50, 50, [](float x) { return std::cos(x); }},
      {"floor", -50, 50, [](float x) { return std::floor(x); }},
      {"sign", -1, 1, [](float x) { return float(x > 0) - float(x < 0); }},
      {"gelu", -8, 8, [](float x) { return x * 0.5f * (1 + std::erf(x * 0.70710678f)); }},
      {"mish", -60, 120, [](float x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"sigmoid", -120, 120, [](float x) { return 1 / (1 + std::exp(-x)); }},
  };
  const int64_t count = 20000;
  for (const auto& function : functions) {
    INFO(function.name.str());
    Tensor x = random(DType::f32, {count}, {kUniform, function.low * 10, function.high * 10},
                      function.name.size());
    std::vector<Tensor> inputs;
    inputs.push_back(std::move(x));
    Reference reference = evaluate_spec(
        fmt::format("graph t(x: f32[{}]) {{ return {}(x * 0.1) }}", count, function.name.str()),
        std::move(inputs));
    Tensor right(DType::f32, {count}), wrong(DType::f32, {count});
    for (int64_t i = 0; i < count; ++i) {
      auto scaled = static_cast<float>(reference.inputs[0].real(i)) * 0.1f;
      right.set(i, function.f(scaled));
      wrong.set(i, static_cast<double>(function.f(scaled)) * 1.00001 + 1e-30);
    }
    Comparison comparison = compare(reference.outputs[0], right, 0);
    INFO(comparison.problem);
    CHECK(comparison.pass);
    // A hundredth of a per mille is far outside everywhere but where the operand's own error is
    // as large.
    CHECK(compare(reference.outputs[0], wrong, 0).failures > 0);
  }
}

TEST_CASE("an f32 overflow may show as infinity, and nothing else") {
  auto judge = [](llvm::StringRef expression, float x, double got) {
    std::vector<Tensor> inputs;
    inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>{1});
    inputs[0].set(0, x);
    Reference reference = evaluate_spec(
        fmt::format("graph t(x: f32[1]) {{ return {} }}", expression.str()), std::move(inputs));
    Tensor result(DType::f32, {1});
    result.set(0, got);
    return compare(reference.outputs[0], result, 0).pass;
  };
  CHECK(judge("exp(x)", 100, HUGE_VAL));
  CHECK(!judge("exp(x)", 100, 3e38));
  CHECK(!judge("exp(x)", 100, NAN));
  CHECK(!judge("exp(x)", 100, -HUGE_VAL));
  CHECK(judge("exp(x)", -120, 0));
  CHECK(!judge("exp(x)", -120, 1e-40));
  CHECK(judge("mish(x)", 100, 100));
  CHECK(!judge("mish(x)", 100, HUGE_VAL));
  CHECK(!judge("mish(x)", 100, 100.1));
  CHECK(judge("sigmoid(x)", -120, 0));
  CHECK(judge("1 / (exp(x) * exp(x))", 80, 0));
  CHECK(judge("log1p(exp(x))", 100, 100));
  CHECK(judge("log1p(exp(x))", 100, HUGE_VAL));
  CHECK(!judge("log1p(exp(x))", 100, 99));
  for (const char* body : {"x * 2", "2 * x", "x / 3", "3 / x", "log(-abs(x) - 1) * x"}) {
    CAPTURE(body);
    CHECK(judge(body, NAN, NAN));
    CHECK(!judge(body, NAN, 1));
  }
  CHECK(!judge("log(x) * 0.3", -1, 0));
  CHECK(judge("maximum(x, 0)", NAN, NAN));
  CHECK(!judge("maximum(x, 0)", NAN, 0));
  CHECK(!judge("maximum(x, 0)", HUGE_VALF, NAN));
}

TEST_CASE("a value beyond the range of f32 is infinity, however exact") {
  // Twice the largest f32 is exact in f64; so is a sum of one term far above it.
  for (const char* body : {"return x * 1.5 + x * 1.5", "return cumsum(exp(x * 1e-36), axis=1)"}) {
    CAPTURE(body);
    Tensor x(DType::f32, {1, 1});
    x.set(0, 3e38);
    std::vector<Tensor> inputs;
    inputs.push_back(std::move(x));
    const Reference reference =
        evaluate_spec(fmt::format("graph g(x: f32[1, 1]) {{ {} }}", body), std::move(inputs));
    Tensor infinite(DType::f32, {1, 1});
    infinite.set(0, std::numeric_limits<double>::infinity());
    CHECK(compare(reference.outputs[0], infinite, 0, {}).pass);
  }
}

TEST_CASE("a comparison that rounding may decide admits both branches, others one") {
  std::vector<Tensor> inputs;
  inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>{3});
  for (int i = 0; i < 3; ++i) inputs[0].set(i, i + 2); // 0.2, 0.3, 0.4
  Reference reference =
      evaluate_spec("graph t(x: f32[3]) { return where(x * 0.1 > 0.3, x * 0 + 10, x * 0 - 10) }",
                    std::move(inputs));
  auto passes = [&](double a, double b, double c) {
    Tensor result(DType::f32, {3});
    result.set(0, a);
    result.set(1, b);
    result.set(2, c);
    return compare(reference.outputs[0], result, 0).pass;
  };
  CHECK(passes(-10, 10, 10));
  CHECK(passes(-10, -10, 10));
  CHECK(!passes(10, 10, 10));
  CHECK(!passes(-10, 10, -10));
}

TEST_CASE("argmax admits every index whose element may be the greatest") {
  std::vector<Tensor> inputs;
  inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>{2, 4});
  double values[] = {1, 3, 2, 3 - 0x1p-22, 5, 1, 5, 4};
  for (int i = 0; i < 8; ++i) inputs[0].set(i, values[i]);
  Reference reference =
      evaluate_spec("graph t(x: f32[2, 4]) { return argmax(x * 0.1, axis=1), argmax(x, axis=1) }",
                    std::move(inputs));
  auto passes = [&](size_t output, int64_t a, int64_t b) {
    Tensor result(DType::i64, {2});
    result.set_integer(0, a);
    result.set_integer(1, b);
    return compare(reference.outputs[output], result, 0).pass;
  };
  CHECK(passes(0, 1, 0));
  CHECK(passes(0, 3, 2));
  CHECK(!passes(0, 2, 0));
  CHECK(!passes(0, 7, 0));
  CHECK(passes(1, 1, 0));
  CHECK(!passes(1, 3, 0));
  CHECK(!passes(1, 1, 2)); // an exact tie goes to the lowest index
}

// ---- reductions --------------------------------------------------------------------------------

/// A row in f32.
using Row = std::vector<float>;

float sequential_sum(const Row& x) {
  float sum = 0;
  for (float v : x) sum += v;
  return sum;
}

/// The order of a warp: 32 interleaved chains, then a tree.
float warp_sum(const Row& x) {
  float lanes[32] = {};
  for (size_t i = 0; i < x.size(); ++i) lanes[i % 32] += x[i];
  for (int width = 16; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

struct Moments {
  float mean, var;
};

Moments two_sweeps(const Row& x) {
  auto n = static_cast<float>(x.size());
  float mean = warp_sum(x) / n;
  Row squares;
  for (float v : x) squares.push_back((v - mean) * (v - mean));
  return {mean, warp_sum(squares) / n};
}

/// Running (n, mean, M2).
Moments welford(const Row& x) {
  float mean = 0, m2 = 0, n = 0;
  for (float v : x) {
    n += 1;
    float delta = v - mean;
    mean += delta / n;
    m2 += delta * (v - mean);
  }
  return {mean, m2 / n};
}

float online_logsumexp(const Row& x) {
  float m = -HUGE_VALF, s = 0;
  for (float v : x) {
    float top = std::max(m, v);
    s = s * std::exp(m - top) + std::exp(v - top);
    m = top;
  }
  return m + std::log(s);
}

/// Runs `kernel` on each row of x * 0.1, computed in f32.
template <typename Kernel> Tensor by_rows(const Tensor& x, int64_t columns, Kernel kernel) {
  int64_t rows = x.extents()[0], length = x.extents()[1];
  Tensor result(DType::f32, columns == 1 ? llvm::SmallVector<int64_t, 2>{rows}
                                         : llvm::SmallVector<int64_t, 2>{rows, columns});
  for (int64_t r = 0; r < rows; ++r) {
    Row row;
    for (int64_t k = 0; k < length; ++k)
      row.push_back(static_cast<float>(x.real(r * length + k)) * 0.1f);
    Row out = kernel(row);
    for (int64_t k = 0; k < columns; ++k) result.set(r * columns + k, out[static_cast<size_t>(k)]);
  }
  return result;
}

struct RowCase {
  llvm::StringRef expression;
  bool is_full; ///< as many columns as x
  std::vector<std::function<Row(const Row&)>> right, wrong;
};

std::vector<RowCase> row_cases() {
  auto one = [](auto f) { return [f](const Row& x) { return Row{f(x)}; }; };
  auto shorter = [](Row x) {
    x.pop_back();
    return x;
  };
  auto normalized = [](auto moments, float eps) {
    return [=](const Row& x) {
      Moments m = moments(x);
      Row y;
      for (float v : x) y.push_back((v - m.mean) * (1 / std::sqrt(m.var + eps)));
      return y;
    };
  };
  auto unbiased = [](const Row& x) {
    Moments m = two_sweeps(x);
    auto n = static_cast<float>(x.size());
    return Moments{m.mean, m.var * (n / (n - 1))};
  };
  auto softmax = [](bool subtract_max, float skew) {
    return [=](const Row& x) {
      float m = subtract_max ? *std::max_element(x.begin(), x.end()) : 0;
      Row e;
      for (float v : x) e.push_back(std::exp(v - m));
      float s = warp_sum(e) * skew;
      for (float& v : e) v /= s;
      return e;
    };
  };
  auto max = [](const Row& x) { return *std::max_element(x.begin(), x.end()); };
  return {
      {"sum(x * 0.1, axis=1)", false, {one(sequential_sum), one(warp_sum)}, {one([=](const Row& x) {
         return warp_sum(shorter(x));
       })}},
      {"mean(x * 0.1, axis=1)",
       false,
       {one([](const Row& x) { return warp_sum(x) * (1 / static_cast<float>(x.size())); })},
       {one([](const Row& x) { return warp_sum(x) / static_cast<float>(x.size() - 1); })}},
      {"reduce_max(x * 0.1, axis=1)", false, {one(max)}, {one([](const Row& x) {
         return *std::max_element(x.begin() + 1, x.end()) - 0.01f;
       })}},
      {"logsumexp(x * 0.1, axis=1)", false, {one(online_logsumexp)}, {one([=](const Row& x) {
         return online_logsumexp(shorter(x));
       })}},
      {"softmax(x * 0.1, axis=1)",
       true,
       {softmax(true, 1), softmax(false, 1)},
       {softmax(true, 1.01f)}},
      {"layer_norm(x * 0.1)",
       true,
       {normalized(two_sweeps, 1e-5f), normalized(welford, 1e-5f)},
       {normalized(two_sweeps, 1e-3f), normalized(unbiased, 1e-5f)}},
  };
}

TEST_CASE("f32 row reductions stay within their bounds, and mistakes do not") {
  const int64_t rows = 8;
  for (int64_t length : {2, 33, 256, 1000})
    for (Distribution distribution :
         {Distribution{kNormal, 0, 10}, Distribution{kUniform, 0, 10}}) {
      for (const RowCase& row_case : row_cases()) {
        std::vector<Tensor> inputs;
        inputs.push_back(random(DType::f32, {rows, length}, distribution, length));
        Reference reference = evaluate_spec(fmt::format("graph t(x: f32[{}, {}]) {{ return {} }}",
                                                        rows, length, row_case.expression.str()),
                                            std::move(inputs));
        INFO(row_case.expression.str() << ", length " << length);
        const Tensor& x = reference.inputs[0];
        int64_t columns = row_case.is_full ? length : 1;
        for (const auto& kernel : row_case.right) {
          Comparison comparison = compare(reference.outputs[0], by_rows(x, columns, kernel), 0);
          INFO(comparison.problem);
          CHECK(comparison.pass);
          CHECK(comparison.unbounded == 0);
        }
        for (const auto& kernel : row_case.wrong)
          CHECK(!compare(reference.outputs[0], by_rows(x, columns, kernel), 0).pass);
      }
    }
}

TEST_CASE("norms of constant rows stay bounded by eps") {
  std::vector<Tensor> inputs;
  inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>{1, 64});
  for (int i = 0; i < 64; ++i) inputs[0].set(i, 7.3);
  Reference reference =
      evaluate_spec("graph t(x: f32[1, 64]) { return layer_norm(x * 0.1) }", std::move(inputs));
  Tensor zeros(DType::f32, {1, 64}), ones(DType::f32, {1, 64});
  for (int i = 0; i < 64; ++i) {
    zeros.set(i, 0);
    ones.set(i, 1);
  }
  Comparison comparison = compare(reference.outputs[0], zeros, 0);
  CHECK(comparison.pass);
  CHECK(comparison.unbounded == 0);
  CHECK(!compare(reference.outputs[0], ones, 0).pass);
}

} // namespace

TEST_CASE("the bound of an exclusive scan is that of the elements before each position") {
  auto judge = [](const char* options, std::vector<double> got) {
    std::vector<Tensor> inputs;
    inputs.emplace_back(DType::f32, llvm::ArrayRef<int64_t>{3});
    for (int64_t i = 0; i < 3; ++i) inputs[0].set(i, 1.0 / 3);
    const Reference reference = evaluate_spec(
        fmt::format("graph g(x: f32[3]) {{ return cumsum(exp(x), axis=0{}) }}", options),
        std::move(inputs));
    Tensor result(DType::f32, {3});
    for (int64_t i = 0; i < 3; ++i) result.set(i, got[static_cast<size_t>(i)]);
    return compare(reference.outputs[0], result, 0).pass;
  };
  const double e = std::exp(static_cast<double>(1.0F / 3)), off = 1 + 0x1p-23;
  CHECK(judge(", exclusive=true", {0, e * off, 2 * e * off}));
  CHECK(!judge(", exclusive=true", {1e-30, e, 2 * e})); // exact: nothing was summed
  CHECK(judge(", exclusive=true, reverse=true", {2 * e * off, e * off, 0}));
  CHECK(!judge(", exclusive=true, reverse=true", {2 * e, e, 1e-30}));
  CHECK(judge(", reverse=true", {3 * e * off, 2 * e * off, e * off}));
  CHECK(!judge(", reverse=true", {e, 2 * e, 3 * e}));
}
