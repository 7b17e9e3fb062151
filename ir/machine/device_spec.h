// SPDX-License-Identifier: Apache-2.0
// The machine as plain numbers, so that schedules and plans need no GPU. Presets are here. The
// runtime fills one in for the card that is present.
#pragma once

#include "src/support/error.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// Sources: vendor data sheets and the CUDA C++ Programming Guide, "Compute Capabilities".
struct DeviceSpec {
  std::string name; ///< a100, h100, h200, or native
  std::string arch; ///< the card's own architecture: sm_80, sm_90
  int64_t sm_count = 108;
  int64_t shared_per_block = 163 * 1024; ///< limit of shared memory per block, in bytes
  int64_t shared_per_sm = 164 * 1024;
  int64_t registers_per_sm = 65536;
  int64_t threads_per_sm = 2048;
  int64_t l2_bytes = 40ll << 20;
  double bytes_per_second = 2.0e12;
  double tensor_flops = 312e12; ///< f16 and bf16, dense
  double f32_flops = 19.5e12;
  double mma_flops = 312e12; ///< f16 and bf16 by mma.sync, as on sm_80
  /// Bandwidth of the L2 cache for tiles of operands. A100: 5120 bytes a clock (architecture
  /// whitepaper) at 1.41 GHz. H100 and H200: measured with tiles of 64x64.
  double l2_bytes_per_second = 7.2e12;
  double shared_bytes_per_second = 19.5e12; ///< 128 bytes per clock and SM, sum over all SMs
  /// SMs on which clusters of 4 and 8 blocks run at once. A cluster lies in one group of SMs and
  /// does not fill it: 120 of the 132 SMs of an H100 and an H200 run such clusters. Where a card
  /// runs fewer, the runtime launches fewer.
  int64_t clustered_sms() const { return sm_count * 10 / 11; }
};

/// Shared memory, in bytes, that the system takes for each block of an SM, from compute capability
/// 8.0 on (CUDA C++ Programming Guide, "Shared Memory" of each).
inline constexpr int64_t kReservedSharedBytes = 1024;

/// The sources and instructions that the compiler may use.
enum class Family : uint8_t {
  sm_80,  ///< for all cards from the A100 on
  sm_90a, ///< for Hopper alone: those of sm_80, and wgmma and bulk copies
};
/// `sm_90a`
llvm::StringRef spelling(Family family);

struct Target {
  Family family = Family::sm_80;
  DeviceSpec device;
  /// The architecture of the machine code: that of the card, or the family's if only one has it.
  std::string arch() const;
};

/// The family of this spelling. The error lists the spellings.
llvm::Expected<Family> parse_family(const std::string& text);

/// True if code of the family runs on the card.
bool runs(const DeviceSpec& device, Family family);

/// The family with the fastest instructions of a card.
Family best_family(const DeviceSpec& device);

/// Resolves --target and --device. An empty family is sm_80, an empty device is the family's
/// flagship. Errors list the choices.
llvm::Expected<Target> make_target(const std::string& family, const std::string& device);
/// The same for the card that is present. An empty family is the card's best.
llvm::Expected<Target> make_target(const std::string& family, const DeviceSpec& native);

/// a100, h100, h200.
const std::vector<DeviceSpec>& device_presets();

} // namespace ingot
