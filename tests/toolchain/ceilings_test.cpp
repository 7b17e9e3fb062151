// SPDX-License-Identifier: Apache-2.0
// The kernels that measure a GPU's maxima compile, and multiply in registers.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/reports/bench_ceilings.h"
#include "src/support/error.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("ceilings: every unit's kernel compiles for every arch, without local memory") {
  Nvrtc nvrtc(NvrtcSearch::from_environment());
  if (auto path = nvrtc.path(); !path) INGOT_SKIP(take_error(path.takeError()).second);
  for (const char* arch : {"sm_80", "sm_90"})
    for (ComputeType compute :
         {ComputeType::f32, ComputeType::f16, ComputeType::bf16, ComputeType::tf32,
          ComputeType::f16x3, ComputeType::f16x1, ComputeType::bf16x3}) {
      CAPTURE(arch);
      CAPTURE(unit_name(compute));
      auto output =
          nvrtc.compile({"ceiling.cu", ceiling_source(compute), arch, {}}, device_headers());
      REQUIRE_MESSAGE(bool(output), take_error(output.takeError()).second);
      REQUIRE(output->entries.size() == 1);
      CHECK(output->entries[0].stack_bytes == 0);
      CHECK(output->entries[0].registers >= 64);
    }
}
