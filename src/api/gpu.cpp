// SPDX-License-Identifier: Apache-2.0
// The public API's device memory. See include/ingot/ingot.h.
#include "src/api/internal.h"
#include "src/api/out_of_memory.h"

#include "runtime/device_memory.h"

#include <mutex>

namespace ingot {

struct Gpu::State {
  State(const driver_api::Functions& functions, PrimaryContext primary)
      : driver(functions), context(std::move(primary)) {}
  const driver_api::Functions& driver;
  PrimaryContext context; ///< freed after the buffers
  std::mutex mutex;       ///< guards the buffers: threads may share a GPU
  std::vector<DeviceBuffer> buffers;
  std::string name;
};

Gpu::Gpu(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;
Gpu::~Gpu() = default;

Result<Gpu> Gpu::open(int ordinal) {
  return guarded([&]() -> Result<Gpu> {
    auto driver = open_driver();
    if (!driver) return to_status(driver.takeError());
    auto context = PrimaryContext::retain(**driver, ordinal);
    if (!context) return to_status(context.takeError());
    auto properties = device_properties(**driver, context->device());
    if (!properties) return to_status(properties.takeError());
    auto state = std::make_unique<State>(**driver, std::move(*context));
    state->name = properties->name;
    return Gpu(std::move(state));
  });
}

const std::string& Gpu::name() const { return state_->name; }

Result<void*> Gpu::allocate(int64_t bytes) {
  return guarded([&]() -> Result<void*> {
    if (bytes < 0)
      return Status(StatusCode::invalid_argument,
                    "cannot allocate " + std::to_string(bytes) + " bytes: expected 0 or more");
    auto buffer = DeviceBuffer::allocate(state_->driver, bytes);
    if (!buffer) return to_status(buffer.takeError());
    if (auto error = buffer->fill(0, nullptr)) return to_status(std::move(error));
    // Streams that do not wait for the default stream must also see the zeros.
    if (Status status = synchronize(); !status.ok()) return status;
    void* pointer = reinterpret_cast<void*>(buffer->data());
    const std::lock_guard lock(state_->mutex);
    state_->buffers.push_back(std::move(*buffer));
    return pointer;
  });
}

namespace {

Status check_size(int64_t bytes) {
  if (bytes >= 0) return {};
  return {StatusCode::invalid_argument,
          fmt::format("cannot copy {} bytes: expected 0 or more", bytes)};
}

} // namespace

Status Gpu::copy_to_device(void* to, const void* from, int64_t bytes) {
  return guarded([&]() -> Status {
    if (Status status = check_size(bytes); !status.ok() || bytes == 0) return status;
    auto result = state_->driver.copy_to_device(reinterpret_cast<DevicePointer>(to), from,
                                                static_cast<size_t>(bytes));
    if (auto error = check_driver(state_->driver, result, "cuMemcpyHtoD"))
      return to_status(std::move(error));
    // A copy of pageable memory may return before its last piece has arrived.
    return synchronize();
  });
}

Status Gpu::copy_to_host(void* to, const void* from, int64_t bytes) {
  return guarded([&]() -> Status {
    if (Status status = check_size(bytes); !status.ok() || bytes == 0) return status;
    auto result = state_->driver.copy_to_host(to, reinterpret_cast<DevicePointer>(from),
                                              static_cast<size_t>(bytes));
    return to_status(check_driver(state_->driver, result, "cuMemcpyDtoH"));
  });
}

Status Gpu::synchronize() {
  return guarded([&]() -> Status {
    // The driver's default stream waits for all blocking streams.
    return to_status(check_driver(state_->driver, state_->driver.stream_synchronize(nullptr),
                                  "cuStreamSynchronize"));
  });
}

} // namespace ingot
