// SPDX-License-Identifier: Apache-2.0
// See disk_cache.h. Layout below the folder: entries/<digest>/, notes/<digest>, locks/, aside/, and
// tmp/ for what is being written or removed.
#include "runtime/disk_cache.h"

#include "runtime/cache_entry.h"
#include "src/support/error.h"
#include "src/support/files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace ingot {

namespace fs = llvm::sys::fs;

namespace {

constexpr const char* kVersionFolder = "v1";
constexpr auto kLongestWait = std::chrono::seconds(120); // far beyond any compile
constexpr auto kPruneInterval = std::chrono::minutes(1);
constexpr auto kAbandonedAfter = std::chrono::hours(1);
constexpr size_t kMostAside = 8;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Names in a folder, sorted; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error, /*follow_symlinks=*/false), end;
       !error && it != end; it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

bool is_digest(llvm::StringRef name) {
  return name.size() == 64 && llvm::all_of(name, [](char c) { return llvm::isHexDigit(c); });
}

std::chrono::system_clock::duration age(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  auto changed = std::chrono::system_clock::from_time_t(info.st_mtime);
  return std::chrono::system_clock::now() - changed;
}

int64_t mtime_of(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? int64_t(info.st_mtime) : 0;
}

uint64_t bytes_in(const std::string& folder) {
  uint64_t bytes = 0;
  for (const std::string& name : names_in(folder)) {
    struct stat info = {};
    if (::lstat((folder + "/" + name).c_str(), &info) == 0) bytes += uint64_t(info.st_size);
  }
  return bytes;
}

void sync_folder(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

std::string unique_name(const std::string& stem) {
  static std::atomic<uint64_t> counter{0};
  auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("{}.{}.{:x}.{}", stem, ::getpid(), ticks, counter++);
}

} // namespace

CacheSettings CacheSettings::from_environment() {
  CacheSettings settings;
  if (std::string given = environment("INGOT_CACHE_DIR"); !given.empty()) {
    // The program may change its folder later.
    llvm::SmallString<256> absolute(given);
    if (!fs::make_absolute(absolute)) given = absolute.str().str();
    settings.folder = given;
    return settings;
  }
  // XDG: a relative path is to be ignored.
  if (std::string xdg = environment("XDG_CACHE_HOME"); llvm::sys::path::is_absolute(xdg))
    settings.folder = xdg + "/ingot";
  else if (std::string home = environment("HOME"); llvm::sys::path::is_absolute(home))
    settings.folder = home + "/.cache/ingot";
  return settings;
}

CacheLock::~CacheLock() {
  if (fd_ >= 0) ::close(fd_);
}

DiskCache::DiskCache(CacheSettings settings) : settings_(std::move(settings)) {
  if (!settings_.folder.empty() && open_folder()) folder_ = settings_.folder + "/" + kVersionFolder;
}

void DiskCache::warn(const std::string& message) {
  if (!warned_.exchange(true) && settings_.warn) settings_.warn(message);
}

bool DiskCache::open_folder() {
  const std::string& root = settings_.folder;
  const std::string version = root + "/" + kVersionFolder;
  constexpr fs::perms kOwnerOnly = fs::perms::owner_all;
  std::error_code error;
  for (const std::string& path : {root, version, version + "/entries", version + "/notes",
                                  version + "/locks", version + "/aside", version + "/tmp"}) {
    if (!settings_.creates && !fs::exists(path)) return false;
    error = fs::create_directories(path, /*IgnoreExisting=*/true, kOwnerOnly);
    FolderCheck check = check_private_folder(path);
    // A link may stand for the root itself; inside, everything is made by Ingot.
    if (path == root && fs::is_symlink_file(root)) {
      llvm::SmallString<256> real;
      if (!fs::real_path(root, real)) check = check_private_folder(real.str().str());
    }
    if (!check.problem.empty()) {
      warn(fmt::format("the cache folder '{}' is not used: {}", path, check.problem));
      return false;
    }
    if (error) break;
  }
  if (!error) return true;
  warn(fmt::format("the cache folder '{}' cannot be made: {}; kernels are kept in memory only",
                   version, error.message()));
  can_store_ = false;
  return fs::is_directory(version + "/entries");
}

