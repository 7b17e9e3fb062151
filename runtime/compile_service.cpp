// SPDX-License-Identifier: Apache-2.0
// See compile_service.h.
#include "runtime/compile_service.h"

#include "codegen/include_closure.h"
#include "codegen/program.h"
#include "runtime/cache_key.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"

#include "llvm/Support/ThreadPool.h"

#include <condition_variable>

namespace ingot {

using KernelResult = llvm::Expected<std::shared_ptr<const CompiledKernel>>;

/// A compile that one thread does and others wait for.
struct CompileService::Flight {
  std::condition_variable landed;
  bool done = false;
  std::shared_ptr<const CompiledKernel> kernel; ///< null when it failed
  std::pair<ErrorCode, std::string> failure;

  KernelResult result() const {
    if (kernel) return kernel;
    return make_error(failure.first, "{}", failure.second);
  }
};

CompileService::CompileService(Options options) : options_(std::move(options)) {
  if (!options_.compiler)
    options_.compiler = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
}

CompileService::~CompileService() = default;

CompileService::Options
CompileService::options_from_environment(std::function<void(const std::string&)> warn) {
  CacheSettings settings = CacheSettings::from_environment();
  settings.warn = std::move(warn);
  Options options;
  options.cache = std::make_shared<DiskCache>(std::move(settings));
  options.compiler =
      std::make_shared<Nvrtc>(NvrtcSearch::from_environment(), options.cache->folder());
  return options;
}

llvm::Expected<CompileOutput> CompileService::find_or_compile(const CompileRequest& request,
                                                              llvm::ArrayRef<DeviceHeader> headers,
                                                              const CacheKey& key,
                                                              const std::string& digest) {
  DiskCache* cache = options_.cache.get();
  auto count = [&](int64_t CompileStatistics::* field) {
    std::lock_guard lock(mutex_);
    ++(statistics_.*field);
  };
  std::optional<CacheLock> lock;
  if (cache) {
    std::optional<CompileOutput> stored = cache->load(key);
    // Another process may have compiled this key while the lock was waited for.
    if (!stored) {
      lock.emplace(cache->lock(digest));
      stored = cache->load(key);
    }
    if (stored) {
      count(&CompileStatistics::disk_hits);
      return std::move(*stored);
    }
  }
  count(&CompileStatistics::compiles);
  llvm::Expected<CompileOutput> output = options_.compiler->compile(request, headers);
  if (output && cache) cache->store(key, *output);
  return output;
}

KernelResult CompileService::compile(const CompileRequest& request) {
  llvm::Expected<std::vector<DeviceHeader>> headers =
      included_headers(request.name, request.source, options_.headers);
  if (!headers) return headers.takeError();
  llvm::Expected<std::string> identity = options_.compiler->identity();
  if (!identity) return identity.takeError();
  CacheKey fields = make_cache_key(request, *headers, *identity);
  std::string key = fields.digest();

  std::shared_ptr<Flight> flight;
  {
    std::unique_lock lock(mutex_);
    if (auto found = finished_.find(key); found != finished_.end()) {
      ++statistics_.memory_hits;
      return found->second;
    }
    if (auto found = flights_.find(key); found != flights_.end()) {
      flight = found->second;
      flight->landed.wait(lock, [&] { return flight->done; });
      if (flight->kernel) ++statistics_.memory_hits;
      return flight->result();
    }
    flight = std::make_shared<Flight>();
    flights_[key] = flight;
  }

  llvm::Expected<CompileOutput> output = find_or_compile(request, *headers, fields, key);
  std::lock_guard lock(mutex_);
  if (output) {
    flight->kernel = std::make_shared<CompiledKernel>(CompiledKernel{key, std::move(*output)});
    finished_[key] = flight->kernel;
  } else {
    flight->failure = take_error(output.takeError());
  }
  flight->done = true;
  flights_.erase(key);
  flight->landed.notify_all();
  return flight->result();
}

llvm::Expected<std::vector<std::shared_ptr<const CompiledKernel>>>
CompileService::compile_all(llvm::ArrayRef<CompileRequest> requests) {
  std::vector<std::shared_ptr<const CompiledKernel>> kernels(requests.size());
  std::vector<std::pair<ErrorCode, std::string>> failures(requests.size());
  auto compile_one = [&](size_t i) {
    if (KernelResult kernel = compile(requests[i]))
      kernels[i] = *kernel;
    else
      failures[i] = take_error(kernel.takeError());
  };
  if (requests.size() == 1) {
    compile_one(0);
  } else if (!requests.empty()) {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options_.num_threads));
    for (size_t i = 0; i < requests.size(); ++i) pool.async(compile_one, i);
    pool.wait();
  }
  for (size_t i = 0; i < requests.size(); ++i)
    if (!kernels[i]) return make_error(failures[i].first, "{}", failures[i].second);
  return kernels;
}

llvm::Expected<std::vector<CodeImage>>
CompileService::images(llvm::ArrayRef<const KernelVariant*> variants, const std::string& arch) {
  std::vector<CompileRequest> requests;
  for (const KernelVariant* variant : variants)
    requests.push_back({variant->entry + ".cu", variant_source(*variant), arch, {}});
  auto kernels = compile_all(requests);
  if (!kernels) return kernels.takeError();
  std::vector<CodeImage> images;
  for (const auto& kernel : *kernels) {
    std::shared_ptr<const std::string> bytes(kernel, &kernel->output.cubin);
    images.push_back({std::move(bytes), ""});
  }
  return images;
}

CompileStatistics CompileService::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

} // namespace ingot
