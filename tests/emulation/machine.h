// SPDX-License-Identifier: Apache-2.0
// The services of the executor for the host twin of ptx/: the running thread's place, and the
// operations that wait for other threads. Implemented by block.cpp; called by
// tests/emulation/ptx/*.cuh.
#pragma once

#include <cstdint>

namespace ingot::emulation {

/// One lane's part in a collective instruction of its warp.
struct LaneWords {
  uint32_t word[8];
};

class Machine {
public:
  virtual ~Machine() = default;

  // Of the thread that runs now.
  int32_t thread = 0;
  int32_t block = 0;
  int32_t blocks = 0;
  unsigned char* shared = nullptr;

  /// All threads of the block arrive; whether any of them gave true.
  virtual bool barrier(bool value) = 0;
  /// All 32 lanes of the warp arrive.
  virtual void warp_barrier() = 0;
  /// Other blocks may get ahead of the running one here.
  virtual void let_others_run() = 0;
  /// All 32 lanes arrive; the words of lane l at result[l], valid until the lane's next call.
  virtual const LaneWords* exchange(const LaneWords& mine) = 0;
  /// Starts to copy `bytes` (at most 16) and zeros up to 16; part of the thread's open group.
  virtual void copy_async(void* shared_to, const void* global, int32_t bytes) = 0;
  virtual void commit_copies() = 0;
  /// Until at most `pending` of the thread's groups are under way.
  virtual void wait_copies(int32_t pending) = 0;
};

} // namespace ingot::emulation
