// SPDX-License-Identifier: Apache-2.0
// What a tuner found, kept on disk beside the compiled kernels: by kernel, sizes, card and version.
#pragma once

#include "codegen/schedule/choose.h"
#include "runtime/disk_cache.h"

#include <map>
#include <memory>

namespace ingot {

/// Thread-safe.
class TunedSchedules {
public:
  explicit TunedSchedules(CacheSettings settings) : cache_(std::move(settings)) {}
  /// The disk cache as the environment says, without a word where it cannot be used; to look things
  /// up, where there is one already.
  static std::shared_ptr<const TunedSchedules> from_environment();

  /// The fastest schedule of `group` that was measured on such a card; nullopt: none was.
  std::optional<ScheduleChoice> find(const Graph& graph, const Group& group,
                                     const DeviceSpec& device,
                                     const ScheduleOptions& options) const;

  /// The choice that a note states, whatever bytes it has; nullopt: it states none.
  static std::optional<ScheduleChoice> parse_note(llvm::StringRef note);

  /// A measured winner. `dims`: the sizes of named dimensions that it was measured at, which serves
  /// all sizes. Errors: as DiskCache::store_note.
  struct Record {
    ScheduleChoice choice;
    double milliseconds = 0, untuned_milliseconds = 0;
    std::map<std::string, int64_t> dims;
  };
  llvm::Error keep(const Graph& graph, const Group& group, const DeviceSpec& device,
                   const ScheduleOptions& options, const Record& record);

  const std::string& folder() const { return cache_.folder(); }

private:
  DiskCache cache_;
};

} // namespace ingot
