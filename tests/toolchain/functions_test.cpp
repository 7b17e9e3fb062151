// SPDX-License-Identifier: Apache-2.0
// Optimisations of functions that the compiler must not make, checked in the PTX that it writes.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/skip.h"
#include "tests/toolchain/local_memory.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

TEST_CASE("functions: the erf of half types is rounded by itself, so that 1 - 1 is 0") {
  Nvrtc nvrtc(NvrtcSearch::from_environment());
  if (auto path = nvrtc.path(); !path) INGOT_SKIP(take_error(path.takeError()).second);
  Sources sources;
  sources.add("graph g(x: f16[64]) { return gelu(x) }", "gelu", MatmulPrecision::highest, "a100");
  for (const auto& [source, name] : sources.names)
    for (const char* arch : {"sm_80", "sm_90"}) {
      auto output = nvrtc.compile({name + ".cu", source, arch, {}}, device_headers());
      REQUIRE(bool(output));
      CHECK(output->ptx.find("mul.rn.f32") != std::string::npos); // others may be contracted
    }
}
