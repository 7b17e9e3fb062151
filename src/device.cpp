// SPDX-License-Identifier: Apache-2.0
// See device.h.
#include "src/device.h"

#include "llvm/ADT/StringRef.h"

namespace ingot {

llvm::Expected<DeviceSpec> device_spec_of(const DeviceProperties& properties) {
  if (properties.compute_major < 8)
    return make_error(ErrorCode::unsupported,
                      "{} has compute capability {}.{}; kernels need 8.0 or higher",
                      properties.name, properties.compute_major, properties.compute_minor);
  DeviceSpec spec = device_presets().front();
  // A card without a preset gets the rates of the first preset, scaled by the number of SMs.
  const double scale = static_cast<double>(properties.num_sms) / static_cast<double>(spec.sm_count);
  spec.tensor_flops *= scale;
  spec.f32_flops *= scale;
  spec.mma_flops *= scale;
  spec.shared_bytes_per_second *= scale;
  spec.l2_bytes_per_second *= scale;
  for (const DeviceSpec& preset : device_presets())
    if (llvm::StringRef(properties.name).contains_insensitive(preset.name)) spec = preset;
  spec.name = "native";
  spec.arch = fmt::format("sm_{}{}", properties.compute_major, properties.compute_minor);
  spec.sm_count = properties.num_sms;
  spec.shared_per_block = properties.max_shared_bytes;
  spec.shared_per_sm = properties.shared_bytes_per_sm;
  spec.registers_per_sm = properties.registers_per_sm;
  spec.l2_bytes = properties.l2_bytes;
  return spec;
}

llvm::Expected<DeviceSpec> native_device_spec() {
  auto driver = open_driver();
  if (!driver) return driver.takeError();
  driver_api::Device device = 0;
  if (auto error = call(**driver, (*driver)->device_get, &device, 0)) return error;
  auto properties = device_properties(**driver, device);
  if (!properties) return properties.takeError();
  return device_spec_of(*properties);
}

llvm::Error find_card(CompileOptions& options) {
  const bool is_native = options.device == "native";
  if (llvm::StringRef(options.device).contains(','))
    return make_error(ErrorCode::invalid_argument,
                      "device '{}': expected one card, a100, h100, h200 or native; only a bundle "
                      "takes a list",
                      options.device);
  auto known = make_target(options.target, is_native ? "" : options.device);
  if (!known) return known.takeError();
  options.native.reset();
  if (!is_native) return llvm::Error::success();
  auto native = native_device_spec();
  if (!native) return native.takeError();
  options.native = std::move(*native);
  return llvm::Error::success();
}

} // namespace ingot
