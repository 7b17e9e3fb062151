// SPDX-License-Identifier: Apache-2.0
// Values that kernels leave for others in another order, as 16 bits in place of their conversion,
// or for several attentions (tests/unit/fusion_memory_test.cpp has their plans).
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// The failures of a spec in both families.
std::string check_both(const std::string& spec, const std::vector<DimBindings>& sizes = {{}}) {
  std::vector<Case> cases;
  for (const char* target : {"sm_80", "sm_90a"}) {
    cases.push_back({"graph g(" + spec + "\n}\n", sizes, MatmulPrecision::highest});
    cases.back().target = target;
  }
  return check_cases(cases);
}

} // namespace

TEST_CASE("emulation: heads of attention are stored side by side") {
  CHECK(check_both("q: f16[2, 3, 70, 16], k: f16[2, 3, 90, 16], v: f16[2, 3, 90, 24], "
                   "w: f16[72, 40]) {\n"
                   "  h = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n"
                   "  return matmul(reshape(transpose(h, [0, 2, 1, 3]), [140, 72]), w)") == "");
  CHECK(check_both("q: bf16[m, 3, n, 16], k: bf16[m, 3, n, 16], v: bf16[m, 3, n, 16], "
                   "w: bf16[48, 40]) {\n"
                   "  h = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n"
                   "  return matmul(reshape(transpose(h, [0, 2, 1, 3]), [m*n, 48]), w)",
                   {{{"m", 1}, {"n", 1}}, {{"m", 2}, {"n", 37}}}) == "");
}

TEST_CASE("emulation: converted values are read as 16 bits") {
  CHECK(check_both("x: bf16[70, 40], w: bf16[40, 300], r: bf16[70, 300], g: bf16[300]) {\n"
                   "  h = matmul(x, w) + r\n  f = cast(h, f32)\n"
                   "  n = cast(f * rsqrt(mean(f * f, axis=1, keepdim=true) + 0.01), bf16) * g\n"
                   "  return n, h") == "");
  CHECK(check_both("x: f16[70, 40], w: f16[40, 300]) {\n"
                   "  f = cast(matmul(x, w), f32)\n"
                   "  return where(f == amax(f, axis=1, keepdim=true), f, 0.0)") == "");
  CHECK(check_both("x: f16[300, 32], w: f16[32, 64], u: f16[64, 64], i: i32[20, 64]) {\n"
                   "  h = relu(matmul(x, w))\n  f = cast(h, f32)\n  y = matmul(h, u)\n"
                   "  return y + cast(f * 2, f16), gather(f, i, axis=0)") == "");
}

TEST_CASE("emulation: attentions share a bias, or compute a mask each") {
  const std::string layers =
      "q: f16[1, 2, 70, 16], k: f16[1, 2, 90, 16], v: f16[1, 2, 90, 16], r: f16[1, 2, 70, 16], "
      "b: f16[2, 70, 90], c: bool[70, 90]) {\n";
  const std::string both = "  h = matmul(softmax(matmul(q, k, transpose_b=true) + m), v)\n"
                           "  i = matmul(softmax(matmul(r, k, transpose_b=true) + m), v)\n"
                           "  return h, i";
  CHECK(check_both(layers + "  m = tanh(sin(exp(b)))\n" + both) == "");
  CHECK(check_both(layers + "  m = cast(where(c, 0.0, -1000.0), f16)\n" + both) == "");
}
