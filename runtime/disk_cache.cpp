// SPDX-License-Identifier: Apache-2.0
// See disk_cache.h. The folder contains entries/<digest>/, notes/<digest>, locks/, aside/ for
// damaged entries, and tmp/ for entries that are being written or removed.
#include "runtime/disk_cache.h"

#include "runtime/cache_entry.h"
#include "runtime/cache_pruning.h"
#include "src/support/error.h"
#include "src/support/trusted_path.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace ingot {

namespace {

constexpr const char* kVersionFolder = "v1";
constexpr const char* kParts[] = {"entries", "notes", "locks", "aside", "tmp"};
constexpr auto kLongestWait = std::chrono::seconds(120); // far beyond any compile
constexpr int64_t kPruneInterval = 60;                   // seconds
constexpr uint64_t kMostNoteBytes = 1 << 20;

bool is_digest(llvm::StringRef name) {
  return name.size() == 64 && llvm::all_of(name, [](char c) { return llvm::isHexDigit(c); });
}

bool is_missing(std::error_code error) { return error == std::errc::no_such_file_or_directory; }

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

llvm::Error cannot(const char* verb, const std::string& path, std::error_code error) {
  return make_error(ErrorCode::io_error, "cannot {} '{}': {}", verb, path, error.message());
}

/// Reads one entry and checks it. `seen` receives the status of its folder. Errors: io_error if the
/// system fails to read an entry that may be sound; any other error means that it is damaged.
llvm::Expected<CompileOutput> checked_entry(const Folder& entries, const std::string& digest,
                                            struct stat& seen) {
  const std::string path = entries.path() + "/" + digest;
  auto entry = entries.folder(digest);
  auto info = entry ? entry->info() : entries.info(digest);
  if (!info) return cannot("read", path, info.getError());
  seen = *info;
  if (!S_ISDIR(seen.st_mode))
    return make_error(ErrorCode::parse_error, "'{}' is not a directory", path);
  if (!entry) return cannot("read", path, entry.getError());
  if (std::string problem = distrust_of(seen, path); !problem.empty())
    return make_error(ErrorCode::parse_error, "{}", problem);
  CacheKey stored;
  return read_entry(*entry, digest, stored);
}

/// Opens a folder inside the version's folder; nullopt if it is missing. Errors: io_error if it
/// cannot be opened or is not trusted.
llvm::Expected<std::optional<Folder>> part_of(const Folder& whole, const char* name) {
  auto folder = whole.folder(name);
  auto info = folder ? folder->info() : folder.getError();
  if (!info && is_missing(info.getError())) return std::nullopt;
  if (!info) return cannot("open", whole.path() + "/" + name, info.getError());
  if (std::string problem = distrust_of(*info, folder->path()); !problem.empty())
    return make_error(ErrorCode::io_error, "{}", problem);
  return std::move(*folder);
}

} // namespace

DiskCache::DiskCache(CacheSettings settings) : settings_(std::move(settings)) {
  if (settings_.warn)
    for (const std::string& problem : settings_.problems) settings_.warn(problem);
  if (!settings_.folder.empty() && open_folder()) folder_ = settings_.folder + "/" + kVersionFolder;
}

void DiskCache::warn(const std::string& message) const {
  if (!warned_.exchange(true) && settings_.warn) settings_.warn(message);
}

void DiskCache::stop_storing(const std::string& reason) {
  can_store_ = false;
  warn(fmt::format("the cache cannot be written and keeps kernels in memory only: {}", reason));
}

bool DiskCache::open_folder() {
  const std::string path = settings_.folder + "/" + kVersionFolder;
  TrustedPlace place = open_trusted_folder(path, settings_.creates);
  if (!place.problem.empty())
    warn(fmt::format("the cache folder '{}' is not used: {}", path, place.problem));
  else if (place.error && (settings_.creates || !is_missing(place.error)))
    warn(fmt::format("the cache folder '{}' cannot be made: {}; kernels are kept in memory only",
                     path, place.error.message()));
  if (!place.folder) return false;
  for (const char* name : kParts) {
    std::error_code error;
    if (settings_.creates) error = place.folder->make(name);
    auto info = place.folder->info(name);
    if (!info) {
      if (settings_.creates)
        stop_storing(fmt::format("cannot make '{}/{}': {}", path, name,
                                 (error ? error : info.getError()).message()));
      continue;
    }
    const std::string inner = path + "/" + name;
    const std::string problem = S_ISDIR(info->st_mode)
                                    ? distrust_of(*info, inner)
                                    : fmt::format("'{}' is not a directory", inner);
    if (problem.empty()) continue;
    warn(fmt::format("the cache folder '{}' is not used: {}", path, problem));
    return false;
  }
  return true;
}

std::optional<Folder> DiskCache::version() const {
  if (folder_.empty()) return std::nullopt;
  TrustedPlace place = open_trusted_folder(folder_, /*creates=*/false);
  if (!place.problem.empty())
    warn(fmt::format("the cache folder '{}' is not used: {}", folder_, place.problem));
  return std::move(place.folder);
}

