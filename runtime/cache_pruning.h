// SPDX-License-Identifier: Apache-2.0
// Prunes a disk cache by age, number and size, least recently used first. Only disk_cache.cpp uses
// it.
#pragma once

#include "src/support/folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// An item under a name in one of the cache's folders.
struct KeptItem {
  std::string name;
  uint64_t bytes = 0;
  int64_t last_used = 0; ///< seconds since 1970
};

/// The items of a folder, least recently used first.
llvm::ErrorOr<std::vector<KeptItem>> kept_items(const Folder& folder);

uint64_t total_bytes(const std::vector<KeptItem>& items);

/// Removes an item. Renames it into `tmp` first, so that no reader finds it with parts missing.
std::error_code remove_whole(const Folder& folder, const std::string& name, const Folder& tmp);

/// A file in the version's folder. Its modification time is the time of the last pruning.
inline constexpr const char* kPruneStamp = "pruned";

struct CacheBounds {
  uint64_t most_bytes = 0; ///< limit for all items together
  int64_t most_days = 0;   ///< limit for the unused time of a kernel
};

/// `version` holds the folders entries, notes, aside and tmp. A modification time in the future is
/// set to now, because it would keep the item for ever.
void prune_cache(const Folder& version, const CacheBounds& bounds);

/// Keeps only the newest items in the folder of damaged entries.
void prune_aside(const Folder& aside);

} // namespace ingot
