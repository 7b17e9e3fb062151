// SPDX-License-Identifier: Apache-2.0
// Runs one block of an emulated kernel: its threads as fibers in an adversarial, seeded order.
// Called by emulator.cpp for every block of a launch; several may be under way.
#pragma once

#include "tests/emulation/cluster.h"
#include "tests/emulation/fiber.h"
#include "tests/emulation/guarded_memory.h"
#include "tests/emulation/machine.h"
#include "tests/emulation/mbarriers.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ingot::emulation {

/// Operations of a thread that order its accesses with those of others.
enum class Operation : uint8_t {
  barrier,     ///< of the block
  copy_wait,   ///< of cp.async
  copy_commit, ///< of cp.async
  warp_barrier,
  group_barrier, ///< a named barrier
  arrival,       ///< at an mbarrier
  phase_wait,    ///< for an mbarrier
  product_wait,  ///< of wgmma
  cluster_arrival,
  cluster_wait,
  count_up,   ///< of a counter in memory
  count_wait, ///< for a counter in memory
};
inline constexpr size_t kOperations = 12;
/// A number for each of them.
using OperationCounts = std::array<int, kOperations>;

/// The order of operations that a kernel leaves open, and the synchronisation that is left out.
struct Adversary {
  uint64_t seed = 0;
  /// Copies land and products are computed as late as the kernel allows, with poison in the place
  /// of a copy until then; else at once.
  bool late_copies = true;
  struct Skipped {
    Operation operation;
    int index;
  };
  /// The operation that is left out: the `index`-th one of its kind that each thread meets in a
  /// launch's block. Copies without their wait land at some later barrier, of the block or of a
  /// warp, or as late as the next wait demands. Copies without their commit become part of the next
  /// group.
  std::optional<Skipped> skipped = {};
};

/// How far a block has come.
enum class Progress : uint8_t {
  paused, ///< it lets other blocks get ahead
  done,
  failed,
};

class Block : public Machine {
public:
  using Body = void (*)(const unsigned long long* words);

  /// Shared memory of exactly `shared_bytes`.
  Block(int threads, size_t shared_bytes, const Adversary& adversary);

  /// Makes every thread call body(words) when it is resumed, as block `index` of `count`, which is
  /// one of its cluster.
  void start(Body body, const unsigned long long* words, int index, int count,
             std::shared_ptr<Cluster> cluster);
  /// Runs until the block is done, or pauses. After a failure the block is not used again.
  Progress resume();
  /// False: all threads wait, for other blocks or forever.
  bool can_run() const;
  int threads() const { return static_cast<int>(threads_.size()); }
  /// The error, or an empty text.
  const std::string& problem() const { return problem_; }
  /// The most operations that a thread met so far in one run.
  const OperationCounts& met() const { return most_; }

  bool barrier(bool value) override;
  void warp_barrier() override;
  void let_others_run() override;
  void count_up(uint32_t* counter) override;
  void wait_for_count(const uint32_t* counter, uint32_t count) override;
  const LaneWords* exchange(const LaneWords& mine) override;
  void copy_async(void* shared_to, const void* global, int32_t bytes, int32_t size) override;
  void commit_copies() override;
  void wait_copies(int32_t pending) override;
  bool group_barrier(int32_t id, int32_t threads, bool value) override;
  void make_mbarrier(uint32_t at, uint32_t arrivals) override;
  void arrive(uint32_t at, uint32_t bytes) override;
  void wait_phase(uint32_t at, uint32_t parity) override;
  void copy_bulk(uint32_t to, const void* global, uint32_t bytes, uint32_t at) override;
  void copy_box(uint32_t to, const TensorMap& map, std::array<int32_t, 3> from,
                uint32_t at) override;
  void copy_box_to(uint16_t blocks, uint32_t to, const TensorMap& map, std::array<int32_t, 3> from,
                   uint32_t at) override;
  void multiply_async(std::function<void()> product) override;
  void commit_products() override;
  void wait_products(int32_t pending) override;
  uint32_t rank_in_cluster() const override;
  void cluster_arrive() override;
  void cluster_wait() override;
  void arrive_at_block(uint32_t at, uint32_t rank) override;
  void store_to_block(uint32_t at, uint32_t word, uint32_t rank, uint32_t mbarrier) override;