std::optional<Folder> DiskCache::part(const char* name) const {
  std::optional<Folder> whole = version();
  if (!whole) return std::nullopt;
  auto folder = part_of(*whole, name);
  if (folder) return std::move(*folder);
  warn(fmt::format("the cache folder '{}' is not used: {}", folder_,
                   take_error(folder.takeError()).second));
  return std::nullopt;
}

std::optional<Folder> DiskCache::open_part(const char* name) {
  std::optional<Folder> found = part(name);
  // The folder may have been removed since.
  if (found || !settings_.creates || !open_folder()) return found;
  return part(name);
}

void DiskCache::move_aside(const Folder& entries, const std::string& digest,
                           const std::string& problem) {
  std::optional<Folder> aside = open_part("aside");
  const std::string name = unique_name(digest);
  const std::error_code error = aside ? entries.rename(digest, *aside, name)
                                      : std::make_error_code(std::errc::not_a_directory);
  // Another process may have found the same damage and moved the entry already.
  if (is_missing(error)) return;
  warn(fmt::format("the cache entry '{}/{}' is not used: {}; the kernel is compiled again{}",
                   entries.path(), digest, problem,
                   error ? "" : " and the entry moved to '" + aside->path() + "/" + name + "'"));
  if (!error) prune_aside(*aside);
}

std::optional<CompileOutput> DiskCache::load(const CacheKey& key) {
  std::optional<Folder> entries = part("entries");
  if (!entries) return std::nullopt;
  const std::string digest = key.digest();
  if (auto found = entries->info(digest); !found && is_missing(found.getError()))
    return std::nullopt;
  struct stat seen = {};
  llvm::Expected<CompileOutput> output = checked_entry(*entries, digest, seen);
  if (output) {
    (void)entries->touch(digest); // most recently used; may fail
    return std::move(*output);
  }
  auto [code, problem] = take_error(output.takeError());
  // Another process pruned or replaced the entry between the two reads: an ordinary miss.
  auto now = entries->info(digest);
  if (!now ? is_missing(now.getError()) : seen.st_ino != 0 && !is_same(*now, seen))
    return std::nullopt;
  if (code == ErrorCode::io_error)
    warn(fmt::format("a cache entry is not used: {}; the kernel is compiled again", problem));
  else
    move_aside(*entries, digest, problem);
  return std::nullopt;
}

llvm::Error DiskCache::publish(const std::string& digest, llvm::ArrayRef<std::string> files) {
  std::optional<Folder> tmp = open_part("tmp"), entries = open_part("entries");
  if (!tmp || !entries)
    return make_error(ErrorCode::io_error, "cannot open the folders below '{}'", folder_);
  const std::string name = unique_name(digest);
  if (std::error_code error = tmp->make(name))
    return cannot("make", tmp->path() + "/" + name, error);
  std::error_code error;
  {
    auto folder = tmp->folder(name);
    error = folder.getError();
    for (size_t i = 0; i < files.size() && !error; ++i)
      error = folder->write(entry_files()[i].name, files[i]);
    if (!error) error = folder->sync();
  }
  if (!error) {
    error = tmp->rename(name, *entries, digest);
    if (!error) {
      (void)entries->sync(); // if power fails here, the entry is a miss later
      return llvm::Error::success();
    }
    // Another process published the same key first. Its entry serves as well.
    if (error == std::errc::file_exists || error == std::errc::directory_not_empty) error = {};
  }
  (void)tmp->remove(name);
  return error ? cannot("write", tmp->path() + "/" + name, error) : llvm::Error::success();
}

void DiskCache::store(const CacheKey& key, const CompileOutput& output) {
  if (folder_.empty() || !can_store_) return;
  const std::vector<std::string> files = write_entry(key, output);
  uint64_t bytes = 0;
  for (const std::string& file : files) bytes += file.size();
  if (files.empty() || bytes > settings_.most_bytes) return;
  if (llvm::Error error = publish(key.digest(), files))
    stop_storing(take_error(std::move(error)).second);
  else
    prune_when_due(bytes);
}