std::string DiskCache::entry_path(const std::string& digest) const {
  return folder_ + "/entries/" + digest;
}

void DiskCache::remove_tree(const std::string& path) const {
  // Renamed first, so that no reader finds an entry with some files gone.
  std::string doomed = folder_ + "/tmp/" + unique_name("removed");
  const std::string& target = std::rename(path.c_str(), doomed.c_str()) == 0 ? doomed : path;
  fs::remove_directories(target, /*IgnoreErrors=*/true);
}

void DiskCache::move_aside(const std::string& digest, const std::string& problem) {
  std::string path = entry_path(digest);
  std::string aside = folder_ + "/aside/" + unique_name(digest);
  bool moved = std::rename(path.c_str(), aside.c_str()) == 0;
  // Another process that found the same damage may have moved it already.
  if (!moved && errno == ENOENT) return;
  warn(fmt::format("the cache entry '{}' is not used: {}; the kernel is compiled again{}", path,
                   problem, moved ? " and the entry moved to '" + aside + "'" : ""));
}

std::optional<CompileOutput> DiskCache::load(const CacheKey& key) {
  if (folder_.empty()) return std::nullopt;
  std::string digest = key.digest(), path = entry_path(digest);
  FolderCheck check = check_private_folder(path);
  if (!check.exists) return std::nullopt;
  std::string problem = check.problem;
  if (problem.empty()) {
    CacheKey stored;
    llvm::Expected<CompileOutput> output = read_entry(path, digest, stored);
    if (output) {
      ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // most recently used; may fail
      return std::move(*output);
    }
    problem = take_error(output.takeError()).second;
    // Pruned by another process between two reads: an ordinary miss.
    if (!check_private_folder(path).exists) return std::nullopt;
  }
  move_aside(digest, problem);
  return std::nullopt;
}

llvm::Error DiskCache::write_entry(const CacheKey& key, const std::string& digest,
                                   const CompileOutput& output) {
  std::string aside = folder_ + "/tmp/" + unique_name(digest);
  if (::mkdir(aside.c_str(), 0700) != 0)
    return make_error(ErrorCode::io_error, "cannot make '{}': {}", aside, std::strerror(errno));
  llvm::Error error = llvm::Error::success();
  for (const auto& [name, bytes] : entry_files(key, output))
    if (!error) error = write_file_synced(aside + "/" + name, bytes);
  if (!error) {
    sync_folder(aside);
    if (std::rename(aside.c_str(), entry_path(digest).c_str()) == 0) {
      sync_folder(folder_ + "/entries");
      return error;
    }
    int code = errno;
    // Somebody else published the same key first: theirs serves as well.
    if (code != EEXIST && code != ENOTEMPTY)
      error = make_error(ErrorCode::io_error, "cannot rename '{}': {}", aside, std::strerror(code));
  }
  fs::remove_directories(aside, /*IgnoreErrors=*/true);
  return error;
}

void DiskCache::store(const CacheKey& key, const CompileOutput& output) {
  if (folder_.empty() || !can_store_) return;
  if (llvm::Error error = write_entry(key, key.digest(), output)) {
    can_store_ = false;
    warn(fmt::format("the cache cannot be written and keeps kernels in memory only: {}",
                     take_error(std::move(error)).second));
    return;
  }
  std::string stamp = folder_ + "/pruned";
  if (mtime_of(stamp) != 0 && age(stamp) < kPruneInterval) return;
  llvm::consumeError(write_file_atomically(stamp, ""));
  prune();
}

