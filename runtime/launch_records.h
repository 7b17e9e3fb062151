// SPDX-License-Identifier: Apache-2.0
// The last launch of an executable: the driver's calls, and all that they were made from. A launch
// with the same arguments repeats the calls without checks. Each thread that launches at a time has
// a record for itself, without a lock: it takes one, and puts it back when its calls are enqueued.
#pragma once

#include "runtime/kernel_call.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace ingot {

struct LaunchRecord {
  /// With room for any launch of the plan.
  explicit LaunchRecord(const LaunchPlan& plan);

  std::shared_ptr<const void> made_for; ///< the state behind prepare; null: the calls are not whole
  std::vector<uint64_t> key;            ///< the arguments
  std::vector<KernelCall> calls;        ///< one for each step of the launch program
};

class LaunchRecords {
public:
  LaunchRecords() = default;
  LaunchRecords(const LaunchRecords&) = delete;
  LaunchRecords& operator=(const LaunchRecords&) = delete;
  ~LaunchRecords() {
    while (take()) {
    }
  }

  /// Fills the places with records. No launch may run at the same time.
  void fill(const LaunchPlan& plan) {
    for (std::atomic<LaunchRecord*>& place : places_)
      if (!place) place = new LaunchRecord(plan);
  }

  /// A record that no other thread has; null if there is none.
  std::unique_ptr<LaunchRecord> take() {
    for (std::atomic<LaunchRecord*>& place : places_)
      if (place.load(std::memory_order_relaxed))
        if (LaunchRecord* record = place.exchange(nullptr, std::memory_order_acquire))
          return std::unique_ptr<LaunchRecord>(record);
    return nullptr;
  }

  /// Keeps a record if there is a place for it.
  void put(std::unique_ptr<LaunchRecord> record) {
    for (std::atomic<LaunchRecord*>& place : places_) {
      LaunchRecord* none = nullptr;
      if (!place.compare_exchange_strong(none, record.get(), std::memory_order_release,
                                         std::memory_order_relaxed))
        continue;
      record.release(); // NOLINT(bugprone-unused-return-value): the place owns it
      return;
    }
  }

private:
  /// In most programs, no more threads launch one executable at a time.
  std::array<std::atomic<LaunchRecord*>, 4> places_ = {};
};

} // namespace ingot
