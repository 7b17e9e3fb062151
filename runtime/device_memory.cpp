// SPDX-License-Identifier: Apache-2.0
// See device_memory.h.
#include "runtime/device_memory.h"

#include "src/support/error.h"

#include <vector>

namespace ingot {

using driver_api::Functions;

namespace {

constexpr unsigned kNonBlocking = 1; // CU_STREAM_NON_BLOCKING

llvm::Error record(const Owned<driver_api::Event>& event, Stream stream) {
  return call(event.driver(), event.driver().event_record, event.get(), stream);
}

} // namespace

llvm::Expected<DeviceBuffer> DeviceBuffer::allocate(const Functions& driver, int64_t bytes) {
  INGOT_ASSERT(bytes >= 0);
  DevicePointer data = 0;
  if (bytes > 0)
    if (llvm::Error error = call(driver, driver.memory_alloc, &data, size_t(bytes)))
      return make_error(ErrorCode::launch_error, "cannot allocate {} bytes on the GPU: {}", bytes,
                        take_error(std::move(error)).second);
  return DeviceBuffer({driver, data, &Functions::memory_free}, bytes);
}

llvm::Error DeviceBuffer::copy_from_host(llvm::ArrayRef<uint8_t> bytes) {
  INGOT_ASSERT(int64_t(bytes.size()) == bytes_);
  if (bytes.empty()) return llvm::Error::success();
  return call(data_.driver(), data_.driver().copy_to_device, data(), bytes.data(), bytes.size());
}

llvm::Error DeviceBuffer::copy_to_host(llvm::MutableArrayRef<uint8_t> bytes) const {
  INGOT_ASSERT(int64_t(bytes.size()) == bytes_);
  if (bytes.empty()) return llvm::Error::success();
  return call(data_.driver(), data_.driver().copy_to_host, bytes.data(), data(), bytes.size());
}

llvm::Error DeviceBuffer::fill(uint8_t value, Stream stream) {
  if (bytes_ == 0) return llvm::Error::success();
  return call(data_.driver(), data_.driver().fill_async, data(), value, size_t(bytes_), stream);
}

llvm::Expected<DeviceStream> DeviceStream::create(const Functions& driver) {
  Stream stream = nullptr;
  if (llvm::Error error = call(driver, driver.stream_create, &stream, kNonBlocking)) return error;
  return DeviceStream({driver, stream, &Functions::stream_destroy});
}

llvm::Error DeviceStream::synchronize() const {
  return call(stream_.driver(), stream_.driver().stream_synchronize, get());
}

llvm::Expected<DeviceTimer> DeviceTimer::create(const Functions& driver) {
  std::vector<Owned<driver_api::Event>> events;
  for (int i = 0; i < 2; ++i) {
    driver_api::Event event = nullptr;
    if (auto error = call(driver, driver.event_create, &event, 0)) return error;
    events.emplace_back(driver, event, &Functions::event_destroy);
  }
  return DeviceTimer(std::move(events[0]), std::move(events[1]));
}

llvm::Error DeviceTimer::start(Stream stream) { return record(start_, stream); }

llvm::Error DeviceTimer::stop(Stream stream) { return record(end_, stream); }

llvm::Expected<double> DeviceTimer::milliseconds() const {
  const Functions& driver = end_.driver();
  if (auto error = call(driver, driver.event_synchronize, end_.get())) return error;
  float result = 0;
  if (auto error = call(driver, driver.event_elapsed, &result, start_.get(), end_.get()))
    return error;
  return result;
}

} // namespace ingot
