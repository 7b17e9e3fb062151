// SPDX-License-Identifier: Apache-2.0
// See gpu.h.
#include "tests/support/gpu.h"

#include "src/support/error.h"
#include "tests/support/skip.h"

namespace ingot::testing {

std::string Gpu::arch() const {
  return fmt::format("sm_{}{}", properties.compute_major, properties.compute_minor);
}

DeviceBuffer Gpu::allocate(size_t bytes) const {
  return llvm::cantFail(DeviceBuffer::allocate(*driver, int64_t(bytes)));
}

std::unique_ptr<Gpu> open_gpu() {
  auto gpu = std::make_unique<Gpu>();
  auto driver = open_driver();
  if (!driver) {
    report_skip(take_error(driver.takeError()).second);
    return nullptr;
  }
  gpu->driver = *driver;
  auto context = PrimaryContext::retain(*gpu->driver, 0);
  if (!context) {
    report_skip(take_error(context.takeError()).second);
    return nullptr;
  }
  gpu->context = std::make_unique<PrimaryContext>(std::move(*context));
  gpu->properties = llvm::cantFail(device_properties(*gpu->driver, gpu->context->device()));
  return gpu;
}

} // namespace ingot::testing
