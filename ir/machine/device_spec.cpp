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

namespace {

llvm::Expected<Target> target_of(Family family, const DeviceSpec& device) {
  if (!runs(device, family))
    return make_error(ErrorCode::invalid_argument,
                      "target sm_90a: expected a Hopper card as the device, h100 or h200, got {} "
                      "({}); choose target sm_80",
                      device.name, device.arch);
  return Target{family, device};
}

} // namespace

llvm::StringRef spelling(Family family) { return family == Family::sm_80 ? "sm_80" : "sm_90a"; }

std::string Target::arch() const { return family == Family::sm_90a ? "sm_90a" : device.arch; }

llvm::Expected<Family> parse_family(const std::string& text) {
  for (Family family : {Family::sm_80, Family::sm_90a})
    if (spelling(family) == text) return family;
  return make_error(
      ErrorCode::invalid_argument,
      "unknown target '{}': expected sm_80, the family of instructions that all cards "
      "from the A100 on run, or sm_90a for Hopper alone; a card is a device: a100, "
      "h100, h200 or native",
      text);
}

bool runs(const DeviceSpec& device, Family family) {
  return family == Family::sm_80 || device.arch == "sm_90";
}

Family best_family(const DeviceSpec& device) {
  return runs(device, Family::sm_90a) ? Family::sm_90a : Family::sm_80;
}

llvm::Expected<Target> make_target(const std::string& family_name, const std::string& device) {
  auto family = family_name.empty() ? Family::sm_80 : parse_family(family_name);
  if (!family) return family.takeError();
  const std::string flagship = *family == Family::sm_90a ? "h100" : "a100";
  const std::string wanted = device.empty() ? flagship : device;
  for (const DeviceSpec& preset : device_presets())
    if (preset.name == wanted) return target_of(*family, preset);
  return make_error(ErrorCode::invalid_argument,
                    "unknown device '{}': expected a100, h100, h200 or native", device);
}

llvm::Expected<Target> make_target(const std::string& family_name, const DeviceSpec& native) {
  auto family = family_name.empty() ? best_family(native) : parse_family(family_name);
  if (!family) return family.takeError();
  return target_of(*family, native);
}

} // namespace ingot
