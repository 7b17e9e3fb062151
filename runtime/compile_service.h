// SPDX-License-Identifier: Apache-2.0
// Compiles translation units to machine code. It looks in memory, then on disk, then calls NVRTC.
// Each key is compiled once, however many threads and processes ask. Executables and the command
// line use it.
#pragma once

#include "runtime/code_provider.h"
#include "runtime/disk_cache.h"
#include "runtime/kernel_compiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ingot {

/// The result of one compile. Immutable and shared.
struct CompiledKernel {
  std::string key; ///< digest of every input of the compile
  CompileOutput output;
};

/// Counters since the service was created.
struct CompileStatistics {
  int64_t memory_hits = 0;
  int64_t disk_hits = 0;
  int64_t compiles = 0;
};

class CompileService final : public CodeProvider {
public:
  struct Options {
    llvm::ArrayRef<DeviceHeader> headers = device_headers();
    std::shared_ptr<KernelCompiler> compiler = nullptr; ///< null: NVRTC from the environment
    std::shared_ptr<DiskCache> cache = nullptr;         ///< null: memory only
    unsigned num_threads = 0;                           ///< for compile_all; 0: all cores
  };

  /// NVRTC and the disk cache from the environment. `warn` receives at most one message, about a
  /// cache that cannot be used.
  static Options options_from_environment(std::function<void(const std::string&)> warn);

  explicit CompileService(Options options);
  ~CompileService() override;

  /// Thread-safe.
  llvm::Expected<std::shared_ptr<const CompiledKernel>> compile(const CompileRequest& request);

  /// Compiles in parallel. Results are in the order of the requests. Returns the first error.
  llvm::Expected<std::vector<std::shared_ptr<const CompiledKernel>>>
  compile_all(llvm::ArrayRef<CompileRequest> requests);

  /// Runs compile_all on the sources of the variants and returns one image for each.
  llvm::Expected<std::vector<CodeImage>> images(llvm::ArrayRef<VariantRef> variants,
                                                const std::string& arch) override;

  CompileStatistics statistics() const;

private:
  struct Flight;

  llvm::Expected<CompileOutput> find_or_compile(const CompileRequest& request,
                                                llvm::ArrayRef<DeviceHeader> headers,
                                                const CacheKey& key, const std::string& digest);

  Options options_;
  mutable std::mutex mutex_;
  CompileStatistics statistics_;
  llvm::StringMap<std::shared_ptr<const CompiledKernel>> finished_;
  llvm::StringMap<std::shared_ptr<Flight>> flights_;
};

} // namespace ingot
