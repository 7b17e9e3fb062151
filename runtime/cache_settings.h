// SPDX-License-Identifier: Apache-2.0
// The place and the limits of the cache of compiled kernels, from the environment or from tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ingot {

struct CacheSettings {
  std::string folder; ///< empty: no disk cache
  uint64_t most_bytes = uint64_t(2) << 30;
  /// Receives at most one message in the life of a DiskCache, and one for each of `problems`. It
  /// may be called from any thread, and may be empty.
  std::function<void(const std::string&)> warn;
  bool creates = true;                    ///< makes the folder if it is missing
  int64_t most_days = 90;                 ///< unused kernels are removed after this time
  bool is_off = false;                    ///< INGOT_CACHE is 0, so `folder` is empty
  std::vector<std::string> problems = {}; ///< one message per variable with a wrong value

  /// The folder is INGOT_CACHE_DIR, $XDG_CACHE_HOME/ingot or ~/.cache/ingot. It is empty if none of
  /// these is set or INGOT_CACHE is 0. The limits are INGOT_CACHE_SIZE and INGOT_CACHE_DAYS.
  static CacheSettings from_environment();
};

} // namespace ingot
