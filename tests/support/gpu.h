// SPDX-License-Identifier: Apache-2.0
// The GPU of this machine for a test case, or the reason why there is none.
#pragma once

#include "runtime/device_memory.h"
#include "runtime/driver.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::testing {

/// GPU 0 with its primary context current.
struct Gpu {
  const driver_api::Functions* driver = nullptr;
  DeviceProperties properties;
  std::unique_ptr<PrimaryContext> context;

  /// The target of machine code, e.g. sm_90.
  std::string arch() const;

  template <typename T> DeviceBuffer upload(const std::vector<T>& values) const {
    DeviceBuffer buffer = allocate(values.size() * sizeof(T));
    llvm::cantFail(buffer.copy_from_host(
        llvm::ArrayRef(reinterpret_cast<const uint8_t*>(values.data()), buffer.bytes())));
    return buffer;
  }

  template <typename T> std::vector<T> download(const DeviceBuffer& buffer) const {
    std::vector<T> values(size_t(buffer.bytes()) / sizeof(T));
    llvm::cantFail(buffer.copy_to_host(
        llvm::MutableArrayRef(reinterpret_cast<uint8_t*>(values.data()), size_t(buffer.bytes()))));
    return values;
  }

  DeviceBuffer allocate(size_t bytes) const;
};

/// Null, after reporting the case as skipped, where no GPU can be used.
std::unique_ptr<Gpu> open_gpu();

} // namespace ingot::testing
