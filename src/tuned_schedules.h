// SPDX-License-Identifier: Apache-2.0
// Results of a tuner on disk, beside the compiled kernels: by kernel, sizes, card and version.
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
  /// The disk cache from the environment, without warnings if it cannot be used. It serves lookups
  /// only, and must already exist.
  static std::shared_ptr<const TunedSchedules> from_environment();

  /// The fastest schedule of `group` measured on such a card; nullopt if there is none.
  std::optional<ScheduleChoice> find(const Graph& graph, const Group& group,
                                     const DeviceSpec& device,
                                     const ScheduleOptions& options) const;

  /// The choice in a note, which may hold any bytes; nullopt if it has none.
  static std::optional<ScheduleChoice> parse_note(llvm::StringRef note);

  /// A measured winner. `dims` are the sizes of named dimensions in the measurement; the choice
  /// serves all sizes. Errors: those of DiskCache::store_note.
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
