// SPDX-License-Identifier: Apache-2.0
// f32 products from halves on tensor cores: both paths of a tile within 2^-20 (|A||B|), over every
// layout of the operands, and the choice between the paths.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case halves(const std::string& spec, std::vector<DimBindings> sizes = {{}}) {
  Case result{spec, std::move(sizes), MatmulPrecision::highest};
  result.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                           .thirds = std::numeric_limits<int64_t>::max()};
  return result;
}

Case product(int m, int n, int k, const std::string& body) {
  return halves(fmt::format("graph g(a: f32[{0}, {2}], param b: f32[{2}, {1}], s: f32[{2}]) {{\n"
                            "  return {3} }}",
                            m, n, k, body));
}

bool has_halves(const Case& one) { return schedules_of(one).find("f16x3") != std::string::npos; }

} // namespace

TEST_CASE("emulation: f32 products from halves, however the operands lie") {
  const Case cases[] = {
      halves("graph g(a: f32[67, 300], param b: f32[131, 300]) {\n"
             "  return matmul(a, b, transpose_b=true) }"),
      halves("graph g(a: f32[264, 130], b: f32[264, 72]) {\n"
             "  return matmul(a, b, transpose_a=true) }"),
      halves("graph g(a: f32[3, 65, 257], param b: f32[257, 66]) { return matmul(a, b) }"),
      halves("graph g(a: f32[m, 256], param b: f32[256, 193]) { return matmul(a, b) }",
             {{{"m", 1}}, {{"m", 129}}, {{"m", 0}}}),
  };
  for (const Case& one : cases) CHECK(has_halves(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: ops before and behind an f32 product from halves") {
  const Case cases[] = {
      product(70, 130, 300, "softmax(matmul(relu(a), b * 0.5) + 1.0)"),
      product(70, 128, 260, "group_norm(silu(matmul(a, b)), groups=4)"),
      product(64, 64, 1100, "matmul(a, b)"),
      product(130, 64, 260, "sum(matmul(a, b), axis=0)"),
      product(66, 200, 260, "layer_norm(matmul(a, b))"),
      product(65, 66, 4500, "matmul(abs(a), abs(b))"), // sums that move to totals
      // 2^127 times 2^-16: rows that are too large for halves.
      product(64, 64, 4096,
              "matmul(a * 0.0 + 1.7014118346046923e+38, b * 0.0 + 1.52587890625e-05)"),
      // 1.5 times 2^80 and 2^-64, the least and the greatest shift. The first products are in
      // range, the second ones infinite, the third ones subnormal.
      product(64, 64, 260, "matmul(a * 0.0 + 1.8133887298598896e+24, b * 0.0 + 5.42101086e-20)"),
      product(64, 64, 260, "matmul(a * 0.0 + 1.8133887298598896e+24, b * 0.0 + 1.2e+24)"),
      product(64, 64, 260, "matmul(a * 0.0 + 5.42101086e-20, b * 0.0 + 5.42101086e-20)"),
      // An operand that varies along the batch by its position alone.
      product(64, 64, 260, "matmul(a * (iota(f32, [2, 64, 260], axis=0) + 1.0), b)"),
  };
  for (const Case& one : cases) CHECK(has_halves(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: f32 products of few rows or columns with halves of params") {
  const Case cases[] = {
      product(2, 130, 300, "relu(matmul(a, b)) + 1.0"),
      product(33, 200, 2300, "softmax(matmul(a, b))"), // sums that move to totals
      product(5, 128, 260, "group_norm(matmul(a, transpose(transpose(b) * 0.5)), groups=4)"),
      halves("graph g(param a: f32[130, 300], b: f32[300, 7]) { return matmul(a, b) }"),
      // Rows that halves do not suit.
      halves("graph g(a: f32[9, 300], param b: f32[70, 300], param s: f32[300]) {\n"
             "  return linear(a * exp(s * 20.0), b * exp(s * -20.0)) }"),
      product(9, 70, 300, "matmul(a * 1.0e-36, b * 1.0e-3)"),
      halves("graph g(x: f32[9, 300], param w: f32[130, 300], param v: f32[130, 300]) {\n"
             "  return linear(x, w) * sigmoid(linear(x, v)) }"),
      halves("graph g(param w: f32[70, 300], x: f32[300, 5], y: f32[300, 5]) {\n"
             "  return matmul(w, x) * matmul(w, y) }"),
      halves("graph g(x: f32[3, 5, 260], param w: f32[3, 260, 70]) {\n"
             "  return softmax(matmul(x, w)) }"),
      // Two results: one block an SM.
      halves("graph g(x: f32[9, 900], param w: f32[40, 900]) {\n"
             "  return linear(x, w), sum(linear(x, w), axis=0) }"),
  };
  for (const Case& one : cases) CHECK(has_halves(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: stages whose scratch reaches as far as the factors of the rows") {
  const char* const norm = "graph g(x: f32[{}, 256], param w: f32[{}, 256]) {{\n"
                           "  return group_norm(linear(x, w), groups={}) }}";
  const Case cases[] = {
      halves(fmt::format(fmt::runtime(norm), 128, 126, 42)),
      halves(fmt::format(fmt::runtime(norm), "m", 126, 42), {{{"m", 128}}}),
      halves(fmt::format(fmt::runtime(norm), "m", 125, 25), {{{"m", 128}}}),
  };
  for (const Case& one : cases) CHECK(has_halves(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: gated pairs of f32 products from halves") {
  const std::string inputs = "graph g(a: f32[70, 300], c: f32[70, 2100], s: f32[300], "
                             "param v: f32[300, 260], param w: f32[260, 300], "
                             "param u: f32[2100, 260]) {\n  return ";
  const Case cases[] = {
      halves(inputs + "silu(matmul(a, v)) * linear(a, w) }"), // one operand's halves for both
      halves(inputs + "sigmoid(matmul(a, v)) * matmul(c, u) }"),
      halves(inputs + "softmax(silu(matmul(relu(a), v * 0.5)) * linear(a, w)) }"),
      halves("graph g(x: f32[m, 256], param v: f32[256, 256], param w: f32[256, 256]) {\n"
             "  return group_norm(silu(matmul(x, v)) * matmul(x, w), groups=4) }",
             {{{"m", 1}}, {{"m", 65}}, {{"m", 0}}}),
      // A contraction that blocks share, and a batch.
      halves("graph g(a: f32[64, 1300], v: f32[1300, 64], w: f32[1300, 64]) {\n"
             "  return silu(matmul(a, v)) * matmul(a, w) }"),
      halves("graph g(a: f32[2, 65, 260], v: f32[2, 260, 66], w: f32[2, 260, 66]) {\n"
             "  return silu(matmul(a, v)) * matmul(a, w) }"),
      // The rows of one product suit halves, those of the other do not.
      halves(inputs + "silu(matmul(a * exp(s * 20.0), v * exp(reshape(s, [300, 1]) * -20.0))) *"
                      " linear(a, w) }"),
      halves(inputs + "silu(matmul(a, v)) * matmul(a * exp(s * 20.0), v * exp(reshape(s, [300, 1])"
                      " * -20.0)) }"),
  };
  for (const Case& one : cases) CHECK(has_halves(one));
  CHECK(check_cases(cases) == "");
  Case non_finite = halves(inputs + "silu(matmul(a, v)) * linear(a, w) }");
  non_finite.non_finite = true;
  CHECK(check_cases({non_finite}) == "");
}

TEST_CASE("emulation: halves of an operand that both products of a pair share are made once") {
  // The computed operand they share, and one each of their own.
  const std::string text = schedules_of(
      halves("graph g(a: f32[70, 300], s: f32[300], v: f32[300, 260], w: f32[300, 260]) {\n"
             "  h = tanh(a * s)\n  return silu(matmul(h, v)) * matmul(h, w) }"));
  CAPTURE(text);
  CHECK(llvm::StringRef(text).count("packing_tiles 8x512") == 3);
}

TEST_CASE("emulation: tiles that halves do not suit") {
  // Factors that undo one another along k: small elements of a row meet large ones of a column.
  const Case skewed[] = {
      product(70, 70, 300, "matmul(a * exp(s * 20.0), transpose(transpose(b) * exp(s * -20.0)))"),
      product(70, 70, 300, "matmul(a * exp(s * 40.0), b)"),
      product(70, 70, 300, "matmul(a * 1.0e-36, b * 1.0e-3)"),
      product(70, 70, 300, "matmul(a * 1.0e30, b * 1.0e-30)"),
      product(70, 70, 300, "matmul(where(s > 1.5, a, 0.0), b)"),
  };
  for (const Case& one : skewed) CHECK(has_halves(one));
  CHECK(check_cases(skewed) == "");
  Case non_finite = halves("graph g(a: f32[130, 260], b: f32[260, 130]) { return matmul(a, b) }");
  non_finite.non_finite = true;
  CHECK(check_cases({non_finite}) == "");
}
