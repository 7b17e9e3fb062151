// SPDX-License-Identifier: Apache-2.0
#include "src/support/gpu_arch.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("gpu arch: names of architectures, and other texts") {
  CHECK(arch_of("sm_80").capability == ComputeCapability{8, 0});
  CHECK(arch_of("sm_90a").capability == ComputeCapability{9, 0});
  CHECK(arch_of("sm_120").capability == ComputeCapability{12, 0});
  CHECK(parse_arch("sm_90a")->is_exact);
  CHECK_FALSE(parse_arch("sm_90")->is_exact);
  for (const char* other : {"", "80", "sm_", "sm_a", "sm_-1", "sm_80b", "sm_99999", "compute_80"})
    CHECK_FALSE(parse_arch(other));
}
