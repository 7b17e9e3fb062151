// SPDX-License-Identifier: Apache-2.0
// What leaves a disk cache: by age, by number, and by size, least recently used first. Used by
// disk_cache.cpp only.
#pragma once

#include "src/support/folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// Something kept under a name in one of the cache's folders.
struct KeptItem {
  std::string name;
  uint64_t bytes = 0;
  int64_t last_used = 0; ///< seconds since 1970
};

/// What a folder holds, least recently used first.
llvm::ErrorOr<std::vector<KeptItem>> kept_items(const Folder& folder);

uint64_t total_bytes(const std::vector<KeptItem>& items);

/// Removes something by renaming it into `tmp` first, so that no reader finds it with parts gone.
std::error_code remove_whole(const Folder& folder, const std::string& name, const Folder& tmp);

/// The file in the version's folder whose time of change is that of the last pruning.
inline constexpr const char* kPruneStamp = "pruned";

struct CacheBounds {
  uint64_t most_bytes = 0; ///< of all that is kept
  int64_t most_days = 0;   ///< that a kernel stays unused
};

/// `version` holds the folders entries, notes, aside and tmp. A time of change that lies in the
/// future is set to now, so that it does not keep anything for good.
void prune_cache(const Folder& version, const CacheBounds& bounds);

/// Leaves the newest of what was moved aside.
void prune_aside(const Folder& aside);

} // namespace ingot
