// SPDX-License-Identifier: Apache-2.0
// See block.h.
#include "tests/emulation/block.h"

#include "src/support/error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ingot::emulation {

Block::Block(int threads, size_t shared_bytes, const Adversary& adversary)
    : adversary_(adversary), random_(adversary.seed), shared_memory_(shared_bytes, 128),
      threads_(threads), warps_((threads + kLanes - 1) / kLanes), order_(warps_.size()) {
  for (int t = 0; t < threads; ++t) fibers_.push_back(std::make_unique<Fiber>());
  std::iota(order_.begin(), order_.end(), 0);
  shared = shared_memory_.data();
}

void Block::enter(void* self) {
  Block& block = *static_cast<Block*>(self);
  block.body_(block.words_);
  block.leave(State::done);
}

void Block::start(Body body, const unsigned long long* words, int index, int count) {
  body_ = body;
  words_ = words;
  block = index;
  blocks = count;
  waiting_ = done_ = 0;
  any_ = false;
  problem_.clear();
  shared_memory_.poison();
  for (Warp& warp : warps_) warp.ready = 0;
  for (size_t t = 0; t < threads_.size(); ++t) {
    threads_[t] = Thread();
    warps_[t / kLanes].ready |= 1u << t % kLanes;
    fibers_[t]->start(&Block::enter, this);
  }
}

Progress Block::resume() {
  pausing_ = false;
  while (done_ < static_cast<int>(threads_.size())) {
    thread = pick();
    if (thread < 0) return fail(deadlock());
    fibers_[thread]->resume();
    if (!problem_.empty()) return Progress::failed;
    if (pausing_) return Progress::paused;
  }
  if (!shared_memory_.surroundings_intact()) return fail("a thread wrote beyond shared memory");
  return Progress::done;
}

Progress Block::fail(std::string problem) {
  problem_ = std::move(problem);
  return Progress::failed;
}

void Block::let_others_run() {
  pausing_ = random_() % 4 != 0;
  if (pausing_) fibers_[thread]->suspend();
}

/// A warp keeps running while it can, so that warps get as far apart as barriers allow; now and
/// then another one comes first. Lanes of a warp come in any order.
int Block::pick() {
  if (random_() % 256 == 0) std::shuffle(order_.begin(), order_.end(), random_);
  for (int w : order_) {
    uint32_t ready = warps_[w].ready;
    if (ready == 0) continue;
    for (uint64_t skip = random_() % __builtin_popcount(ready); skip > 0; --skip)
      ready &= ready - 1;
    return w * kLanes + __builtin_ctz(ready);
  }
  return -1;
}

/// Suspends the running thread, which waits as `state` says.
void Block::leave(State state) {
  const int self = thread;
  threads_[self].state = state;
  warps_[self / kLanes].ready &= ~(1u << self % kLanes);
  if (state == State::at_barrier) ++waiting_;
  if (state == State::done) ++done_;
  if (waiting_ == static_cast<int>(threads_.size())) release_barrier();
  fibers_[self]->suspend();
}

void Block::release_barrier() {
  waiting_ = 0;
  any_released_ = any_;
  any_ = false;
  for (size_t t = 0; t < threads_.size(); ++t) {
    threads_[t].state = State::ready;
    warps_[t / kLanes].ready |= 1u << t % kLanes;
  }
  std::shuffle(order_.begin(), order_.end(), random_);
}

bool Block::barrier(bool value) {
  const int index = threads_[thread].barriers++;
  most_barriers_ = std::max(most_barriers_, index + 1);
  land_loose();
  if (index == adversary_.skipped_barrier) return value;
  any_ |= value;
  leave(State::at_barrier);
  return any_released_;
}

void Block::warp_barrier() {
  const int index = threads_[thread].warp_barriers++;
  most_warp_barriers_ = std::max(most_warp_barriers_, index + 1);
  land_loose();
  if (index != adversary_.skipped_warp_barrier) exchange({{0}});
}

const LaneWords* Block::exchange(const LaneWords& mine) {
  const int lane = thread % kLanes;
  Warp& warp = warps_[thread / kLanes];
  const int parity = warp.parity;
  warp.words[parity][lane] = mine;
  if (++warp.arrived < kLanes) {
    leave(State::in_exchange);
  } else {
    // The last one to come wakes the others and is on its way itself.
    warp.arrived = 0;
    warp.parity ^= 1;
    warp.ready = ~0u;
    for (int l = 0; l < kLanes; ++l) threads_[thread - lane + l].state = State::ready;
    fibers_[thread]->suspend();
  }
  return warp.words[parity];
}

void Block::land(const Copy& copy) {
  std::memset(copy.to, 0, 16);
  if (copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
}

void Block::copy_async(void* shared_to, const void* global, int32_t bytes) {
  const Copy copy{static_cast<uint8_t*>(shared_to), global, bytes};
  const bool aligned = reinterpret_cast<uintptr_t>(shared_to) % 16 == 0 &&
                       reinterpret_cast<uintptr_t>(global) % 16 == 0;
  if (!aligned || bytes < 0 || bytes > 16) {
    problem_ = fmt::format("thread {}: cp.async of {} bytes from {} to {}", thread, bytes, global,
                           shared_to);
    fibers_[thread]->suspend();
  }
  if (!adversary_.late_copies) return land(copy);
  for (int i = 0; i < 8; ++i) std::memcpy(copy.to + 2 * i, &kPoison, 2);
  threads_[thread].open.push_back(copy);
}

void Block::commit_copies() {
  Thread& self = threads_[thread];
  const int index = self.commits++;
  most_commits_ = std::max(most_commits_, index + 1);
  if (index == adversary_.skipped_commit) return;
  self.groups.push_back(std::move(self.open));
  self.open.clear();
}

/// The oldest `count` groups of the running thread. Nothing orders groups that land together.
void Block::land_groups(size_t count) {
  auto& groups = threads_[thread].groups;
  for (size_t g = count; g > 0; --g)
    for (const Copy& copy : groups[g - 1]) land(copy);
  groups.erase(groups.begin(), groups.begin() + static_cast<ptrdiff_t>(count));
}

/// Copies for which the running thread did not wait may land whenever other threads can have come
/// further.
void Block::land_loose() {
  if (threads_[thread].loose && random_() % 2 == 0) land_groups(threads_[thread].groups.size());
}

void Block::wait_copies(int32_t pending) {
  Thread& self = threads_[thread];
  const int index = self.waits++;
  most_waits_ = std::max(most_waits_, index + 1);
  if (index == adversary_.skipped_wait)
    self.loose = true;
  else if (static_cast<int32_t>(self.groups.size()) > pending)
    land_groups(self.groups.size() - static_cast<size_t>(pending));
}

std::string Block::deadlock() const {
  int in_exchange = 0;
  for (const Thread& thread : threads_) in_exchange += thread.state == State::in_exchange;
  return fmt::format("deadlock in block {}: {} threads wait at a barrier, {} for their warp's "
                     "lanes, {} are done",
                     block, waiting_, in_exchange, done_);
}

} // namespace ingot::emulation
