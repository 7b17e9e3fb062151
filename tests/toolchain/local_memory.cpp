// SPDX-License-Identifier: Apache-2.0
// See local_memory.h.
#include "tests/toolchain/local_memory.h"

#include "ir/text/parser.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"
#include "tests/support/cubin.h"
#include "tests/support/shared_memory.h"
#include "tests/support/skip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <doctest/doctest.h>

#include <mutex>

namespace ingot::testing {

std::vector<KernelVariant> Sources::add(llvm::StringRef spec, llvm::StringRef name,
                                        MatmulPrecision precision, const std::string& device,
                                        const std::string& target,
                                        const LeastProducts& least_products) {
  CompileOptions options;
  options.device = device;
  options.target = target;
  options.least_products = least_products;
  options.precision = precision;
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, name)), options);
  REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
  std::vector<KernelVariant> variants;
  for (const KernelCode& kernel : compilation->module.kernels)
    for (const auto& [v, variant] : llvm::enumerate(kernel.variants)) {
      variants.push_back(variant);
      names.try_emplace(variant_source(kernel, variant) + shared_memory_assertion(kernel, v),
                        fmt::format("{} in {}", variant.entry, spelling(precision).str()));
    }
  return variants;
}

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
      // Such as "wgmma.mma_async instructions are serialized" and "warpgroup.wait is injected".
      for (const char* word : {"wgmma", "warpgroup"})
        if (llvm::StringRef(output->log).contains(word)) report(name + ": " + output->log);
      const std::vector<uint32_t> frames = cubin_frames(output->cubin);
      if (frames.empty()) report(name + ": the machine code states no frame");
      for (uint32_t bytes : frames)
        if (bytes > 0) report(fmt::format("{}: a frame of {} bytes", name, bytes));
    });
  pool.wait();
  CHECK(text == "");
}

} // namespace ingot::testing
