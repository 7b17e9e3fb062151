// SPDX-License-Identifier: Apache-2.0
// The mainloops keep tiles, fragments and operands in flight in registers: nothing in local memory.
#include "codegen/program/device_headers.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/matmul_kernels.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

/// Compiles the kernels and checks that no entry uses local memory.
void check_registers_suffice(llvm::ArrayRef<MatmulKernel> kernels, const std::string& arch) {
  Nvrtc nvrtc(NvrtcSearch::from_environment());
  if (llvm::Expected<std::string> path = nvrtc.path(); !path)
    INGOT_SKIP(take_error(path.takeError()).second);
  auto output = nvrtc.compile({"matmul.cu", matmul_source(kernels), arch, {}}, device_headers());
  if (!output) FAIL_CHECK(take_error(output.takeError()).second);
  if (!output) return;
  CHECK(output->entries.size() == kernels.size());
  for (const EntryResources& entry : output->entries) {
    CAPTURE(entry.entry);
    CHECK(entry.stack_bytes == 0);
    CHECK(entry.spill_store_bytes == 0);
    CHECK(entry.spill_load_bytes == 0);
  }
}

std::vector<MatmulKernel> scheduled_kernels(const std::string& prefix) {
  std::vector<MatmulKernel> kernels;
  for (const MatmulKernel& tile : scheduled_tiles()) {
    if (tile.name.rfind(prefix, 0) != 0) continue;
    for (const MatmulKernel& kernel : with_both_majors(tile)) kernels.push_back(kernel);
  }
  return kernels;
}

} // namespace

TEST_CASE("mainloops: direct 16-bit operands need no local memory on sm_80") {
  check_registers_suffice(scheduled_kernels("bf16"), "sm_80");
}

TEST_CASE("mainloops: direct tf32 operands need no local memory on sm_80") {
  check_registers_suffice(scheduled_kernels("tf32"), "sm_80");
}

TEST_CASE("mainloops: operands copied to FMAs need no local memory") {
  for (const char* arch : {"sm_80", "sm_90"})
    check_registers_suffice(scheduled_kernels("fma"), arch);
}

TEST_CASE("mainloops: the scheduled tiles need no local memory on sm_90") {
  check_registers_suffice(scheduled_tiles(), "sm_90");
}

TEST_CASE("mainloops: staged operands need no local memory") {
  const MatmulOperand f32_by_4 = {"f32", "k", "staged", 4};
  const MatmulOperand f32_by_1 = {"f32", "k", "staged", 1};
  const MatmulOperand bf16_by_1 = {"bf16", "k", "staged", 1};
  std::vector<MatmulKernel> kernels = {
      {"x_staged", "bf16", 128, 128, 32, 64, 32, 3, f32_by_4, {"bf16", "k", "direct", 8}},
      {"both_staged", "bf16", 128, 128, 32, 64, 32, 3, f32_by_4, f32_by_4},
  };
  for (const MatmulKernel& base : {
           MatmulKernel{"f32_large", "bf16", 128, 128, 32, 64, 32, 4, f32_by_1, f32_by_1},
           MatmulKernel{"bf16_large", "bf16", 128, 128, 32, 64, 32, 4, bf16_by_1, bf16_by_1},
           MatmulKernel{"tf32_large", "tf32", 128, 128, 16, 64, 32, 4, f32_by_1, f32_by_1},
           MatmulKernel{"f32_by_1", "bf16", 64, 64, 32, 32, 32, 3, f32_by_1, f32_by_1},
           MatmulKernel{"bf16_by_1", "bf16", 64, 64, 32, 32, 32, 3, bf16_by_1, bf16_by_1},
           MatmulKernel{"tf32_by_1", "tf32", 64, 64, 16, 32, 32, 3, f32_by_1, f32_by_1},
           MatmulKernel{"simt_by_1", "simt", 128, 128, 16, 0, 0, 0, f32_by_1, f32_by_1},
           MatmulKernel{"simt_by_4", "simt", 128, 128, 16, 0, 0, 0, f32_by_4, f32_by_4},
           MatmulKernel{"simt_small", "simt", 64, 64, 16, 0, 0, 0, f32_by_1, f32_by_4},
       }) {
    for (const MatmulKernel& kernel : with_both_majors(base)) kernels.push_back(kernel);
  }
  for (const auto& [m, n] : {std::pair(128, 64), {64, 128}, {32, 256}}) {
    MatmulKernel promoted = {"", "simt", m, n, 16, 0, 0, 0, f32_by_1, f32_by_4, 32};
    promoted.name = fmt::format("promoted_{}x{}", m, n);
    for (const MatmulKernel& kernel : with_both_majors(promoted)) kernels.push_back(kernel);
  }
  check_registers_suffice(kernels, "sm_80");
}
