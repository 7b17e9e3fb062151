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

llvm::Error find_all(const SharedObject& library, Functions& f) {
  return library.find(
      f.init, f.driver_version, f.error_name, f.error_string, f.device_get, f.device_count,
      f.device_name, f.device_attribute, f.device_memory, f.primary_retain, f.primary_release,
      f.context_set, f.context_get, f.context_device, f.library_load, f.library_unload,
      f.library_kernel, f.kernel_function, f.kernel_attribute, f.kernel_set_attribute,
      f.function_load, f.launch, f.most_clusters, f.encode_tensor_map, f.memory_alloc,
      f.memory_free, f.copy_to_device, f.copy_to_host, f.fill_async, f.copy_async, f.event_create,
      f.event_destroy, f.event_record, f.event_synchronize, f.event_elapsed, f.stream_create,
      f.stream_destroy, f.stream_synchronize, f.stream_begin_capture, f.stream_end_capture,
      f.graph_instantiate, f.graph_launch, f.graph_exec_destroy, f.graph_destroy);
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
  llvm::Error error = find_all(*library, opened.functions);
  if (!error) error = call(opened.functions, opened.functions.init, 0);
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
  Functions functions;
  if (llvm::Error error = library->find(functions.driver_version)) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  int version = 0;
  if (functions.driver_version(&version) != driver_api::kSuccess || version < 1000)
    return std::nullopt;
  return version / 1000;
}

llvm::Error check_driver(const Functions& driver, driver_api::Result result, llvm::StringRef call) {
  if (result == driver_api::kSuccess) return llvm::Error::success();
  call.consume_back("_v2");
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.error_name) driver.error_name(result, &name);
  if (driver.error_string) driver.error_string(result, &text);
  return make_error(ErrorCode::launch_error, "{} failed: {} ({}): {}", call.str(),
                    name ? name : "?", result, text ? text : "no text");
}

llvm::Expected<DeviceProperties> device_properties(const Functions& driver,
                                                   driver_api::Device device) {
  DeviceProperties properties;
  properties.device = device;
  std::array<char, 256> name = {};
  if (llvm::Error error = call(driver, driver.device_name, name.data(), name.size() - 1, device))
    return error;
  properties.name = name.data();
  llvm::Error error = llvm::Error::success();
  auto ask = [&](driver_api::DeviceAttribute attribute, auto& field) {
    int value = 0;
    if (!error) error = call(driver, driver.device_attribute, &value, attribute, device);
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
  if (!error) error = call(driver, driver.device_memory, &bytes, device);
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
  if (llvm::Error error = check_driver(driver, result, driver.context_device.name)) return error;
  return device;
}

llvm::Expected<PrimaryContext> PrimaryContext::retain(const Functions& driver, int ordinal) {
  int count = 0;
  if (llvm::Error error = call(driver, driver.device_count, &count)) return error;
  if (ordinal < 0 || ordinal >= count)
    return make_error(ErrorCode::unavailable, "no GPU {}: {} visible; {}", ordinal, count,
                      how_to_get());
  driver_api::Device device = 0;
  driver_api::Context context = nullptr;
  if (llvm::Error error = call(driver, driver.device_get, &device, ordinal)) return error;
  if (llvm::Error error = call(driver, driver.primary_retain, &context, device)) return error;
  PrimaryContext held(&driver, device);
  if (llvm::Error error = call(driver, driver.context_set, context)) return error;
  return held;
}

PrimaryContext::~PrimaryContext() {
  if (driver_) driver_->primary_release(device_);
}

llvm::Expected<OpenGpu> OpenGpu::open(int ordinal) {
  auto driver = open_driver();
  if (!driver) return driver.takeError();
  auto context = PrimaryContext::retain(**driver, ordinal);
  if (!context) return context.takeError();
  auto properties = device_properties(**driver, context->device());
  if (!properties) return properties.takeError();
  return OpenGpu{*driver, std::move(*context), std::move(*properties)};
}

llvm::Expected<LoadedLibrary> LoadedLibrary::load(const Functions& driver, const std::string& cubin,
                                                  const std::string& name) {
  driver_api::Library library = nullptr;
  if (llvm::Error error = call(driver, driver.library_load, &library, cubin.data(), nullptr,
                               nullptr, 0, nullptr, nullptr, 0))
    return make_error(ErrorCode::launch_error, "cannot load kernel {}: {}", name,
                      take_error(std::move(error)).second);
  return LoadedLibrary({driver, library, &Functions::library_unload});
}

llvm::Expected<driver_api::Kernel> LoadedLibrary::kernel(const std::string& entry) const {
  const Functions& driver = library_.driver();
  driver_api::Kernel kernel = nullptr;
  if (llvm::Error error =
          call(driver, driver.library_kernel, &kernel, library_.get(), entry.c_str()))
    return make_error(ErrorCode::launch_error, "cannot load kernel {}: {}", entry,
                      take_error(std::move(error)).second);
  return kernel;
}

} // namespace ingot
