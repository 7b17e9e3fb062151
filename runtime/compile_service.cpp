// SPDX-License-Identifier: Apache-2.0
// See compile_service.h.
#include "runtime/compile_service.h"

#include "codegen/program/include_closure.h"
#include "codegen/program/program.h"
#include "runtime/cache_key.h"
#include "runtime/nvrtc.h"
#include "src/support/error.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace ingot {

using KernelResult = llvm::Expected<std::shared_ptr<const CompiledKernel>>;

/// The failure of a compile that ran out of memory. A copy of it needs no memory.
const std::pair<ErrorCode, const char*> kOutOfMemory = {ErrorCode::out_of_memory, "out of memory"};

/// A compile that one thread runs while others wait for it.
struct CompileService::Flight {
  std::condition_variable landed;
  bool done = false;
  std::shared_ptr<const CompiledKernel> kernel;             ///< null if the compile failed
  std::pair<ErrorCode, std::string> failure = kOutOfMemory; ///< the failure if none other is known

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
  options.compiler = std::make_shared<Nvrtc>(NvrtcSearch::from_environment());
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
    // Another process may have compiled this key while this one waited for the lock.
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

  // The flight ends even if memory runs out. Otherwise other threads would wait for ever.
  auto land = llvm::make_scope_exit([&] {
    std::lock_guard lock(mutex_);
    flight->done = true;
    flights_.erase(key);
    flight->landed.notify_all();
  });
  llvm::Expected<CompileOutput> output = find_or_compile(request, *headers, fields, key);
  if (!output) {
    flight->failure = take_error(output.takeError());
    return flight->result();
  }
  auto kernel = std::make_shared<const CompiledKernel>(CompiledKernel{key, std::move(*output)});
  std::lock_guard lock(mutex_);
  finished_[key] = kernel;
  flight->kernel = kernel;
  return kernel;
}

namespace {

/// Runs `action`, which must not throw, for each number below `count`. It uses this thread, and
/// further threads up to the number of cores or as many as the system grants.
template <typename Action> void for_each_number(size_t count, unsigned threads, Action action) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) action(i);
  };
  const size_t most =
      std::min<size_t>(count, llvm::hardware_concurrency(threads).compute_thread_count());
  std::vector<std::thread> others;
  others.reserve(most);
  try {
    while (others.size() + 1 < most) others.emplace_back(work);
  } catch (const std::system_error&) { // no more threads: the existing ones do all the work
  } catch (const std::bad_alloc&) {
  }
  work();
  for (std::thread& other : others) other.join();
}

} // namespace

llvm::Expected<std::vector<std::shared_ptr<const CompiledKernel>>>
CompileService::compile_all(llvm::ArrayRef<CompileRequest> requests) {
  std::vector<std::shared_ptr<const CompiledKernel>> kernels(requests.size());
  std::vector<std::pair<ErrorCode, std::string>> failures(requests.size());
  auto compile_one = [&](size_t i) {
    try {
      if (KernelResult kernel = compile(requests[i]))
        kernels[i] = *kernel;
      else
        failures[i] = take_error(kernel.takeError());
    } catch (const std::bad_alloc&) { // no exception may leave a thread
      failures[i] = kOutOfMemory;
    } catch (const std::length_error&) { // larger than any memory
      failures[i] = kOutOfMemory;
    }
  };
  for_each_number(requests.size(), options_.num_threads, compile_one);
  for (size_t i = 0; i < requests.size(); ++i)
    if (!kernels[i]) return make_error(failures[i].first, "{}", failures[i].second);
  return kernels;
}

llvm::Expected<std::vector<CodeImage>> CompileService::images(llvm::ArrayRef<VariantRef> variants,
                                                              const std::string& arch) {
  std::vector<CompileRequest> requests;
  for (const auto& [kernel, variant] : variants)
    requests.push_back({variant->entry + ".cu", variant_source(*kernel, *variant), arch, {}});
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
