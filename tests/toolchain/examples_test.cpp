// SPDX-License-Identifier: Apache-2.0
// The kernels of the examples compile to machine code that uses no local memory. Covered: every
// example in every precision for sm_80, but `pedantic`, whose kernels share their form with those
// of `highest`, for one matmul only; for sm_90 one example per precision. Equal kernels once.
#include "ir/text/parser.h"
#include "runtime/compile_service.h"
#include "runtime/nvrtc.h"
#include "src/compiler.h"
#include "src/support/error.h"
#include "tests/support/cubin.h"
#include "tests/support/skip.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"

#include <doctest/doctest.h>

#include <map>
#include <mutex>

using namespace ingot;
using P = MatmulPrecision;

namespace {

const char* const k22 = "22_matmul_scale_residualadd_clamp_logsumexp_mish";
const char* const k37 = "37_matmul_swish_sum_groupnorm";
const char* const k94 = "94_gemm_biasadd_hardtanh_mish_groupnorm";
const char* const k99 = "99_matmul_gelu_softmax";
const char* const kProjection = "normalized_projection";

/// Sources by what they are called in a failure; equal ones are kept once.
struct Sources {
  std::map<std::string, std::string> names;

  void add(const std::string& example, P precision, const std::string& device) {
    const std::string path = std::string(INGOT_SOURCE_DIR) + "/examples/" + example + ".ingot";
    auto file = llvm::MemoryBuffer::getFile(path);
    REQUIRE(bool(file));
    CompileOptions options;
    options.device = device;
    options.precision = precision;
    auto compilation =
        compile_graph(llvm::cantFail(parse_graph((*file)->getBuffer(), path)), options);
    REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
    for (const Kernel& kernel : compilation->module.kernels)
      for (const KernelVariant& variant : kernel.variants)
        names.try_emplace(variant_source(variant),
                          fmt::format("{} in {}", variant.entry, spelling(precision).str()));
  }
};

/// Compiles all sources for `arch` and checks that none uses local memory, by ptxas's word and by
/// the frame that the machine code asks for.
void check_local_memory(const Sources& sources, const std::string& arch) {
  auto nvrtc = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
  if (auto path = nvrtc->path(); !path) INGOT_SKIP(take_error(path.takeError()).second);
  std::mutex mutex;
  std::string text;
  auto report = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    text += line + "\n";
  };
  llvm::DefaultThreadPool pool;
  for (const auto& [source, name] : sources.names)
    pool.async([&, &source = source, &name = name] {
      auto output = nvrtc->compile({name + ".cu", source, arch, {}}, device_headers());
      if (!output) return report(name + ": " + take_error(output.takeError()).second);
      if (output->entries.size() != 1) report(name + ": expected one entry");
      for (const EntryResources& entry : output->entries)
        if (entry.stack_bytes + entry.spill_store_bytes + entry.spill_load_bytes > 0)
          report(fmt::format("{}: {} bytes of stack, {} spilled", name, entry.stack_bytes,
                             entry.spill_store_bytes));
      const std::vector<uint32_t> frames = testing::cubin_frames(output->cubin);
      if (frames.empty()) report(name + ": the machine code states no frame");
      for (uint32_t bytes : frames)
        if (bytes > 0) report(fmt::format("{}: a frame of {} bytes", name, bytes));
    });
  pool.wait();
  CHECK(text == "");
}

} // namespace

TEST_CASE("examples: no kernel in full precision uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99, kProjection, "94_half", "cumsum", "elementwise",
                              "layer_norm", "softmax", "swiglu"})
    sources.add(example, P::highest, "a100");
  sources.add(k37, P::pedantic, "a100");
  check_local_memory(sources, "sm_80");
}

TEST_CASE("examples: no kernel in reduced precision uses local memory") {
  Sources sources;
  for (const char* example : {k22, k37, k94, k99})
    for (P precision : {P::high, P::medium}) sources.add(example, precision, "a100");
  check_local_memory(sources, "sm_80");
}

TEST_CASE("examples: no kernel for sm_90 uses local memory") {
  Sources sources;
  sources.add(k22, P::medium, "h200");
  sources.add(k94, P::high, "h200");
  sources.add(k99, P::highest, "h200");
  sources.add(kProjection, P::high, "h200");
  sources.add("swiglu", P::highest, "h200");
  sources.add("94_half", P::highest, "h200");
  check_local_memory(sources, "sm_90");
}
