// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, shared by all processes of a user. Entries are directories that a
// rename publishes. A damaged entry is a miss. The compile service and `ingot cache` use it.
#pragma once

#include "runtime/cache_key.h"
#include "runtime/cache_settings.h"
#include "runtime/kernel_compiler.h"
#include "src/support/folder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ingot {

/// One entry in the output of `ingot cache list` and `verify`.
struct CacheEntry {
  std::string digest;
  std::string name;
  std::string arch;
  uint64_t bytes = 0;
  int64_t last_used = 0; ///< seconds since 1970
  std::string problem;   ///< empty: sound (verify only)
};

/// The totals of `ingot cache stats`.
struct CacheStatistics {
  struct Share {
    size_t count = 0;
    uint64_t bytes = 0;
  };
  Share kernels, notes, aside;
  int64_t first_used = 0, last_used = 0; ///< uses of any kernel, seconds since 1970; 0: none
};

/// Holds the lock of one key across processes. The destructor or the death of the process releases
/// it. If it is not open, two processes may compile the same key.
using CacheLock = Descriptor;

/// Thread-safe. Failures never reach the callers of load and store: a cache that cannot be used
/// acts as an empty one. No descriptor stays open between calls. Each call opens the folder and
/// checks it and its parents again.
class DiskCache {
public:
  explicit DiskCache(CacheSettings settings);

  /// The folder of this version's files; empty if there is no disk cache.
  const std::string& folder() const { return folder_; }

  /// The output stored for `key`, with all checksums verified; nullopt on a miss.
  std::optional<CompileOutput> load(const CacheKey& key);

  /// Writes the entry to a temporary folder, syncs it and renames it into place.
  void store(const CacheKey& key, const CompileOutput& output);

  /// Waits until no other process compiles `digest`.
  CacheLock lock(const std::string& digest);

  /// A short text that was stored under `digest` beside the kernels; nullopt if there is none.
  std::optional<std::string> load_note(const std::string& digest) const;
  /// Stores a text and replaces the former one. Errors: ErrorCode::io_error; ErrorCode::unavailable
  /// if there is no disk cache.
  llvm::Error store_note(const std::string& digest, llvm::StringRef text);

  llvm::Expected<std::vector<CacheEntry>> list() const;   ///< least recently used first
  llvm::Expected<std::vector<CacheEntry>> verify() const; ///< list with problems
  /// Removes all entries and returns their number. Errors: io_error if an entry cannot be removed.
  llvm::Expected<int64_t> clear();
  CacheStatistics statistics() const;
  const CacheSettings& settings() const { return settings_; }
  /// Removes entries that are too old or exceed the limits, least recently used first, and
  /// leftovers of dead processes.
  void prune();

private:
  bool open_folder();
  std::optional<Folder> version() const;
  std::optional<Folder> part(const char* name) const;
  /// Opens a folder inside the version's folder, and makes it if it is missing.
  std::optional<Folder> open_part(const char* name);
  llvm::Error publish(const std::string& digest, llvm::ArrayRef<std::string> files);
  void move_aside(const Folder& entries, const std::string& digest, const std::string& problem);
  void stop_storing(const std::string& reason);
  void prune_when_due(uint64_t stored_bytes);
  void warn(const std::string& message) const;

  CacheSettings settings_;
  std::string folder_;
  mutable std::atomic<bool> warned_{false};
  std::atomic<bool> can_store_{true};
  std::atomic<uint64_t> stored_bytes_{0}; // since this process pruned
};

} // namespace ingot
