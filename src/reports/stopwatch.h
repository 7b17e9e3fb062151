// SPDX-License-Identifier: Apache-2.0
// How long pieces of work on one stream take, one by one, each after the L2 cache was filled with
// other bytes. Called by bench and tune.
#pragma once

#include "runtime/device_memory.h"
#include "runtime/device_timer.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace ingot {

/// Of repeated measurements, in milliseconds.
struct Spread {
  double median = 0, p10 = 0, p90 = 0;
  int64_t count = 0;
};
/// `samples` is not empty.
Spread spread_of(std::vector<double> samples);

/// In seconds.
struct Duration {
  double settle = 0;  ///< of work before: the clocks of a busy GPU come down
  double measure = 0; ///< of work measured, about; 20 times at least and 1000 at most
};

class Stopwatch {
public:
  static llvm::Expected<Stopwatch> create(const driver_api::Functions& driver, Stream stream);

  /// Of what `enqueue` puts on the stream.
  llvm::Expected<double> milliseconds(llvm::function_ref<llvm::Error()> enqueue);
  llvm::Expected<Spread> spread(Duration duration, llvm::function_ref<llvm::Error()> enqueue);
  /// Of each, at least one, taking turns: at the same clocks. The duration is that of all together.
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
