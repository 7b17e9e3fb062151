// SPDX-License-Identifier: Apache-2.0
// See driver.h.
#include "runtime/driver.h"

#include "runtime/ptxas_log.h"
#include "runtime/shared_object.h"
#include "src/support/error.h"

#include <array>

namespace ingot {

using driver_api::Functions;

namespace {

struct OpenedDriver {
  Functions functions;
  ErrorCode code = ErrorCode::unavailable;
  std::string failure; ///< empty if the driver is usable
};

std::string how_to_get() {
  return fmt::format("kernels run on an NVIDIA GPU with its driver ({} or newer); without one, "
                     "compiling, explaining and the reference interpreter work (compile, explain, "
                     "--on=reference)",
                     least_driver_for_ptx(kOldestPtx));
}

llvm::Error find_core(const SharedObject& library, Functions& f) {
  llvm::Error error = llvm::Error::success();
  auto find = [&](const char* name, auto& function) {
    if (!error) error = library.find(name, function);
  };
  find("cuInit", f.init);
  find("cuDriverGetVersion", f.driver_version);
  find("cuGetErrorName", f.error_name);
  find("cuGetErrorString", f.error_string);
  find("cuDeviceGet", f.device_get);
  find("cuDeviceGetCount", f.device_count);
  find("cuDeviceGetName", f.device_name);
  find("cuDeviceGetAttribute", f.device_attribute);
  find("cuDeviceTotalMem_v2", f.device_memory);
  find("cuDevicePrimaryCtxRetain", f.primary_retain);
  find("cuDevicePrimaryCtxRelease_v2", f.primary_release);
  find("cuCtxSetCurrent", f.context_set);
  find("cuCtxGetCurrent", f.context_get);
  find("cuCtxGetDevice", f.context_device);
  find("cuLibraryLoadData", f.library_load);
  find("cuLibraryUnload", f.library_unload);
  find("cuLibraryGetKernel", f.library_kernel);
  find("cuKernelGetFunction", f.kernel_function);
  find("cuKernelGetAttribute", f.kernel_attribute);
  find("cuKernelSetAttribute", f.kernel_set_attribute);
  find("cuFuncLoad", f.function_load);
  find("cuOccupancyMaxActiveBlocksPerMultiprocessor", f.occupancy);
  find("cuLaunchKernelEx", f.launch);
  return error;
}

llvm::Error find_memory(const SharedObject& library, Functions& f) {
  llvm::Error error = llvm::Error::success();
  auto find = [&](const char* name, auto& function) {
    if (!error) error = library.find(name, function);
  };
  find("cuMemAlloc_v2", f.memory_alloc);
  find("cuMemFree_v2", f.memory_free);
  find("cuMemcpyHtoD_v2", f.copy_to_device);
  find("cuMemcpyDtoH_v2", f.copy_to_host);
  find("cuMemsetD8Async", f.fill_async);
  find("cuMemcpyDtoDAsync_v2", f.copy_async);
  find("cuEventCreate", f.event_create);
  find("cuEventDestroy_v2", f.event_destroy);
  find("cuEventRecord", f.event_record);
  find("cuEventSynchronize", f.event_synchronize);
  find("cuEventElapsedTime", f.event_elapsed);
  find("cuStreamCreate", f.stream_create);
  find("cuStreamDestroy_v2", f.stream_destroy);
  find("cuStreamSynchronize", f.stream_synchronize);
  find("cuStreamBeginCapture_v2", f.stream_begin_capture);
  find("cuStreamEndCapture", f.stream_end_capture);
  find("cuGraphInstantiateWithFlags", f.graph_instantiate);
  find("cuGraphLaunch", f.graph_launch);
  find("cuGraphExecDestroy", f.graph_exec_destroy);
  find("cuGraphDestroy", f.graph_destroy);
  return error;
}

OpenedDriver open_once() {
  OpenedDriver opened;
  auto fail = [&](llvm::Error error) {
    auto [code, text] = take_error(std::move(error));
    opened.failure = fmt::format("no GPU: {}; {}", text, how_to_get());
  };
  llvm::Expected<SharedObject> library = SharedObject::open("libcuda.so.1");
  if (!library) {
    fail(library.takeError());
    return opened;
  }
  llvm::Error error = find_core(*library, opened.functions);
  if (!error) error = find_memory(*library, opened.functions);
  if (!error) error = check_driver(opened.functions, opened.functions.init(0), "cuInit");
  if (error) fail(std::move(error));
  return opened;
}

} // namespace

llvm::Expected<const Functions*> open_driver() {
  // Leaked on purpose: handles of executables may be released while the process exits.
  static const OpenedDriver& opened = *new OpenedDriver(open_once());
  if (!opened.failure.empty()) return make_error(opened.code, "{}", opened.failure);
  return &opened.functions;
}

std::optional<int> driver_cuda_major() {
  llvm::Expected<SharedObject> library = SharedObject::open("libcuda.so.1");
  if (!library) {
    llvm::consumeError(library.takeError());
    return std::nullopt;
  }
  driver_api::Result (*version_of)(int*) = nullptr;
  if (llvm::Error error = library->find("cuDriverGetVersion", version_of)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  int version = 0;
  if (version_of(&version) != driver_api::kSuccess || version < 1000) return std::nullopt;
  return version / 1000;
}

llvm::Error check_driver(const Functions& driver, driver_api::Result result, const char* call) {
  if (result == driver_api::kSuccess) return llvm::Error::success();
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name) driver.error_name(result, &name);
  if (driver.error_string) driver.error_string(result, &text);
  return make_error(ErrorCode::launch_error, "{} failed: {} ({}): {}", call, name ? name : "?",
                    result, text ? text : "no text");
}

llvm::Expected<DeviceProperties> device_properties(const Functions& driver,
                                                   driver_api::Device device) {
  DeviceProperties properties;
  properties.device = device;
  std::array<char, 256> name = {};
  if (llvm::Error error = check_driver(
          driver, driver.device_name(name.data(), name.size() - 1, device), "cuDeviceGetName"))
    return error;
  properties.name = name.data();
  llvm::Error error = llvm::Error::success();
  auto ask = [&](driver_api::DeviceAttribute attribute, auto& field) {
    int value = 0;
    if (!error)
      error = check_driver(driver, driver.device_attribute(&value, attribute, device),
                           "cuDeviceGetAttribute");
    field = value;
  };
  ask(driver_api::kComputeCapabilityMajor, properties.compute_major);
  ask(driver_api::kComputeCapabilityMinor, properties.compute_minor);
  ask(driver_api::kMultiprocessorCount, properties.num_sms);
  ask(driver_api::kMaxSharedPerBlockOptin, properties.max_shared_bytes);
  ask(driver_api::kMaxSharedPerMultiprocessor, properties.shared_bytes_per_sm);
  ask(driver_api::kRegistersPerMultiprocessor, properties.registers_per_sm);
  ask(driver_api::kL2CacheBytes, properties.l2_bytes);
  size_t bytes = 0;
  if (!error)
    error = check_driver(driver, driver.device_memory(&bytes, device), "cuDeviceTotalMem");
  properties.memory_bytes = int64_t(bytes);
  if (error) return error;
  return properties;
}

llvm::Expected<driver_api::Device> current_device(const Functions& driver) {
  driver_api::Device device = 0;
  driver_api::Result result = driver.context_device(&device);
  if (result == driver_api::kInvalidContext)
    return make_error(ErrorCode::launch_error,
                      "this thread has no current CUDA context; make one current, e.g. with "
                      "cudaSetDevice and cudaFree(0), before prepare and launch");
  if (llvm::Error error = check_driver(driver, result, "cuCtxGetDevice")) return error;
  return device;
}

llvm::Expected<PrimaryContext> PrimaryContext::retain(const Functions& driver, int ordinal) {
  int count = 0;
  if (llvm::Error error = check_driver(driver, driver.device_count(&count), "cuDeviceGetCount"))
    return error;
  if (ordinal < 0 || ordinal >= count)
    return make_error(ErrorCode::unavailable, "no GPU {}: {} visible; {}", ordinal, count,
                      how_to_get());
  driver_api::Device device = 0;
  driver_api::Context context = nullptr;
  if (llvm::Error error = check_driver(driver, driver.device_get(&device, ordinal), "cuDeviceGet"))
    return error;
  if (llvm::Error error =
          check_driver(driver, driver.primary_retain(&context, device), "cuDevicePrimaryCtxRetain"))
    return error;
  PrimaryContext held(&driver, device);
  if (llvm::Error error = check_driver(driver, driver.context_set(context), "cuCtxSetCurrent"))
    return error;
  return held;
}

PrimaryContext::~PrimaryContext() {
  if (driver_) driver_->primary_release(device_);
}

llvm::Expected<LoadedLibrary> LoadedLibrary::load(const Functions& driver, const std::string& cubin,
                                                  const std::string& name) {
  driver_api::Library library = nullptr;
  driver_api::Result result =
      driver.library_load(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (llvm::Error error = check_driver(driver, result, "cuLibraryLoadData"))
    return make_error(ErrorCode::launch_error, "cannot load kernel {}: {}", name,
                      take_error(std::move(error)).second);
  return LoadedLibrary(&driver, library);
}

LoadedLibrary::~LoadedLibrary() {
  // After the driver has shut down at process exit, the call returns an error, which is harmless.
  if (driver_) driver_->library_unload(library_);
}

llvm::Expected<driver_api::Kernel> LoadedLibrary::kernel(const std::string& entry) const {
  driver_api::Kernel kernel = nullptr;
  if (llvm::Error error =
          check_driver(*driver_, driver_->library_kernel(&kernel, library_, entry.c_str()),
                       "cuLibraryGetKernel"))
    return make_error(ErrorCode::launch_error, "cannot load kernel {}: {}", entry,
                      take_error(std::move(error)).second);
  return kernel;
}

} // namespace ingot
