// SPDX-License-Identifier: Apache-2.0
// The public API's device memory. See include/ingot/ingot.h.
#include "src/api/internal.h"

#include "runtime/device_memory.h"

#include <mutex>

namespace ingot {

struct Gpu::State {
  /// The driver's default stream waits for all blocking streams.
  llvm::Error synchronize() const { return call(driver, driver.stream_synchronize, nullptr); }

  OpenGpu gpu; ///< freed after the buffers
  const driver_api::Functions& driver = *gpu.driver;
  std::mutex mutex; ///< guards the buffers: threads may share a GPU
  std::vector<DeviceBuffer> buffers;
};

Gpu::Gpu(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;
Gpu::~Gpu() = default;

Result<Gpu> Gpu::open(int ordinal) {
  return guarded([&]() -> llvm::Expected<Gpu> {
    auto gpu = OpenGpu::open(ordinal);
    if (!gpu) return gpu.takeError();
    return Gpu(std::make_unique<State>(std::move(*gpu)));
  });
}

const std::string& Gpu::name() const { return state_->gpu.properties.name; }

Result<void*> Gpu::allocate(int64_t bytes) {
  return guarded([&]() -> llvm::Expected<void*> {
    if (bytes < 0)
      return make_error(ErrorCode::invalid_argument, "cannot allocate {} bytes: expected 0 or more",
                        bytes);
    auto buffer = DeviceBuffer::allocate(state_->driver, bytes);
    if (!buffer) return buffer.takeError();
    if (auto error = buffer->fill(0, nullptr)) return error;
    // Streams that do not wait for the default stream must also see the zeros.
    if (auto error = state_->synchronize()) return error;
    void* pointer = reinterpret_cast<void*>(buffer->data());
    const std::lock_guard lock(state_->mutex);
    state_->buffers.push_back(std::move(*buffer));
    return pointer;
  });
}

namespace {

llvm::Error check_size(int64_t bytes) {
  if (bytes >= 0) return llvm::Error::success();
  return make_error(ErrorCode::invalid_argument, "cannot copy {} bytes: expected 0 or more", bytes);
}

} // namespace

Status Gpu::copy_to_device(void* to, const void* from, int64_t bytes) {
  return guarded([&]() -> llvm::Error {
    if (auto error = check_size(bytes); error || bytes == 0) return error;
    if (auto error = call(state_->driver, state_->driver.copy_to_device,
                          reinterpret_cast<DevicePointer>(to), from, static_cast<size_t>(bytes)))
      return error;
    // A copy of pageable memory may return before its last piece has arrived.
    return state_->synchronize();
  });
}

Status Gpu::copy_to_host(void* to, const void* from, int64_t bytes) {
  return guarded([&]() -> llvm::Error {
    if (auto error = check_size(bytes); error || bytes == 0) return error;
    return call(state_->driver, state_->driver.copy_to_host, to,
                reinterpret_cast<DevicePointer>(from), static_cast<size_t>(bytes));
  });
}

Status Gpu::synchronize() {
  return guarded([&] { return state_->synchronize(); });
}

} // namespace ingot
