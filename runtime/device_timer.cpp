// SPDX-License-Identifier: Apache-2.0
// See device_timer.h.
#include "runtime/device_timer.h"

namespace ingot {

llvm::Expected<DeviceTimer> DeviceTimer::create(const driver_api::Functions& driver) {
  DeviceTimer timer(driver);
  for (driver_api::Event* event : {&timer.start_, &timer.end_})
    if (auto error = check_driver(driver, driver.event_create(event, 0), "cuEventCreate"))
      return error;
  return timer;
}

DeviceTimer::~DeviceTimer() {
  for (driver_api::Event event : {start_, end_})
    if (event) driver_->event_destroy(event);
}

llvm::Error DeviceTimer::start(Stream stream) {
  return check_driver(*driver_, driver_->event_record(start_, stream), "cuEventRecord");
}

llvm::Error DeviceTimer::stop(Stream stream) {
  return check_driver(*driver_, driver_->event_record(end_, stream), "cuEventRecord");
}

llvm::Expected<double> DeviceTimer::milliseconds() const {
  if (auto error = check_driver(*driver_, driver_->event_synchronize(end_), "cuEventSynchronize"))
    return error;
  float result = 0;
  if (auto error = check_driver(*driver_, driver_->event_elapsed(&result, start_, end_),
                                "cuEventElapsedTime"))
    return error;
  return result;
}

} // namespace ingot
