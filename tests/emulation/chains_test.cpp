// SPDX-License-Identifier: Apache-2.0
// The chains of tests/chains at reduced sizes that cut every tile, emulated. The sizes keep the
// properties that decide the plan at full size: segments wider than a tile, rows longer than a
// block holds, several tiles a row.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

Case chain(const std::string& name, const Replacements& replacements) {
  return {reduced_spec("tests/chains/" + name + ".ingot", replacements)};
}

/// A chain over x[1024, 8192] and w[8192, 8192], at [rows, k] and [columns, k].
Case wide_chain(const std::string& name, int rows, int columns, int k,
                Replacements replacements = {}) {
  replacements.insert(replacements.begin(), {{"[8192, 8192]", fmt::format("[{}, {}]", columns, k)},
                                             {"[1024, 8192]", fmt::format("[{}, {}]", rows, k)}});
  return chain(name, replacements);
}

/// Each case as it is, and again with NaN and infinities among its inputs.
std::string check_chains(std::vector<Case> cases) {
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    Case copy = cases[i];
    copy.depth = Case::Depth::results;
    copy.non_finite = true;
    cases.push_back(copy);
  }
  return check_cases(cases);
}

} // namespace

TEST_CASE("emulation of chains: products") {
  CHECK(check_chains({
            chain("1_square_matrix_multiplication", {{"a: f32[4096, 4096]", "a: f32[67, 45]"},
                                                     {"b: f32[4096, 4096]", "b: f32[45, 131]"}}),
            chain("3_batched_matrix_multiplication",
                  {{"[128, 512, 1024]", "[3, 35, 21]"}, {"[128, 1024, 2048]", "[3, 21, 53]"}}),
            chain("16_matmul_with_transposed_a",
                  {{"[8192, 2048]", "[41, 67]"}, {"[8192, 4096]", "[41, 133]"}}),
        }) == "");
}

TEST_CASE("emulation of chains: a linear layer and ops that stay inside its tile") {
  CHECK(check_chains({
            wide_chain("12_gemm_multiply_leakyrelu", 69, 131, 37, {{"8192", "131"}}),
            chain("37_matmul_swish_sum_groupnorm", {{"[32768, 1024]", "[133, 21]"},
                                                    {"[4096, 1024]", "[192, 21]"},
                                                    {"4096", "192"},
                                                    {"groups=64", "groups=3"}}),
            wide_chain("94_gemm_biasadd_hardtanh_mish_groupnorm", 67, 96, 35,
                       {{"8192", "96"}, {"groups=256", "groups=3"}}),
            wide_chain("95_matmul_add_swish_tanh_gelu_hardtanh", 71, 133, 19, {{"8192", "133"}}),
        }) == "");
}

TEST_CASE("emulation of chains: a linear layer and a reduction that its sums are pushed through") {
  CHECK(
      check_cases({
          wide_chain("14_gemm_divide_sum_scaling", 37, 91, 71),
          wide_chain("18_matmul_sum_max_avgpool_logsumexp_logsumexp", 35, 93, 67, {{"8192", "93"}}),
          wide_chain("98_matmul_avgpool_gelu_scale_max", 67, 2400, 33, {{"8192", "2400"}}),
      }) == "");
}

TEST_CASE("emulation of chains: a linear layer and its rows") {
  CHECK(
      check_cases({
          wide_chain("22_matmul_scale_residualadd_clamp_logsumexp_mish", 67, 301, 33,
                     {{"8192", "301"}}),
          wide_chain("28_bmm_instancenorm_sum_residualadd_multiply", 67, 301, 19,
                     {{"y: f32[67, 19]", "y: f32[67, 301]"},
                      {"1024", "67"},
                      {"(h), [67, 19]", "(h), [67, 301]"},
                      {"8192", "301"}}),
          wide_chain("30_gemm_groupnorm_hardtanh", 67, 602, 17,
                     {{"8192", "602"}, {"groups=16", "groups=2"}}),
          wide_chain("75_gemm_groupnorm_min_biasadd", 67, 208, 35,
                     {{"8192", "208"}, {"groups=512", "groups=13"}}),
          wide_chain("80_gemm_max_subtract_gelu", 67, 301, 21, {{"8192", "301"}}),
          wide_chain("99_matmul_gelu_softmax", 67, 301, 17, {{"8192", "301"}}),
          chain("56_matmul_sigmoid_sum",
                {{"[128, 32768]", "[67, 41]"}, {"[32768, 32768]", "[301, 41]"}, {"32768", "301"}}),
          chain("45_gemm_sigmoid_logsumexp", {{"[16384, 2048]", "[131, 21]"},
                                              {"[4096, 2048]", "[69, 21]"},
                                              {"[1024, 4096]", "[133, 69]"},
                                              {"4096", "69"},
                                              {"1024", "133"}}),
      }) == "");
}

TEST_CASE("emulation of chains: a linear layer and its columns") {
  CHECK(check_cases({
            chain("39_gemm_scale_batchnorm", {{"x: f32[16384, 4096]", "x: f32[261, 35]"},
                                              {"w: f32[4096, 4096]", "w: f32[131, 35]"},
                                              {"4096", "131"}}),
            wide_chain("84_gemm_batchnorm_scaling_softmax", 261, 133, 19, {{"8192", "133"}}),
        }) == "");
}

TEST_CASE("emulation of chains: without a product") {
  CHECK(check_chains({
            chain("23_softmax", {{"[4096, 393216]", "[3, 33001]"}}),
            chain("26_gelu", {{"[4096, 393216]", "[5, 1031]"}}),
            chain("35_groupnorm",
                  {{"[112, 64, 512, 512]", "[2, 6, 129, 131]"}, {"64", "6"}, {"=8", "=3"}}),
            chain("36_rmsnorm", {{"[112, 64, 512, 512]", "[2, 65, 3, 11]"}}),
            chain("40_layernorm", {{"[16, 64, 256, 256]", "[2, 3, 101, 113]"},
                                   {"[64, 256, 256]", "[3, 101, 113]"}}),
            chain("47_sum_reduction_over_a_dimension", {{"[128, 4096, 4095]", "[3, 130, 45]"}}),
            chain("94_mseloss", {{"[32768, 32768]", "[181, 183]"}}),
        }) == "");
}
