// SPDX-License-Identifier: Apache-2.0
// Every device header is complete by itself, for every arch that kernels are made for.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;

TEST_CASE("device headers: each compiles alone and twice for every arch") {
  Nvrtc nvrtc(NvrtcSearch::from_environment());
  if (llvm::Expected<std::string> path = nvrtc.path(); !path)
    INGOT_SKIP(take_error(path.takeError()).second);
  for (const DeviceHeader& header : device_headers())
    for (const char* arch : {"sm_80", "sm_90", "sm_90a"}) {
      const std::string source = fmt::format("#include \"{0}\"\n#include \"{0}\"\n"
                                             "extern \"C\" __global__ void kernel() {{}}\n",
                                             header.name.str());
      auto output = nvrtc.compile({"alone.cu", source, arch, {}}, device_headers());
      CHECK_MESSAGE(bool(output), header.name.str(), " for ", std::string(arch), ": ",
                    output ? "" : take_error(output.takeError()).second);
      if (!output) llvm::consumeError(output.takeError());
    }
}
