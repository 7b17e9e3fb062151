// SPDX-License-Identifier: Apache-2.0
// See stopwatch.h.
#include "src/reports/stopwatch.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <cmath>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

Spread spread_of(std::vector<double> samples) {
  llvm::sort(samples);
  auto at = [&](double share) {
    return samples[static_cast<size_t>(
        std::llround(share * static_cast<double>(samples.size() - 1)))];
  };
  return {at(0.5), at(0.1), at(0.9), static_cast<int64_t>(samples.size())};
}

llvm::Expected<Stopwatch> Stopwatch::create(const driver_api::Functions& driver, Stream stream) {
  auto device = current_device(driver);
  if (!device) return device.takeError();
  auto properties = device_properties(driver, *device);
  if (!properties) return properties.takeError();
  auto flush = DeviceBuffer::allocate(driver, std::max<int64_t>(4 * properties->l2_bytes, 1));
  if (!flush) return flush.takeError();
  auto timer = DeviceTimer::create(driver);
  if (!timer) return timer.takeError();
  return Stopwatch(std::move(*flush), std::move(*timer), stream);
}

llvm::Expected<double> Stopwatch::milliseconds(llvm::function_ref<llvm::Error()> enqueue) {
  if (auto error = flush_.fill(fill_++, stream_)) return error;
  if (auto error = timer_.start(stream_)) return error;
  if (llvm::Error error = enqueue()) return error;
  if (auto error = timer_.stop(stream_)) return error;
  return timer_.milliseconds();
}

llvm::Expected<Spread> Stopwatch::spread(Duration duration,
                                         llvm::function_ref<llvm::Error()> enqueue) {
  auto only = spreads(duration, enqueue);
  if (!only) return only.takeError();
  return only->front();
}

llvm::Expected<std::vector<Spread>>
Stopwatch::spreads(Duration duration,
                   llvm::ArrayRef<llvm::function_ref<llvm::Error()>> contenders) {
  constexpr size_t kLeast = 20, kMost = 1000;
  std::vector<std::vector<double>> samples(contenders.size());
  auto round = [&](bool keep) -> llvm::Error {
    for (size_t i = 0; i < contenders.size(); ++i) {
      auto time = milliseconds(contenders[i]);
      if (!time) return time.takeError();
      if (keep) samples[i].push_back(*time);
    }
    return llvm::Error::success();
  };
  const auto settling = Clock::now();
  do {
    if (auto error = round(false)) return error;
  } while (seconds_since(settling) < duration.settle);
  const auto start = Clock::now();
  while (samples.front().size() < kLeast ||
         (samples.front().size() < kMost && seconds_since(start) < duration.measure))
    if (auto error = round(true)) return error;
  std::vector<Spread> result;
  result.reserve(samples.size());
  for (std::vector<double>& own : samples) result.push_back(spread_of(std::move(own)));
  return result;
}

} // namespace ingot
