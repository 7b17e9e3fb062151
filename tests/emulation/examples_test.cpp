// SPDX-License-Identifier: Apache-2.0
// The graphs of examples/ at reduced sizes, emulated.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Chains over a linear layer [rows, k] x [columns, k]; `replacements` for their other sizes.
std::string linear_example(const std::string& file, const std::string& full_x,
                           const std::string& full_w, llvm::ArrayRef<int> sizes,
                           Replacements replacements) {
  replacements.insert(replacements.begin(),
                      {{full_x, fmt::format("[{}, {}]", sizes[0], sizes[2])},
                       {full_w, fmt::format("[{}, {}]", sizes[1], sizes[2])}});
  return reduced_spec("examples/" + file, replacements);
}

std::string chain(const std::string& file, int rows, int columns, int k,
                  Replacements replacements = {}) {
  replacements.insert(replacements.begin(), {"8192", std::to_string(columns)});
  return linear_example(file, "[1024, 8192]", "[8192, 8192]", {rows, columns, k}, replacements);
}

const char* const k94 = "94_gemm_biasadd_hardtanh_mish_groupnorm.ingot";
const char* const k22 = "22_matmul_scale_residualadd_clamp_logsumexp_mish.ingot";
const char* const k99 = "99_matmul_gelu_softmax.ingot";

} // namespace

TEST_CASE("emulation: linear, bias, hardtanh, mish, group norm") {
  CHECK(check_cases({{chain(k94, 70, 96, 40, {{"groups=256", "groups=3"}})},
                     {chain(k94, 3, 128, 7, {{"groups=256", "groups=4"}})}}) == "");
}

TEST_CASE("emulation: the other chains over a linear layer") {
  CHECK(check_cases({
            {chain(k22, 66, 300, 33)},
            {chain(k99, 66, 300, 18)},
            {linear_example("37_matmul_swish_sum_groupnorm.ingot", "[32768, 1024]", "[4096, 1024]",
                            {140, 192, 20}, {{"4096", "192"}, {"groups=64", "groups=3"}})},
        }) == "");
}

TEST_CASE("emulation: the chains without a linear layer") {
  CHECK(check_cases({
            {reduced_spec("examples/elementwise.ingot", {{"[16384, 8192]", "[5, 1030]"}})},
            {reduced_spec("examples/layer_norm.ingot", {{"[16384, 8192]", "[5, 8192]"}})},
            {reduced_spec("examples/softmax.ingot", {{"[16384, 8192]", "[5, 8192]"}})},
        }) == "");
}

TEST_CASE("emulation: a matmul of an operand that it normalises") {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::highest, MatmulPrecision::high})
    cases.push_back({reduced_spec("examples/normalized_projection.ingot",
                                  {{"16384", "70"}, {"4096", "36"}, {"256", "66"}}),
                     {{}},
                     precision});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: a gate of two matmuls") {
  CHECK(check_cases(
            {{reduced_spec("examples/swiglu.ingot", {{"11008", "200"}, {"4096", "72"}})}}) == "");
}

TEST_CASE("emulation: attention of the examples") {
  CHECK(check_cases({{reduced_spec("examples/attention.ingot",
                                   {{"4, 16, 2048, 128", "1, 2, 150, 40"}})}}) == "");
}

TEST_CASE("emulation: layers of the examples") {
  CHECK(check_cases({{reduced_spec("examples/radiance.ingot", {}), {{{"n", 150}}}},
                     {reduced_spec("examples/low_rank.ingot", {{"4096", "72"}}), {{{"n", 70}}}}}) ==
        "");
}

TEST_CASE("emulation: chains on tensor cores") {
  std::vector<Case> cases;
  for (const MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium}) {
    cases.push_back({chain(k94, 70, 96, 40, {{"groups=256", "groups=3"}}), {{}}, precision});
    cases.push_back({chain(k99, 130, 70, 33), {{}}, precision});
    cases.push_back({"graph g(a: f32[2, 72, 40], b: f32[2, 72, 44]) {\n"
                     "  return matmul(a, b, transpose_a=true) }",
                     {{}},
                     precision});
  }
  cases.push_back({chain("94_half.ingot", 70, 96, 40, {{"groups=256", "groups=3"}})});
  cases.push_back({"graph g(a: f16[65, 48], b: f16[48, 72]) { return relu(matmul(a, b)) }"});
  CHECK(check_cases(cases) == "");
}
