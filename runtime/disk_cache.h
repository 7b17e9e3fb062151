// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, shared by all processes of a user. Entries are directories published
// by rename; whatever is odd about one is a miss. The compile service and `ingot cache` use it.
#pragma once

#include "runtime/cache_key.h"
#include "runtime/kernel_compiler.h"

#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ingot {

struct CacheSettings {
  std::string folder; ///< empty: nothing is kept on disk
  uint64_t most_bytes = uint64_t(2) << 30;
  /// Receives at most one message in the life of a DiskCache, from any thread. May be empty.
  std::function<void(const std::string&)> warn;
  bool creates = true; ///< the folder, where it is not there yet

  /// The folder is INGOT_CACHE_DIR, $XDG_CACHE_HOME/ingot or ~/.cache/ingot; empty without any.
  static CacheSettings from_environment();
};

/// One entry, as `ingot cache list` and `verify` show it.
struct CacheEntry {
  std::string digest;
  std::string name;
  std::string arch;
  uint64_t bytes = 0;
  int64_t last_used = 0; ///< seconds since 1970
  std::string problem;   ///< empty: sound (verify only)
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
/// an empty one.
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
  llvm::Expected<int64_t> clear();                        ///< the number of entries removed
  /// Removes least recently used entries until the bound holds, and what dead processes left.
  void prune();

private:
  std::string entry_path(const std::string& digest) const;
  bool open_folder();
  llvm::Error write_entry(const CacheKey& key, const std::string& digest,
                          const CompileOutput& output);
  void move_aside(const std::string& digest, const std::string& problem);
  void remove_tree(const std::string& path) const;
  void warn(const std::string& message);

  CacheSettings settings_;
  std::string folder_;
  std::atomic<bool> warned_{false};
  std::atomic<bool> can_store_{true};
};

} // namespace ingot
