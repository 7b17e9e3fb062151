// SPDX-License-Identifier: Apache-2.0
// Measures pieces of work on a stream one by one, each after the L2 cache was filled with other
// bytes. bench and tune call it.
#pragma once

#include "runtime/device_memory.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace ingot {

/// Statistics of repeated measurements, in milliseconds.
struct Spread {
  double median = 0, p10 = 0, p90 = 0;
  int64_t count = 0;
};
/// Statistics of `samples`, which must not be empty.
Spread spread_of(std::vector<double> samples);

/// Durations in seconds.
struct Duration {
  double settle = 0;  ///< of work before, because the clocks of a busy GPU fall
  double measure = 0; ///< of measured work, approximately; 20 to 1000 repetitions
};

class Stopwatch {
public:
  static llvm::Expected<Stopwatch> create(const driver_api::Functions& driver, Stream stream);

  /// The time of the work that `enqueue` puts on the stream.
  llvm::Expected<double> milliseconds(llvm::function_ref<llvm::Error()> enqueue);
  llvm::Expected<Spread> spread(Duration duration, llvm::function_ref<llvm::Error()> enqueue);
  /// The time of each function, with at least one. They alternate, so that all run at the same
  /// clocks. The duration is the total of all.
  llvm::Expected<std::vector<Spread>>
  spreads(Duration duration, llvm::ArrayRef<llvm::function_ref<llvm::Error()>> contenders);

private:
  Stopwatch(DeviceBuffer flush, DeviceTimer timer, Stream stream)
      : flush_(std::move(flush)), timer_(std::move(timer)), stream_(stream) {}
  DeviceBuffer flush_;
  DeviceTimer timer_;
  Stream stream_;
  uint8_t fill_ = 0;
};

} // namespace ingot
