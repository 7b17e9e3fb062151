// SPDX-License-Identifier: Apache-2.0
// Composites that are defined by cases, constants of bool and comparisons with numbers, through
// kernels: every pair of special values, against the reference.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"
#include "src/support/error.h"
#include "tests/emulation/emulator.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr double kValues[] = {NAN, HUGE_VAL, -HUGE_VAL, 0.0,  -0.0, 0.1,    -0.1,
                              1.0, -1.0,     0x1p-14,   -2.5, 300,  -65504, 12345};
constexpr int64_t kCount = std::size(kValues);

/// x is one special value per row, y one per column, c a chequerboard.
std::vector<Tensor> all_pairs(DType dtype) {
  std::vector<Tensor> inputs;
  for (DType type : {dtype, dtype, DType::boolean})
    inputs.emplace_back(type, llvm::ArrayRef<int64_t>{kCount, kCount});
  for (int64_t i = 0; i < kCount * kCount; ++i) {
    inputs[0].set(i, kValues[i / kCount]);
    inputs[1].set(i, kValues[i % kCount]);
    inputs[2].set_integer(i, (i / kCount + i) % 2);
  }
  return inputs;
}

/// How many outputs of `spec` kernels compute as the reference does.
size_t right_outputs(const std::string& spec, const std::vector<Tensor>& inputs) {
  CAPTURE(spec);
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
  REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
  auto library = KernelLibrary::build({&compilation->module});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  std::vector<const Tensor*> given;
  for (const Tensor& tensor : inputs) given.push_back(&tensor);
  EvaluateOptions options;
  options.precisions = {MatmulPrecision::pedantic};
  const auto reference = llvm::cantFail(evaluate(compilation->graph, given, options));
  const Outcome outcome = run_module(*compilation, **library, given, {});
  REQUIRE(outcome.problem == "");
  size_t right = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const Comparison comparison = compare(reference[i], outcome.outputs[i], 0);
    CHECK_MESSAGE(comparison.pass, comparison.problem);
    CHECK_MESSAGE(4 * comparison.unbounded < comparison.count, reference[i].name);
    right += comparison.pass;
  }
  return right;
}

} // namespace

TEST_CASE("emulation: composites defined by cases, on all pairs of special values") {
  for (const char* type : {"f32", "f16", "bf16"}) {
    const std::string spec = fmt::format(
        "graph g(x: {0}[{1}, {1}], y: {0}[{1}, {1}], c: bool[{1}, {1}]) {{\n"
        "  return a = xlogy(x, y), b = logaddexp(x, y), d = hypot(x, y), e = heaviside(x, y),\n"
        "    f = nan_to_num(x), h = nan_to_num(x, 1, posinf=nan, neginf=2), i = triu(x, 1),\n"
        "    j = tril(y, -2), k = tril(c), l = any(x, axis=1), m = all(y, axis=0), n = any(c),\n"
        "    o = clamp(x, max=nan), p = clamp(x, 0, nan), q = heaviside(c, not c)\n}}\n",
        type, kCount);
    CHECK(right_outputs(spec, all_pairs(*parse_dtype(type))) == 15);
  }
}

TEST_CASE("emulation: constants of bool, alone and among others") {
  const std::string spec =
      fmt::format("graph g(x: f32[{0}, {0}], y: f32[{0}, {0}], c: bool[{0}, {0}]) {{\n"
                  "  return a = broadcast(true, [3, 5]), b = constant(false, bool),\n"
                  "    d = select(c, true, false), e = select(c, constant(0, bool), x < y),\n"
                  "    f = concat([c, broadcast(true, [{0}, 2])], axis=1), h = c and true,\n"
                  "    i = all(broadcast(true, [7])), j = c == true\n}}\n",
                  kCount);
  CHECK(right_outputs(spec, all_pairs(DType::f32)) == 8);
}

TEST_CASE("emulation: comparisons with numbers that the type does not hold") {
  for (const char* type : {"f32", "f16", "bf16"}) {
    const std::string spec = fmt::format(
        "graph g(x: {0}[{1}, {1}], y: {0}[{1}, {1}], c: bool[{1}, {1}]) {{\n"
        "  return a = x == 0.1, b = x <= -0.1, d = 0.1 < y, e = x >= 1e40, f = y != 70000\n}}\n",
        type, kCount);
    const std::vector<Tensor> inputs = all_pairs(*parse_dtype(type));
    CHECK(right_outputs(spec, inputs) == 5);
    const Tensor* given[] = {&inputs[0], &inputs[1], &inputs[2]};
    const auto results = llvm::cantFail(evaluate(llvm::cantFail(parse_graph(spec, "case")), given));
    // As in PyTorch, the tensor that holds 0.1 rounded is equal to 0.1, and infinity to 1e40.
    CHECK(results[0].booleans()[5 * kCount] == 1);
    CHECK(results[3].booleans()[1 * kCount] == 1);
  }
}
