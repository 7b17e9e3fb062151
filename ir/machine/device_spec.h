// SPDX-License-Identifier: Apache-2.0
// The machine as plain numbers, so that schedules and plans need no GPU. Presets here; the runtime
// fills one in for the card that is present.
#pragma once

#include "src/support/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// Sources: vendor data sheets and the CUDA C++ Programming Guide, "Compute Capabilities".
struct DeviceSpec {
  std::string name; ///< a100, h100, h200, or native
  std::string arch; ///< what machine code is made for: sm_80, sm_90
  int64_t sm_count = 108;
  int64_t shared_per_block = 163 * 1024; ///< bytes a block may ask for
  int64_t shared_per_sm = 164 * 1024;
  int64_t registers_per_sm = 65536;
  int64_t threads_per_sm = 2048;
  int64_t l2_bytes = 40ll << 20;
  double bytes_per_second = 2.0e12;
  double tensor_flops = 312e12; ///< f16 and bf16, dense
  double f32_flops = 19.5e12;
  double mma_flops = 312e12; ///< of f16 and bf16 by mma.sync, which sm_80's instructions reach
  /// What tiles of operands get out of the L2 cache. A100: 5120 bytes a clock (architecture
  /// whitepaper) at 1.41 GHz; H100 and H200: what tiles of 64x64 were measured to get.
  double l2_bytes_per_second = 7.2e12;
  double shared_bytes_per_second = 19.5e12; ///< 128 bytes a clock and SM, all SMs together
};

/// Bytes of shared memory that the system takes for each block of an SM, from compute
/// capability 8.0 on (CUDA C++ Programming Guide, "Shared Memory" of each).
inline constexpr int64_t kReservedSharedBytes = 1024;

/// Which sources and instructions may be used.
struct Target {
  std::string family; ///< sm_80
  DeviceSpec device;
};

/// Resolves --target and --device; an empty device is the family's flagship. `native` must be
/// given as the spec of the card. Errors list the choices.
llvm::Expected<Target> make_target(const std::string& family, const std::string& device);

/// a100, h100, h200.
const std::vector<DeviceSpec>& device_presets();

} // namespace ingot
