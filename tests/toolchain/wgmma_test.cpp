// SPDX-License-Identifier: Apache-2.0
// The kernels of sm_90a keep their sums in registers, and ptxas leaves their products asynchronous.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/skip.h"
#include "tests/support/wgmma_kernels.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::testing;

TEST_CASE("wgmma: products of halves need no local memory and are not serialised") {
  Nvrtc nvrtc(NvrtcSearch::from_environment());
  if (llvm::Expected<std::string> path = nvrtc.path(); !path)
    INGOT_SKIP(take_error(path.takeError()).second);
  for (const WgmmaProduct& product :
       {WgmmaProduct{1024, 8192, 8192}, WgmmaProduct{1024, 8192, 8192, 3, 0},
        WgmmaProduct{1000, 8191, 1000, 2, 2048}}) {
    std::string source;
    for (const std::string& header : wgmma_includes())
      source += fmt::format("#include \"{}\"\n", header);
    source += fmt::format("using namespace ingot;\nnamespace halving_kernel {{{}}}\n"
                          "namespace product_kernel {{{}}}\n",
                          halving_text("halve", product.m, product.k), product_text(product));
    auto output = nvrtc.compile({"product.cu", source, "sm_90a", {}}, device_headers());
    if (!output) FAIL(take_error(output.takeError()).second);
    CHECK(output->entries.size() == 2);
    for (const EntryResources& entry : output->entries) {
      CAPTURE(entry.entry);
      CHECK(entry.stack_bytes == 0);
    }
    // Remarks such as "wgmma.mma_async instructions are serialized" and "warpgroup.wait is
    // injected".
    CHECK_MESSAGE(output->log.find("wgmma") == std::string::npos, output->log);
    CHECK_MESSAGE(output->log.find("warpgroup") == std::string::npos, output->log);
  }
}
