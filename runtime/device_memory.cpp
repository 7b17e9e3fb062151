// SPDX-License-Identifier: Apache-2.0
// See device_memory.h.
#include "runtime/device_memory.h"

#include "src/support/error.h"

namespace ingot {

using driver_api::Functions;

namespace {
constexpr unsigned kNonBlocking = 1; // CU_STREAM_NON_BLOCKING
} // namespace

llvm::Expected<DeviceBuffer> DeviceBuffer::allocate(const Functions& driver, int64_t bytes) {
  INGOT_ASSERT(bytes >= 0);
  DevicePointer data = 0;
  if (bytes > 0)
    if (llvm::Error error =
            check_driver(driver, driver.memory_alloc(&data, size_t(bytes)), "cuMemAlloc"))
      return make_error(ErrorCode::launch_error, "cannot allocate {} bytes on the GPU: {}", bytes,
                        take_error(std::move(error)).second);
  return DeviceBuffer(&driver, data, bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (data_) driver_->memory_free(data_);
}

llvm::Error DeviceBuffer::copy_from_host(llvm::ArrayRef<uint8_t> bytes) {
  INGOT_ASSERT(int64_t(bytes.size()) == bytes_);
  if (bytes.empty()) return llvm::Error::success();
  return check_driver(*driver_, driver_->copy_to_device(data_, bytes.data(), bytes.size()),
                      "cuMemcpyHtoD");
}

llvm::Error DeviceBuffer::copy_to_host(llvm::MutableArrayRef<uint8_t> bytes) const {
  INGOT_ASSERT(int64_t(bytes.size()) == bytes_);
  if (bytes.empty()) return llvm::Error::success();
  return check_driver(*driver_, driver_->copy_to_host(bytes.data(), data_, bytes.size()),
                      "cuMemcpyDtoH");
}

llvm::Error DeviceBuffer::fill(uint8_t value, Stream stream) {
  if (bytes_ == 0) return llvm::Error::success();
  return check_driver(*driver_, driver_->fill_async(data_, value, size_t(bytes_), stream),
                      "cuMemsetD8Async");
}

llvm::Expected<DeviceStream> DeviceStream::create(const Functions& driver) {
  Stream stream = nullptr;
  if (llvm::Error error =
          check_driver(driver, driver.stream_create(&stream, kNonBlocking), "cuStreamCreate"))
    return error;
  return DeviceStream(&driver, stream);
}

DeviceStream::~DeviceStream() {
  if (stream_) driver_->stream_destroy(stream_);
}

llvm::Error DeviceStream::synchronize() const {
  return check_driver(*driver_, driver_->stream_synchronize(stream_), "cuStreamSynchronize");
}

} // namespace ingot