CacheLock DiskCache::lock(const std::string& digest) {
  if (folder_.empty()) return CacheLock(-1);
  // A fixed set of files, so that none ever has to be removed; keys rarely share one.
  std::string path = folder_ + "/locks/" + digest.substr(0, 3);
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return CacheLock(-1);
  auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  auto pause = std::chrono::milliseconds(1);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    bool busy = errno == EWOULDBLOCK || errno == EINTR;
    // A stopped holder must not stop others for good; a file system may know no locks at all.
    if (!busy || std::chrono::steady_clock::now() > deadline) {
      ::close(fd);
      return CacheLock(-1);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
  return CacheLock(fd);
}

std::optional<std::string> DiskCache::load_note(const std::string& digest) const {
  constexpr uint64_t kMostBytes = 1 << 16;
  if (folder_.empty()) return std::nullopt;
  const std::string path = folder_ + "/notes/" + digest;
  if (!fs::is_regular_file(path)) return std::nullopt; // another kind may never end
  auto text = read_file(path, kMostBytes);
  if (text) return std::move(*text);
  llvm::consumeError(text.takeError());
  return std::nullopt;
}

llvm::Error DiskCache::store_note(const std::string& digest, llvm::StringRef text) {
  if (folder_.empty() || !can_store_)
    return make_error(ErrorCode::unavailable,
                      "nothing is kept on disk: name a folder that can be written in "
                      "INGOT_CACHE_DIR");
  return write_file_atomically(folder_ + "/notes/" + digest, text);
}

llvm::Expected<std::vector<CacheEntry>> DiskCache::list() const {
  std::vector<CacheEntry> entries;
  if (folder_.empty()) return entries;
  for (const std::string& digest : names_in(folder_ + "/entries")) {
    if (!is_digest(digest)) continue;
    CacheEntry entry;
    entry.digest = digest;
    std::string path = entry_path(digest);
    entry.bytes = bytes_in(path);
    entry.last_used = mtime_of(path);
    CacheKey key = describe_entry(path);
    entry.name = key.name;
    entry.arch = key.arch;
    entries.push_back(std::move(entry));
  }
  llvm::stable_sort(
      entries, [](const CacheEntry& a, const CacheEntry& b) { return a.last_used < b.last_used; });
  return entries;
}

llvm::Expected<std::vector<CacheEntry>> DiskCache::verify() const {
  llvm::Expected<std::vector<CacheEntry>> entries = list();
  if (!entries) return entries;
  for (CacheEntry& entry : *entries) {
    std::string path = entry_path(entry.digest);
    entry.problem = check_private_folder(path).problem;
    if (!entry.problem.empty()) continue;
    CacheKey key;
    llvm::Expected<CompileOutput> output = read_entry(path, entry.digest, key);
    if (!output) entry.problem = take_error(output.takeError()).second;
  }
  return entries;
}

llvm::Expected<int64_t> DiskCache::clear() {
  if (folder_.empty()) return 0;
  int64_t removed = 0;
  for (const std::string& name : names_in(folder_ + "/entries")) {
    remove_tree(folder_ + "/entries/" + name);
    if (fs::exists(folder_ + "/entries/" + name))
      return make_error(ErrorCode::io_error, "cannot remove '{}/entries/{}'", folder_, name);
    ++removed;
  }
  for (const char* kept : {"/notes/", "/aside/"})
    for (const std::string& name : names_in(folder_ + kept)) {
      const std::string path = folder_ + kept + name;
      if (fs::is_directory(path))
        remove_tree(path);
      else if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return make_error(ErrorCode::io_error, "cannot remove '{}'", path);
    }
  return removed;
}

void DiskCache::prune() {
  llvm::Expected<std::vector<CacheEntry>> entries = list();
  if (!entries) {
    llvm::consumeError(entries.takeError());
    return;
  }
  uint64_t total = 0;
  for (const CacheEntry& entry : *entries) total += entry.bytes;
  for (const CacheEntry& entry : *entries) {
    if (total <= settings_.most_bytes) break;
    remove_tree(entry_path(entry.digest));
    total -= entry.bytes;
  }
  std::vector<std::string> aside = names_in(folder_ + "/aside");
  llvm::stable_sort(aside, [&](const std::string& a, const std::string& b) {
    return mtime_of(folder_ + "/aside/" + a) < mtime_of(folder_ + "/aside/" + b);
  });
  for (size_t i = 0; i + kMostAside < aside.size(); ++i)
    remove_tree(folder_ + "/aside/" + aside[i]);
  for (const std::string& name : names_in(folder_ + "/tmp")) {
    std::string path = folder_ + "/tmp/" + name;
    if (age(path) > kAbandonedAfter) fs::remove_directories(path, /*IgnoreErrors=*/true);
  }
}

} // namespace ingot
