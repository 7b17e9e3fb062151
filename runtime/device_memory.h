// SPDX-License-Identifier: Apache-2.0
// Owned device memory and streams, for programs without a framework: the command line, the examples
// and the tests. Executables never allocate.
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
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : driver_(other.driver_), data_(std::exchange(other.data_, 0)), bytes_(other.bytes_) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer();

  DevicePointer data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  /// Copies the whole buffer and waits for the copy. Sizes must agree.
  llvm::Error copy_from_host(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error copy_to_host(llvm::MutableArrayRef<uint8_t> bytes) const;
  /// Sets every byte, in stream order.
  llvm::Error fill(uint8_t value, Stream stream);

private:
  DeviceBuffer(const driver_api::Functions* driver, DevicePointer data, int64_t bytes)
      : driver_(driver), data_(data), bytes_(bytes) {}
  const driver_api::Functions* driver_;
  DevicePointer data_;
  int64_t bytes_;
};

/// A stream that does not wait for the legacy default stream.
class DeviceStream {
public:
  static llvm::Expected<DeviceStream> create(const driver_api::Functions& driver);
  DeviceStream(DeviceStream&& other) noexcept
      : driver_(other.driver_), stream_(std::exchange(other.stream_, nullptr)) {}
  DeviceStream& operator=(DeviceStream&&) = delete;
  ~DeviceStream();

  Stream get() const { return stream_; }
  /// Waits for all work of the stream. Returns the error of any failed work.
  llvm::Error synchronize() const;

private:
  DeviceStream(const driver_api::Functions* driver, Stream stream)
      : driver_(driver), stream_(stream) {}
  const driver_api::Functions* driver_;
  Stream stream_;
};

} // namespace ingot
