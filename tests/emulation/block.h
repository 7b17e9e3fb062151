// SPDX-License-Identifier: Apache-2.0
// Runs one block of an emulated kernel: its threads as fibers in an adversarial, seeded order.
// Called by emulator.cpp for every block of a launch; several may be under way.
#pragma once

#include "tests/emulation/fiber.h"
#include "tests/emulation/guarded_memory.h"
#include "tests/emulation/machine.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ingot::emulation {

/// The order of operations that a kernel leaves open, and the synchronisation that is left out.
struct Adversary {
  uint64_t seed = 0;
  /// cp.async lands when its wait demands it, with poison in its place until then; else at once.
  bool late_copies = true;
  /// The n-th barrier that each thread meets in a launch's block is left out; -1: none.
  int skipped_barrier = -1;
  /// The same of waits for copies. The copies then land at some later barrier, of the block or of a
  /// warp, or as late as the next wait demands.
  int skipped_wait = -1;
  /// The same of commits: the copies become part of the next group.
  int skipped_commit = -1;
  /// The same of barriers of a warp.
  int skipped_warp_barrier = -1;
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

  /// Makes every thread call body(words) when it is resumed, as block `index` of `count`.
  void start(Body body, const unsigned long long* words, int index, int count);
  /// Runs until the block is done, or pauses. After a failure the block is not used again.
  Progress resume();
  /// The error, or an empty text.
  const std::string& problem() const { return problem_; }
  /// The most barriers that a thread met so far in one run.
  int barriers() const { return most_barriers_; }
  int waits() const { return most_waits_; }
  int commits() const { return most_commits_; }
  int warp_barriers() const { return most_warp_barriers_; }

  bool barrier(bool value) override;
  void warp_barrier() override;
  void let_others_run() override;
  const LaneWords* exchange(const LaneWords& mine) override;
  void copy_async(void* shared_to, const void* global, int32_t bytes) override;
  void commit_copies() override;
  void wait_copies(int32_t pending) override;

private:
  static constexpr int kLanes = 32;
  enum class State : uint8_t { ready, at_barrier, in_exchange, done };
  struct Copy {
    uint8_t* to;
    const void* from;
    int32_t bytes;
  };
  struct Thread {
    State state = State::ready;
    int barriers = 0;
    int waits = 0;
    int commits = 0;
    int warp_barriers = 0;
    bool loose = false; ///< a wait was left out
    std::vector<Copy> open;
    std::vector<std::vector<Copy>> groups; ///< committed, oldest first
  };
  struct Warp {
    uint32_t ready = 0; ///< lanes that can go on
    int arrived = 0;    ///< in the collective instruction under way
    int parity = 0;     ///< which buffer it uses: slow lanes still read the last one's
    LaneWords words[2][kLanes];
  };

  static void enter(void* self);
  static void land(const Copy& copy);
  void land_groups(size_t count);
  void land_loose();
  int pick();
  void leave(State state);
  void release_barrier();
  Progress fail(std::string problem);
  std::string deadlock() const;

  const Adversary adversary_;
  std::mt19937_64 random_;
  GuardedMemory shared_memory_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<int> order_; ///< of warps: the first one that can go on does
  Body body_ = nullptr;
  const unsigned long long* words_ = nullptr;
  int waiting_ = 0, done_ = 0;
  bool pausing_ = false;
  bool any_ = false;          ///< of the arguments of the threads at the barrier
  bool any_released_ = false; ///< of the last barrier
  int most_barriers_ = 0, most_waits_ = 0, most_commits_ = 0, most_warp_barriers_ = 0;
  std::string problem_;
};

} // namespace ingot::emulation