  /// The state of the threads, as text.
  std::string deadlock() const;

private:
  static constexpr int kLanes = 32, kWarpgroup = 128;
  enum class State : uint8_t {
    ready,
    at_barrier,
    in_exchange,
    in_group,
    at_phase,
    in_cluster,
    at_count,
    done
  };
  struct Copy {
    uint8_t* to;
    const void* from;
    int32_t bytes, size; ///< behind the bytes, zeros up to the size
  };
  struct Thread {
    State state = State::ready;
    OperationCounts met = {};
    bool loose = false; ///< a wait was left out
    std::vector<Copy> open;
    std::vector<std::vector<Copy>> groups; ///< committed, oldest first
    std::vector<std::function<void()>> open_products;
    std::vector<std::vector<std::function<void()>>> product_groups; ///< likewise
    uint32_t mbarrier = 0;                                          ///< at_phase: its address
    int arrivals = 0;                                               ///< in the cluster
    const uint32_t* counter = nullptr;                              ///< at_count
    uint32_t count = 0;                                             ///< for which it waits
  };
  /// A bulk copy in flight.
  struct BulkCopy {
    uint32_t to, bytes, mbarrier;
    std::function<void(unsigned char* to)> land;
  };
  /// Threads that wait for one another: a named barrier, or a warpgroup's wait for products.
  struct Gathering {
    std::vector<int> threads;
    bool any = false;          ///< of their arguments
    bool any_released = false; ///< of the last ones
  };
  struct Warp {
    uint32_t ready = 0; ///< lanes that can go on
    int arrived = 0;    ///< in the collective instruction under way
    int parity = 0;     ///< which buffer it uses: slow lanes still read the last one's
    LaneWords words[2][kLanes];
  };

  static void enter(void* self);
  bool is_skipped(Operation operation);
  bool gather(Gathering& gathering, int count, bool value);
  void wake(int index);
  void wake_at_phase(uint32_t mbarrier);
  /// True if a thread waits for another block, which has come far enough.
  bool may_wake(const Thread& thread) const;
  void wake_waiting();
  bool waits_for_others() const;
  void stop(std::string problem);
  static void land(const Copy& copy);
  void start_bulk(BulkCopy copy);
  BulkCopy box_copy(uint32_t to, const TensorMap& map, std::array<int32_t, 3> from, uint32_t at);
  Block& other_block(uint32_t rank, const std::string& access);
  void land_bulk(size_t index);
  void land_groups(size_t count);
  void land_loose();
  int pick();
  void leave(State state);
  void release_barrier();
  Progress fail(std::string problem);

  const Adversary adversary_;
  std::mt19937_64 random_;
  GuardedMemory shared_memory_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::map<int, Gathering> groups_;        ///< by the id of their named barrier
  std::map<int, Gathering> product_waits_; ///< by warpgroup
  Mbarriers mbarriers_;
  std::shared_ptr<Cluster> cluster_;
  std::vector<BulkCopy> bulk_copies_;
  std::vector<int> order_; ///< of warps: the first one that can go on does
  uint64_t patience_ = 0;  ///< steps until the order changes, or four copies land, on average
  Body body_ = nullptr;
  const unsigned long long* words_ = nullptr;
  int waiting_ = 0, done_ = 0;
  bool pausing_ = false;
  bool any_ = false;          ///< of the arguments of the threads at the barrier
  bool any_released_ = false; ///< of the last barrier
  OperationCounts most_ = {};
  std::string problem_;
};

} // namespace ingot::emulation
