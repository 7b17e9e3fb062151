// SPDX-License-Identifier: Apache-2.0
// The bound of a chain of sums covers its terms added in another order, which rewrites may choose.
#include "ir/interpreter/evaluate.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace ingot;

namespace {

/// Terms of very different sizes in turn.
std::vector<float> random_terms(uint64_t seed, int64_t count) {
  std::mt19937_64 engine(seed);
  std::vector<float> terms;
  for (int64_t i = 0; i < count; ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(engine() % 8) - 4);
    terms.push_back(static_cast<float>(size * (static_cast<double>(engine() >> 11) * 0x1p-52 - 1)));
  }
  return terms;
}

} // namespace

TEST_CASE("bounds of sums: (x + a) + b in any order, and longer chains with two terms merged") {
  constexpr int64_t kCount = 20000;
  const Graph graph =
      llvm::cantFail(parse_graph("graph g(x: f32[20000], a: f32[20000], b: f32[20000],\n"
                                 "        y: f32[20000]) { return x + a + b, x + a + y - b }",
                                 "spec"));
  std::vector<std::vector<float>> terms;
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> inputs;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    terms.push_back(random_terms(seed, kCount));
    Tensor& tensor = tensors.emplace_back(DType::f32, Extents{kCount});
    for (int64_t i = 0; i < kCount; ++i) tensor.set(i, terms.back()[static_cast<size_t>(i)]);
  }
  for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  const std::vector<Evaluated> outputs = llvm::cantFail(evaluate(graph, inputs));
  for (size_t i = 0; i < static_cast<size_t>(kCount); ++i) {
    const float x = terms[0][i], a = terms[1][i], b = terms[2][i], y = terms[3][i];
    const float negated = -b;
    for (const float sum : {(x + a) + b, x + (a + b), (x + b) + a})
      REQUIRE(std::fabs(sum - outputs[0].reals()[i]) <= outputs[0].bounds(0)[i]);
    // Of longer chains, two params may be added beforehand.
    for (const float sum : {((x + a) + y) - b, (x + y) + (a + negated)})
      REQUIRE(std::fabs(sum - outputs[1].reals()[i]) <= outputs[1].bounds(0)[i]);
  }
}
