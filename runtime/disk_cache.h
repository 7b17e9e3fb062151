// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, shared by all processes of a user. Entries are directories published
// by rename; whatever is odd about one is a miss. The compile service and `ingot cache` use it.
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

/// One entry, as `ingot cache list` and `verify` show it.
struct CacheEntry {
  std::string digest;
  std::string name;
  std::string arch;
  uint64_t bytes = 0;
  int64_t last_used = 0; ///< seconds since 1970
  std::string problem;   ///< empty: sound (verify only)
};

/// What a cache holds, as `ingot cache stats` shows it.
struct CacheStatistics {
  struct Share {
    size_t count = 0;
    uint64_t bytes = 0;
  };
  Share kernels, notes, aside;
  int64_t first_used = 0, last_used = 0; ///< of kernels, seconds since 1970; 0 without any
};

/// Holds one key's lock between processes; released when destroyed or when the process dies.
class CacheLock {
public:
  explicit CacheLock(int fd) : fd_(fd) {}
  CacheLock(CacheLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  CacheLock& operator=(CacheLock&&) = delete;
  ~CacheLock();

private:
  int fd_; ///< negative: no lock could be had, which costs a second compile at worst
};

/// Thread-safe. Failures never reach the caller of load and store: a cache that cannot be used is
/// an empty one. No descriptor is held between calls: each opens the folder, and checks it and its
/// parents, anew.
class DiskCache {
public:
  explicit DiskCache(CacheSettings settings);

  /// The folder that holds this version's files; empty when nothing is kept on disk.
  const std::string& folder() const { return folder_; }

  /// The output stored for `key`, every checksum verified; nullopt on a miss.
  std::optional<CompileOutput> load(const CacheKey& key);

  /// Writes the entry aside, syncs it and renames it in.
  void store(const CacheKey& key, const CompileOutput& output);

  /// Waits until no other process compiles `digest`.
  CacheLock lock(const std::string& digest);

  /// A short text that was kept under `digest` beside the kernels; nullopt without one.
  std::optional<std::string> load_note(const std::string& digest) const;
  /// Keeps it in place of what was there. Errors: ErrorCode::io_error, ErrorCode::unavailable where
  /// nothing is kept on disk.
  llvm::Error store_note(const std::string& digest, llvm::StringRef text);

  llvm::Expected<std::vector<CacheEntry>> list() const;   ///< least recently used first
  llvm::Expected<std::vector<CacheEntry>> verify() const; ///< list, with problems found
  /// The number of entries removed. Errors: io_error for an entry that cannot be removed.
  llvm::Expected<int64_t> clear();
  CacheStatistics statistics() const;
  const CacheSettings& settings() const { return settings_; }
  /// Removes what is old or beyond the bounds, least recently used first, and what dead processes
  /// left.
  void prune();

private:
  bool open_folder();
  std::optional<Folder> version() const;
  std::optional<Folder> part(const char* name) const;
  /// The same, made where it is missing.
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
