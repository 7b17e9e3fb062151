// SPDX-License-Identifier: Apache-2.0
// The graphs of examples/ at reduced sizes, emulated.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot::emulation;

TEST_CASE("emulation: linear, bias, hardtanh, mish, group norm") {
  CHECK(check_cases({
            {reduced_example("94_gemm_biasadd_hardtanh_mish_groupnorm.ingot",
                             {{"f32[1024, 8192]", "f32[70, 40]"},
                              {"f32[8192, 8192]", "f32[96, 40]"},
                              {"8192", "96"},
                              {"groups=256", "groups=3"}})},
        }) == "");
}