CacheLock DiskCache::lock(const std::string& digest) {
  std::optional<Folder> locks = open_part("locks");
  if (!locks) return CacheLock();
  // The set of lock files is fixed, so that none must ever be removed. Two keys rarely share one.
  auto lock = locks->open_lock(digest.substr(0, 3));
  if (!lock) return CacheLock();
  auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  auto pause = std::chrono::milliseconds(1);
  while (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    bool busy = errno == EWOULDBLOCK || errno == EINTR;
    // A stopped holder must not block others for ever, and some file systems have no locks.
    if (!busy || std::chrono::steady_clock::now() > deadline) return CacheLock();
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
  return std::move(*lock);
}

std::optional<std::string> DiskCache::load_note(const std::string& digest) const {
  std::optional<Folder> notes = part("notes");
  if (!notes) return std::nullopt;
  auto text = notes->read(digest, kMostNoteBytes);
  if (!text) {
    llvm::consumeError(text.takeError());
    return std::nullopt;
  }
  (void)notes->touch(digest);
  return std::move(*text);
}

llvm::Error DiskCache::store_note(const std::string& digest, llvm::StringRef text) {
  if (folder_.empty() || !can_store_)
    return make_error(ErrorCode::unavailable,
                      "nothing is kept on disk: name a folder that can be written in "
                      "INGOT_CACHE_DIR{}",
                      settings_.is_off ? ", and unset INGOT_CACHE" : "");
  std::optional<Folder> notes = open_part("notes"), tmp = open_part("tmp");
  if (!notes || !tmp)
    return make_error(ErrorCode::io_error, "cannot open '{}/{}'", folder_, notes ? "tmp" : "notes");
  const std::string path = notes->path() + "/" + digest;
  if (text.size() > kMostNoteBytes)
    return make_error(ErrorCode::io_error,
                      "cannot write '{}': it has {} bytes, expected at most {}", path, text.size(),
                      kMostNoteBytes);
  if (std::error_code error = notes->replace(digest, text, *tmp))
    return cannot("write", path, error);
  prune_when_due(text.size());
  return llvm::Error::success();
}

llvm::Expected<std::vector<CacheEntry>> DiskCache::list() const {
  std::vector<CacheEntry> result;
  std::optional<Folder> entries = part("entries");
  if (!entries) return result;
  auto items = kept_items(*entries);
  if (!items) return cannot("read", entries->path(), items.getError());
  for (const KeptItem& item : *items) {
    if (!is_digest(item.name)) continue;
    CacheEntry entry;
    entry.digest = item.name;
    entry.bytes = item.bytes;
    entry.last_used = item.last_used;
    if (auto folder = entries->folder(item.name)) {
      CacheKey key = describe_entry(*folder);
      entry.name = key.name;
      entry.arch = key.arch;
    }
    result.push_back(std::move(entry));
  }
  return result;
}

llvm::Expected<std::vector<CacheEntry>> DiskCache::verify() const {
  llvm::Expected<std::vector<CacheEntry>> listed = list();
  std::optional<Folder> entries = part("entries");
  if (!listed || !entries) return listed;
  for (CacheEntry& entry : *listed) {
    struct stat seen = {};
    llvm::Expected<CompileOutput> output = checked_entry(*entries, entry.digest, seen);
    if (!output) entry.problem = take_error(output.takeError()).second;
  }
  return listed;
}

llvm::Expected<int64_t> DiskCache::clear() {
  int64_t removed = 0;
  if (folder_.empty()) return removed;
  TrustedPlace whole = open_trusted_folder(folder_, /*creates=*/false);
  if (!whole.problem.empty()) return make_error(ErrorCode::io_error, "{}", whole.problem);
  if (is_missing(whole.error)) return removed;
  if (!whole.folder) return cannot("open", folder_, whole.error);
  (void)whole.folder->make("tmp");
  auto tmp = part_of(*whole.folder, "tmp");
  if (!tmp) return tmp.takeError();
  for (const char* name : {"entries", "notes", "aside"}) {
    auto folder = part_of(*whole.folder, name);
    if (!folder) return folder.takeError();
    if (!*folder) continue;
    auto items = (*folder)->names();
    if (!items) return cannot("read", (*folder)->path(), items.getError());
    for (const std::string& item : *items) {
      const std::error_code error =
          *tmp ? remove_whole(**folder, item, **tmp) : (*folder)->remove(item);
      if (error) return cannot("remove", (*folder)->path() + "/" + item, error);
      removed += llvm::StringRef(name) == "entries";
    }
  }
  return removed;
}

CacheStatistics DiskCache::statistics() const {
  CacheStatistics result;
  const auto share = [&](const char* name, CacheStatistics::Share& out) {
    std::optional<Folder> folder = part(name);
    std::vector<KeptItem> items;
    if (folder)
      if (auto found = kept_items(*folder)) items = std::move(*found);
    out = {items.size(), total_bytes(items)};
    return items;
  };
  share("notes", result.notes);
  share("aside", result.aside);
  const std::vector<KeptItem> kernels = share("entries", result.kernels);
  if (kernels.empty()) return result;
  result.first_used = kernels.front().last_used;
  result.last_used = kernels.back().last_used;
  return result;
}

void DiskCache::prune_when_due(uint64_t stored_bytes) {
  std::optional<Folder> whole = version();
  if (!whole) return;
  stored_bytes_ += stored_bytes;
  const auto stamp = whole->info(kPruneStamp);
  const int64_t age = stamp ? int64_t(std::time(nullptr)) - int64_t(stamp->st_mtime) : -1;
  // A stamp in the future is ignored. With small limits, the cache may exceed them within the
  // interval.
  if (age >= 0 && age < kPruneInterval && stored_bytes_ < settings_.most_bytes / 8) return;
  if (auto tmp = whole->folder("tmp")) (void)whole->replace(kPruneStamp, "", *tmp);
  stored_bytes_ = 0;
  prune_cache(*whole, {settings_.most_bytes, settings_.most_days});
}

void DiskCache::prune() {
  if (std::optional<Folder> whole = version())
    prune_cache(*whole, {settings_.most_bytes, settings_.most_days});
}

} // namespace ingot
