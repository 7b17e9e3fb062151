// SPDX-License-Identifier: Apache-2.0
// See cache_pruning.h. An item that cannot be removed stays until the next pruning.
#include "runtime/cache_pruning.h"

#include "llvm/ADT/STLExtras.h"

#include <ctime>
#include <tuple>

namespace ingot {

namespace {

constexpr int64_t kDay = 24 * 60 * 60;
constexpr int64_t kAbandonedAfter = 60 * 60; // far longer than any write
constexpr int64_t kAsideDays = 30;
constexpr size_t kMostAside = 8;
constexpr size_t kMostNotes = 16384;

uint64_t bytes_of(const Folder& folder, const std::string& name, const struct stat& info) {
  if (!S_ISDIR(info.st_mode)) return static_cast<uint64_t>(info.st_size);
  auto inner = folder.folder(name);
  auto names = inner ? inner->names() : std::vector<std::string>();
  uint64_t bytes = 0;
  if (!names) return bytes;
  for (const std::string& file : *names)
    if (auto file_info = inner->info(file)) bytes += static_cast<uint64_t>(file_info->st_size);
  return bytes;
}

/// The items of one folder, least recently used first.
struct PrunedFolder {
  const Folder& folder;
  std::vector<KeptItem> items;
  int64_t now = std::time(nullptr);

  explicit PrunedFolder(const Folder& of) : folder(of) {
    if (auto found = kept_items(of)) items = std::move(*found);
    for (KeptItem& item : items)
      if (item.last_used > now) {
        item.last_used = now;
        (void)folder.touch(item.name);
      }
  }

  void remove_first(size_t count) {
    for (size_t i = 0; i < count; ++i) (void)folder.remove(items[i].name);
    forget(count);
  }

  /// Each item is renamed first, so that no reader finds an entry with some files missing.
  void remove_first_through(const Folder& tmp, size_t count) {
    for (size_t i = 0; i < count; ++i) (void)remove_whole(folder, items[i].name, tmp);
    forget(count);
  }

  void forget(size_t count) {
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
  }

  size_t count_older(int64_t seconds) const {
    return static_cast<size_t>(llvm::count_if(
        items, [&](const KeptItem& item) { return now - item.last_used > seconds; }));
  }

  size_t count_beyond(size_t most) const { return items.size() > most ? items.size() - most : 0; }

  /// The number of leading items whose sizes add up to at least `bytes`.
  size_t count_that_free(uint64_t bytes) const {
    size_t count = 0;
    for (uint64_t freed = 0; count < items.size() && freed < bytes; ++count)
      freed += items[count].bytes;
    return count;
  }
};

uint64_t excess(uint64_t bytes, uint64_t most) { return bytes > most ? bytes - most : 0; }

} // namespace

llvm::ErrorOr<std::vector<KeptItem>> kept_items(const Folder& folder) {
  auto names = folder.names();
  if (!names) return names.getError();
  std::vector<KeptItem> items;
  for (const std::string& name : *names)
    if (auto info = folder.info(name))
      items.push_back({name, bytes_of(folder, name, *info), int64_t(info->st_mtime)});
  llvm::sort(items, [](const KeptItem& a, const KeptItem& b) {
    return std::tie(a.last_used, a.name) < std::tie(b.last_used, b.name);
  });
  return items;
}

uint64_t total_bytes(const std::vector<KeptItem>& items) {
  uint64_t bytes = 0;
  for (const KeptItem& item : items) bytes += item.bytes;
  return bytes;
}

std::error_code remove_whole(const Folder& folder, const std::string& name, const Folder& tmp) {
  const std::string doomed = unique_name("removed");
  if (folder.rename(name, tmp, doomed)) return folder.remove(name);
  return tmp.remove(doomed); // leftovers count as abandoned later
}

void prune_aside(const Folder& folder) {
  PrunedFolder aside(folder);
  aside.remove_first(aside.count_older(kAsideDays * kDay));
  aside.remove_first(aside.count_beyond(kMostAside));
}

void prune_cache(const Folder& version, const CacheBounds& bounds) {
  auto tmp = version.folder("tmp"), entries = version.folder("entries"),
       notes = version.folder("notes"), aside = version.folder("aside");
  if (!tmp || !entries || !notes || !aside) return;
  PrunedFolder abandoned(*tmp);
  abandoned.remove_first(abandoned.count_older(kAbandonedAfter));
  prune_aside(*aside);

  PrunedFolder kernels(*entries), kept_notes(*notes), damaged(*aside);
  kernels.remove_first_through(*tmp, kernels.count_older(bounds.most_days * kDay));
  kept_notes.remove_first(kept_notes.count_beyond(kMostNotes));
  // Notes go last, because a tuner took minutes for each.
  const uint64_t note_bytes = total_bytes(kept_notes.items);
  const uint64_t kernel_bytes = total_bytes(kernels.items);
  const uint64_t most = bounds.most_bytes;
  damaged.remove_first(damaged.count_that_free(
      excess(note_bytes + kernel_bytes + total_bytes(damaged.items), most)));
  kernels.remove_first_through(*tmp,
                               kernels.count_that_free(excess(note_bytes + kernel_bytes, most)));
  kept_notes.remove_first(kept_notes.count_that_free(excess(note_bytes, most)));
}

} // namespace ingot
