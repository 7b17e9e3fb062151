// SPDX-License-Identifier: Apache-2.0
// The duration of work on a stream, measured with two events. Measurements use it.
#pragma once

#include "runtime/driver.h"

#include <utility>

namespace ingot {

class DeviceTimer {
public:
  static llvm::Expected<DeviceTimer> create(const driver_api::Functions& driver);
  DeviceTimer(DeviceTimer&& other) noexcept
      : driver_(other.driver_), start_(std::exchange(other.start_, nullptr)),
        end_(std::exchange(other.end_, nullptr)) {}
  DeviceTimer& operator=(DeviceTimer&&) = delete;
  ~DeviceTimer();

  llvm::Error start(Stream stream);
  llvm::Error stop(Stream stream);
  /// The time between the last start and stop. Waits for the stop.
  llvm::Expected<double> milliseconds() const;

private:
  explicit DeviceTimer(const driver_api::Functions& driver) : driver_(&driver) {}
  const driver_api::Functions* driver_;
  driver_api::Event start_ = nullptr, end_ = nullptr;
};

} // namespace ingot
