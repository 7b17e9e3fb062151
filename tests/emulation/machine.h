// SPDX-License-Identifier: Apache-2.0
// The services of the executor for the host twin of ptx/: the running thread's place, and the
// operations that wait for other threads. Implemented by block.cpp; called by
// tests/emulation/ptx/*.cuh.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace ingot::emulation {

/// One lane's part in a collective instruction of its warp.
struct LaneWords {
  uint32_t word[8];
};

/// A tensor map: a tensor, innermost dim first, and the box of a copy.
struct TensorMap {
  int32_t element_bytes = 2; ///< 2 or 4
  bool rounds = false;       ///< copies round f32 to TF32
  const unsigned char* tensor = nullptr;
  std::array<int64_t, 3> extents{}; ///< elements
  std::array<int64_t, 2> strides{}; ///< bytes
  std::array<int64_t, 3> box{};     ///< elements
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
  /// Adds 1 to a counter in memory, at which threads of any block may wait.
  virtual void count_up(uint32_t* counter) = 0;
  /// Until the counter has reached `count`.
  virtual void wait_for_count(const uint32_t* counter, uint32_t count) = 0;
  /// All 32 lanes arrive; the words of lane l at result[l], valid until the lane's next call.
  virtual const LaneWords* exchange(const LaneWords& mine) = 0;
  /// Starts to copy `bytes` and zeros up to `size` (4, 8 or 16); part of the thread's open group.
  virtual void copy_async(void* shared_to, const void* global, int32_t bytes, int32_t size) = 0;
  virtual void commit_copies() = 0;
  /// Until at most `pending` of the thread's groups are under way.
  virtual void wait_copies(int32_t pending) = 0;

  // sm_90a.

  /// `threads` threads arrive at barrier `id`; whether any of them gave true.
  virtual bool group_barrier(int32_t id, int32_t threads, bool value) = 0;
  /// Makes an mbarrier at an address of shared memory, whose phases have so many arrivals.
  virtual void make_mbarrier(uint32_t at, uint32_t arrivals) = 0;
  /// One arrival, which announces `bytes` for this phase.
  virtual void arrive(uint32_t at, uint32_t bytes) = 0;
  /// Until the phase of this parity has ended.
  virtual void wait_phase(uint32_t at, uint32_t parity) = 0;
  /// Starts to copy `bytes` from memory to `to` in shared memory, for the current phase of the
  /// mbarrier `at`.
  virtual void copy_bulk(uint32_t to, const void* global, uint32_t bytes, uint32_t at) = 0;
  /// Starts to copy the box at these coordinates of a tensor, as copy_bulk does. Its lines are
  /// swizzled by 128 bytes, and elements outside of the tensor are zeros.
  virtual void copy_box(uint32_t to, const TensorMap& map, std::array<int32_t, 3> from,
                        uint32_t at) = 0;
  /// The same to each block of the cluster whose bit is set.
  virtual void copy_box_to(uint16_t blocks, uint32_t to, const TensorMap& map,
                           std::array<int32_t, 3> from, uint32_t at) = 0;
  /// Starts a product, which reads shared memory and changes the thread's sums; part of the
  /// thread's open group of products.
  virtual void multiply_async(std::function<void()> product) = 0;
  virtual void commit_products() = 0;
  /// Until at most `pending` groups of products of the warpgroup are under way.
  virtual void wait_products(int32_t pending) = 0;
  /// The place of the block in its cluster.
  virtual uint32_t rank_in_cluster() const = 0;
  /// All threads of the cluster arrive; each waits until they have.
  virtual void cluster_arrive() = 0;
  virtual void cluster_wait() = 0;
  /// One arrival at the mbarrier of block `rank` of the cluster.
  virtual void arrive_at_block(uint32_t at, uint32_t rank) = 0;
  /// Starts to store a word in the shared memory of block `rank` of the cluster, for the current
  /// phase of its mbarrier.
  virtual void store_to_block(uint32_t at, uint32_t word, uint32_t rank, uint32_t mbarrier) = 0;
};

} // namespace ingot::emulation
