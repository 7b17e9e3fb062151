// SPDX-License-Identifier: Apache-2.0
// Where compiled kernels are kept, and how many: from the environment, or set by tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ingot {

struct CacheSettings {
  std::string folder; ///< empty: nothing is kept on disk
  uint64_t most_bytes = uint64_t(2) << 30;
  /// Receives at most one message in the life of a DiskCache, and one for each of `problems`, from
  /// any thread. May be empty.
  std::function<void(const std::string&)> warn;
  bool creates = true;                    ///< the folder, where it is not there yet
  int64_t most_days = 90;                 ///< kernels that were not used for longer are removed
  bool is_off = false;                    ///< INGOT_CACHE is 0, so that `folder` is empty
  std::vector<std::string> problems = {}; ///< variables with a wrong value, a message each

  /// The folder is INGOT_CACHE_DIR, $XDG_CACHE_HOME/ingot or ~/.cache/ingot; empty without any, and
  /// where INGOT_CACHE is 0. The bounds are INGOT_CACHE_SIZE and INGOT_CACHE_DAYS.
  static CacheSettings from_environment();
};

} // namespace ingot
