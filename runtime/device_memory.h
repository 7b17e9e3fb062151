// SPDX-License-Identifier: Apache-2.0
// Owned device memory, streams and timers, for programs without a framework: the command line, the
// examples and the tests. Executables never allocate.
#pragma once

#include "runtime/driver.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <utility>

namespace ingot {

/// Device memory of the current context. The destructor frees it.
class DeviceBuffer {
public:
  /// If `bytes` is 0, there is no memory and data() is 0.
  static llvm::Expected<DeviceBuffer> allocate(const driver_api::Functions& driver, int64_t bytes);

  DevicePointer data() const { return data_.get(); }
  int64_t bytes() const { return bytes_; }

  /// Copies the whole buffer and waits for the copy. Sizes must agree.
  llvm::Error copy_from_host(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error copy_to_host(llvm::MutableArrayRef<uint8_t> bytes) const;
  /// Sets every byte, in stream order.
  llvm::Error fill(uint8_t value, Stream stream);

private:
  DeviceBuffer(Owned<DevicePointer> data, int64_t bytes) : data_(std::move(data)), bytes_(bytes) {}
  Owned<DevicePointer> data_;
  int64_t bytes_;
};

/// A stream that does not wait for the legacy default stream.
class DeviceStream {
public:
  static llvm::Expected<DeviceStream> create(const driver_api::Functions& driver);

  Stream get() const { return stream_.get(); }
  /// Waits for all work of the stream. Returns the error of any failed work.
  llvm::Error synchronize() const;

private:
  explicit DeviceStream(Owned<Stream> stream) : stream_(std::move(stream)) {}
  Owned<Stream> stream_;
};

/// The duration of work on a stream, measured with two events.
class DeviceTimer {
public:
  static llvm::Expected<DeviceTimer> create(const driver_api::Functions& driver);

  llvm::Error start(Stream stream);
  llvm::Error stop(Stream stream);
  /// The time between the last start and stop. Waits for the stop.
  llvm::Expected<double> milliseconds() const;

private:
  DeviceTimer(Owned<driver_api::Event> start, Owned<driver_api::Event> end)
      : start_(std::move(start)), end_(std::move(end)) {}
  Owned<driver_api::Event> start_, end_;
};

} // namespace ingot
