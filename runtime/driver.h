// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, opened at its first use, and queries of a device. It creates no context: work
// runs in the caller's context. A program without one retains the primary context.
#pragma once

#include "runtime/driver_api.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace ingot {

using DevicePointer = driver_api::DevicePointer;
using Stream = driver_api::Stream;

/// The driver's functions, opened and initialised once per process. Errors: unavailable without a
/// driver or a GPU, with a remedy.
llvm::Expected<const driver_api::Functions*> open_driver();

/// The CUDA major version that the installed driver supports, e.g. 13; nullopt without a driver.
/// Needs no GPU and initialises nothing.
std::optional<int> driver_cuda_major();

/// Success, or launch_error with the name of the call, CUDA's error name and its text.
llvm::Error check_driver(const driver_api::Functions& driver, driver_api::Result result,
                         const char* call);

/// Facts about one GPU.
struct DeviceProperties {
  driver_api::Device device = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int num_sms = 0;
  int64_t max_shared_bytes = 0; ///< per block, with opt-in
  int64_t shared_bytes_per_sm = 0;
  int64_t registers_per_sm = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
};

llvm::Expected<DeviceProperties> device_properties(const driver_api::Functions& driver,
                                                   driver_api::Device device);

/// The device of the current context; launch_error if the thread has none.
llvm::Expected<driver_api::Device> current_device(const driver_api::Functions& driver);

/// Retains the primary context of a device and makes it current in the creating thread. It is for
/// programs that own the process, such as the command line and the tests.
class PrimaryContext {
public:
  static llvm::Expected<PrimaryContext> retain(const driver_api::Functions& driver, int ordinal);
  PrimaryContext(PrimaryContext&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), device_(other.device_) {}
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext();

  driver_api::Device device() const { return device_; }

private:
  PrimaryContext(const driver_api::Functions* driver, driver_api::Device device)
      : driver_(driver), device_(device) {}
  const driver_api::Functions* driver_;
  driver_api::Device device_;
};

/// Machine code that is loaded for every context (cuLibrary).
class LoadedLibrary {
public:
  /// Errors contain `name`.
  static llvm::Expected<LoadedLibrary> load(const driver_api::Functions& driver,
                                            const std::string& cubin, const std::string& name);
  LoadedLibrary(LoadedLibrary&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), library_(other.library_) {}
  LoadedLibrary& operator=(LoadedLibrary&&) = delete;
  ~LoadedLibrary();

  llvm::Expected<driver_api::Kernel> kernel(const std::string& entry) const;

private:
  LoadedLibrary(const driver_api::Functions* driver, driver_api::Library library)
      : driver_(driver), library_(library) {}
  const driver_api::Functions* driver_;
  driver_api::Library library_;
};

} // namespace ingot
