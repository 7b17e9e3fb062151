// SPDX-License-Identifier: Apache-2.0
// See device_spec.h.
#include "ir/machine/device_spec.h"

namespace ingot {

const std::vector<DeviceSpec>& device_presets() {
  static const std::vector<DeviceSpec> presets = [] {
    const DeviceSpec h100{.name = "h100",
                          .arch = "sm_90",
                          .sm_count = 132,
                          .shared_per_block = 227 * 1024,
                          .shared_per_sm = 228 * 1024,
                          .l2_bytes = 50ll << 20,
                          .bytes_per_second = 3.35e12,
                          .tensor_flops = 989e12,
                          .f32_flops = 67e12,
                          .mma_flops = 644e12,
                          .l2_bytes_per_second = 8.7e12,
                          .shared_bytes_per_second = 29.7e12};
    DeviceSpec h200 = h100; // the same chip with another memory
    h200.name = "h200";
    h200.l2_bytes = 60ll << 20;
    h200.bytes_per_second = 4.8e12;
    return std::vector<DeviceSpec>{{.name = "a100", .arch = "sm_80"}, h100, h200};
  }();
  return presets;
}

llvm::Expected<Target> make_target(const std::string& family, const std::string& device) {
  if (family != "sm_80")
    return make_error(
        ErrorCode::invalid_argument,
        "unknown target '{}': expected sm_80, the family of instructions to use, which "
        "later cards run too; a card is a device: a100, h100, h200 or native",
        family);
  const std::string wanted = device.empty() ? "a100" : device;
  for (const DeviceSpec& preset : device_presets())
    if (preset.name == wanted) return Target{family, preset};
  return make_error(ErrorCode::invalid_argument,
                    "unknown device '{}': expected a100, h100, h200 or native", device);
}

} // namespace ingot
