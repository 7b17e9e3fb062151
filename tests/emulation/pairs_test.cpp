// SPDX-License-Identifier: Apache-2.0
// Two matmuls in one kernel: of any two depths, layouts and operands, with ops that join their
// products and reductions of those.
#include "tests/emulation/cases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Whether a kernel has the operands of two products.
bool has_pair(const Case& one) {
  const std::string schedules = schedules_of(one);
  llvm::SmallVector<llvm::StringRef, 4> kernels;
  llvm::StringRef(schedules).split(kernels, '\n');
  return llvm::any_of(kernels, [](llvm::StringRef kernel) { return kernel.count(" a ") == 2; });
}

/// The case in each precision, on a card with so few SMs that one kernel has both products.
std::vector<Case> in_each_precision(const std::string& spec) {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::pedantic, MatmulPrecision::highest,
                                          MatmulPrecision::high, MatmulPrecision::medium}) {
    Case& one = cases.emplace_back(Case{.spec = spec, .precision = precision, .sm_count = 2});
    CHECK_MESSAGE(has_pair(one), one.spec, schedules_of(one));
  }
  return cases;
}

} // namespace

TEST_CASE("emulation: gated pairs of matmuls") {
  CHECK(check_cases(in_each_precision("graph g(x: f32[70, 40], w: f32[36, 40], v: f32[36, 40]) {\n"
                                      "  return swish(linear(x, w)) * linear(x, v) }")) == "");
  CHECK(check_cases(in_each_precision("graph g(x: f32[33, 19], w: f32[19, 66], v: f32[19, 66],\n"
                                      "        b: f32[66]) {\n"
                                      "  return gelu(matmul(x, w) + b) * matmul(x, v) }")) == "");
}

TEST_CASE("emulation: pairs of matmuls of different depths and layouts") {
  CHECK(check_cases(in_each_precision(
            "graph g(x: f32[70, 40], h: f32[18, 70], w: f32[36, 40], u: f32[18, 36],\n"
            "        b: f32[36]) {\n"
            "  return tanh(linear(x, w) + matmul(h, u, transpose_a=true) + b) }")) == "");
  CHECK(check_cases({
            {"graph g(x: f32[3, 34, 20], w: f32[3, 20, 36], y: f32[3, 34, 7], v: f32[3, 36, 7]) {\n"
             "  return matmul(x, w) * matmul(y, v, transpose_b=true) }"},
            {"graph g(x: f16[70, 48], w: f16[136, 48], v: f16[136, 48]) {\n"
             "  return swish(linear(x, w)) * linear(x, v) }"},
            {"graph g(x: bf16[70, 48], h: bf16[70, 13], w: bf16[48, 40], v: bf16[40, 13]) {\n"
             "  return matmul(x, w) + linear(h, v) }"},
        }) == "");
}

TEST_CASE("emulation: pairs of matmuls with computed operands") {
  CHECK(check_cases(in_each_precision(
            "graph g(x: f32[70, 40], m: f32[70, 1], s: f32[40], w: f32[36, 40], v: f32[36, 40]) {\n"
            "  h = (x - m) * s\n  return swish(linear(h, w)) * linear(h, v) }")) == "");
  CHECK(check_cases({
            {"graph g(x: f16[66, 40], s: f16[40], w: f16[72, 40], v: f32[72, 40]) {\n"
             "  h = x * s\n  return swish(linear(h, w)) * linear(h, cast(v, f16)) }"},
            {"graph g(x: f32[66, 19], y: f32[66, 7], w: f32[36, 19], v: f32[36, 7]) {\n"
             "  return linear(log(x + 1.0), w) - linear(1.0 / (y + 2.0), exp(v)) }"},
        }) == "");
}

TEST_CASE("emulation: reductions of the joined results of two matmuls") {
  std::vector<Case> cases =
      in_each_precision("graph g(x: f32[66, 20], w: f32[96, 20], v: f32[96, 20]) {\n"
                        "  return group_norm(swish(linear(x, w)) * linear(x, v), groups=3) }");
  cases.push_back({"graph g(x: f32[66, 20], w: f32[300, 20], v: f32[300, 20]) {\n"
                   "  return softmax(swish(linear(x, w)) * linear(x, v), axis=1) }"});
  cases.push_back({"graph g(x: f32[140, 20], w: f32[70, 20], v: f32[70, 20]) {\n"
                   "  p = linear(x, w)\n  q = linear(x, v)\n"
                   "  return p * q, sum(p, axis=0), reduce_max(q, axis=1) }"});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: pairs of matmuls with named extents") {
  CHECK(check_cases({
            {"graph g(x: f32[m, k], y: f32[m, j], w: f32[k, n], v: f32[j, n]) {\n"
             "  return matmul(x, w) * matmul(y, v) }",
             {{{"m", 3}, {"n", 8}, {"k", 4}, {"j", 12}},
              {{"m", 70}, {"n", 5}, {"k", 33}, {"j", 1}},
              {{"m", 2}, {"n", 3}, {"k", 0}, {"j", 5}},
              {{"m", 2}, {"n", 3}, {"k", 5}, {"j", 0}},
              {{"m", 2}, {"n", 0}, {"k", 7}, {"j", 2}}}},
        }) == "");
}
