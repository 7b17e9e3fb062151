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
                         llvm::StringRef call);

/// Calls a function of the driver and checks its result.
template <typename... Parameters, typename... Args>
llvm::Error call(const driver_api::Functions& driver,
                 const EntryPoint<driver_api::Result(Parameters...)>& function, Args... args) {
  return check_driver(driver, function(args...), function.name);
}

/// A handle of the driver. The destructor passes it to the function that frees it.
template <typename Handle> class Owned {
public:
  using Free = EntryPoint<driver_api::Result(Handle)> driver_api::Functions::*;

  Owned(const driver_api::Functions& driver, Handle handle, Free free)
      : driver_(&driver), handle_(handle), free_(free) {}
  Owned(Owned&& other) noexcept
      : driver_(other.driver_), handle_(std::exchange(other.handle_, {})), free_(other.free_) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_) (driver_->*free_)(handle_);
  }

  const driver_api::Functions& driver() const { return *driver_; }
  Handle get() const { return handle_; }

private:
  const driver_api::Functions* driver_;
  Handle handle_;
  Free free_;
};

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

/// A GPU. Its primary context is current during the lifetime of this object.
struct OpenGpu {
  const driver_api::Functions* driver;
  PrimaryContext context;
  DeviceProperties properties;

  /// Errors: ErrorCode::unavailable without a driver or without that GPU.
  static llvm::Expected<OpenGpu> open(int ordinal = 0);
};

/// Machine code that is loaded for every context (cuLibrary).
class LoadedLibrary {
public:
  /// Errors contain `name`.
  static llvm::Expected<LoadedLibrary> load(const driver_api::Functions& driver,
                                            const std::string& cubin, const std::string& name);
  llvm::Expected<driver_api::Kernel> kernel(const std::string& entry) const;

private:
  explicit LoadedLibrary(Owned<driver_api::Library> library) : library_(std::move(library)) {}
  /// To free it after the driver has shut down at process exit is a harmless error.
  Owned<driver_api::Library> library_;
};

} // namespace ingot
