// SPDX-License-Identifier: Apache-2.0
// Memory whose surroundings are inaccessible or checked, poisoned with signalling NaN. Tensors,
// workspace and shared memory of emulated kernels lie in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::emulation {

/// Every 16 bits of poison. A pair is a signalling NaN of f32, one alone a NaN of f16 and bf16.
inline constexpr uint16_t kPoison = 0x7fb5;

class GuardedMemory {
public:
  /// `bytes` of poison that end, but for less than `alignment`, at an inaccessible page; an
  /// alignment of at most 4096. `misalign`, in bytes, makes the start an odd multiple of itself.
  GuardedMemory(size_t bytes, size_t alignment, size_t misalign = 0);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return bytes_; }
  void poison();
  /// From here on writing faults.
  void make_read_only();
  /// False: something wrote beside the data.
  bool surroundings_intact() const;

private:
  uint8_t* body_ = nullptr; ///< accessible pages, an inaccessible one on each side
  size_t body_bytes_ = 0;
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace ingot::emulation
