// SPDX-License-Identifier: Apache-2.0
// See block.h.
#include "tests/emulation/block.h"

#include "src/support/error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ingot::emulation {

namespace {

/// The bits of an f32, rounded to nearest TF32, ties to even. A NaN stays one.
uint32_t round_tf32(uint32_t bits) {
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  if (is_nan) return 0x7fffe000;
  return (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
}

/// Copies an element; zero outside of the tensor.
void read_mapped(const TensorMap& map, std::array<int64_t, 3> at, unsigned char* to) {
  bool is_inside = true;
  for (size_t dim = 0; dim < 3; ++dim) is_inside &= at[dim] >= 0 && at[dim] < map.extents[dim];
  const int64_t offset =
      at[0] * map.element_bytes + at[1] * map.strides[0] + at[2] * map.strides[1];
  std::memset(to, 0, map.element_bytes);
  if (!is_inside) return;
  std::memcpy(to, map.tensor + offset, map.element_bytes);
  if (!map.rounds) return;
  uint32_t bits;
  std::memcpy(&bits, to, 4);
  bits = round_tf32(bits);
  std::memcpy(to, &bits, 4);
}

} // namespace

Block::Block(int threads, size_t shared_bytes, const Adversary& adversary)
    : adversary_(adversary), random_(adversary.seed), shared_memory_(shared_bytes, 1024),
      threads_(threads), warps_((threads + kLanes - 1) / kLanes), order_(warps_.size()) {
  for (int t = 0; t < threads; ++t) fibers_.push_back(std::make_unique<Fiber>());
  std::iota(order_.begin(), order_.end(), 0);
  shared = shared_memory_.data();
}

void Block::enter(void* self) {
  Block& block = *static_cast<Block*>(self);
  block.body_(block.words_);
  block.cluster_->end(block.threads_[block.thread].arrivals);
  block.leave(State::done);
}

void Block::start(Body body, const unsigned long long* words, int index, int count,
                  std::shared_ptr<Cluster> cluster) {
  cluster_ = std::move(cluster);
  body_ = body;
  words_ = words;
  block = index;
  blocks = count;
  waiting_ = done_ = 0;
  any_ = false;
  problem_.clear();
  shared_memory_.poison();
  patience_ = uint64_t{256} << random_() % 8;
  std::shuffle(order_.begin(), order_.end(), random_);
  for (Warp& warp : warps_) warp.ready = 0;
  groups_.clear();
  product_waits_.clear();
  mbarriers_ = {};
  bulk_copies_.clear();
  for (size_t t = 0; t < threads_.size(); ++t) {
    threads_[t] = Thread();
    warps_[t / kLanes].ready |= 1u << t % kLanes;
    fibers_[t]->start(&Block::enter, this);
  }
}

bool Block::can_run() const {
  const bool is_ready =
      std::any_of(warps_.begin(), warps_.end(), [](const Warp& warp) { return warp.ready != 0; });
  return is_ready || !bulk_copies_.empty() ||
         std::any_of(threads_.begin(), threads_.end(),
                     [&](const Thread& thread) { return may_wake(thread); });
}

bool Block::may_wake(const Thread& thread) const {
  if (thread.state == State::at_count) return *thread.counter >= thread.count;
  return thread.state == State::in_cluster && cluster_->has_passed(thread.arrivals - 1);
}

Progress Block::resume() {
  pausing_ = false;
  wake_waiting();
  while (done_ < static_cast<int>(threads_.size())) {
    // Copies that no thread waits for yet may land at any time.
    if (!bulk_copies_.empty() && random_() % patience_ < 4)
      land_bulk(random_() % bulk_copies_.size());
    thread = pick();
    if (thread < 0) {
      if (bulk_copies_.empty()) return waits_for_others() ? Progress::paused : fail(deadlock());
      land_bulk(random_() % bulk_copies_.size());
      continue;
    }
    fibers_[thread]->resume();
    if (problem_.empty()) problem_ = mbarriers_.problem();
    if (!problem_.empty()) return Progress::failed;
    if (pausing_) return Progress::paused;
  }
  if (!shared_memory_.surroundings_intact()) return fail("a thread wrote beyond shared memory");
  if (!bulk_copies_.empty() || mbarriers_.has_open_bytes())
    return fail("the block ended while copies were in flight");
  const auto multiplies = [](const Thread& thread) {
    return !thread.open_products.empty() || !thread.product_groups.empty();
  };
  if (std::any_of(threads_.begin(), threads_.end(), multiplies))
    return fail("a thread ended while its products were under way");
  cluster_->has_ended[rank_in_cluster()] = true;
  return Progress::done;
}

/// Ends the run from the running thread.
void Block::stop(std::string problem) {
  problem_ = std::move(problem);
  fibers_[thread]->suspend();
}

/// Counts an operation of the running thread; whether it is left out.
bool Block::is_skipped(Operation operation) {
  const auto kind = static_cast<size_t>(operation);
  const int index = threads_[thread].met[kind]++;
  most_[kind] = std::max(most_[kind], index + 1);
  return adversary_.skipped && adversary_.skipped->operation == operation &&
         adversary_.skipped->index == index;
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
/// then, in some runs seldom, another one comes first. Lanes of a warp come in any order.
int Block::pick() {
  if (random_() % patience_ == 0) std::shuffle(order_.begin(), order_.end(), random_);
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
  for (size_t t = 0; t < threads_.size(); ++t) wake(static_cast<int>(t));
  std::shuffle(order_.begin(), order_.end(), random_);
}

void Block::wake(int index) {
  threads_[index].state = State::ready;
  warps_[index / kLanes].ready |= 1u << index % kLanes;
}

bool Block::barrier(bool value) {
  const bool skipped = is_skipped(Operation::barrier);
  land_loose();
  if (skipped) return value;
  any_ |= value;
  leave(State::at_barrier);
  return any_released_;
}

void Block::warp_barrier() {
  const bool skipped = is_skipped(Operation::warp_barrier);
  land_loose();
  if (!skipped) exchange({{0}});
}

/// The running thread waits until `count` threads have come; whether any of them gave true.
bool Block::gather(Gathering& gathering, int count, bool value) {
  gathering.any |= value;
  gathering.threads.push_back(thread);
  if (static_cast<int>(gathering.threads.size()) < count) {
    leave(State::in_group);
  } else {
    gathering.any_released = gathering.any;
    gathering.any = false;
    for (int index : gathering.threads) wake(index);
    gathering.threads.clear();
    std::shuffle(order_.begin(), order_.end(), random_);
    fibers_[thread]->suspend();
  }
  return gathering.any_released;
}

bool Block::group_barrier(int32_t id, int32_t threads, bool value) {
  if (id < 1 || id > 15 || threads % kLanes != 0)
    stop(fmt::format("thread {}: barrier {} of {} threads", thread, id, threads));
  return is_skipped(Operation::group_barrier) ? value : gather(groups_[id], threads, value);
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
  std::memset(copy.to, 0, copy.size);
  if (copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
}

void Block::copy_async(void* shared_to, const void* global, int32_t bytes, int32_t size) {
  const Copy copy{static_cast<uint8_t*>(shared_to), global, bytes, size};
  const bool aligned = reinterpret_cast<uintptr_t>(shared_to) % size == 0 &&
                       reinterpret_cast<uintptr_t>(global) % size == 0;
  if (!aligned || bytes < 0 || bytes > size)
    stop(fmt::format("thread {}: cp.async of {} bytes from {} to {}", thread, bytes, global,
                     shared_to));
  if (!adversary_.late_copies) return land(copy);
  for (int i = 0; i < size / 2; ++i) std::memcpy(copy.to + 2 * i, &kPoison, 2);
  threads_[thread].open.push_back(copy);
}

void Block::commit_copies() {
  Thread& self = threads_[thread];
  if (is_skipped(Operation::copy_commit)) return;
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
  if (is_skipped(Operation::copy_wait))
    self.loose = true;
  else if (static_cast<int32_t>(self.groups.size()) > pending)
    land_groups(self.groups.size() - static_cast<size_t>(pending));
}

void Block::make_mbarrier(uint32_t at, uint32_t arrivals) { mbarriers_.make(at, arrivals); }

/// Threads that wait for a phase of this mbarrier look again.
void Block::wake_at_phase(uint32_t mbarrier) {
  for (size_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].state == State::at_phase && threads_[t].mbarrier == mbarrier)
      wake(static_cast<int>(t));
}

void Block::arrive(uint32_t at, uint32_t bytes) {
  if (!is_skipped(Operation::arrival) && mbarriers_.arrive(at, bytes)) wake_at_phase(at);
}

void Block::wait_phase(uint32_t at, uint32_t parity) {
  if (is_skipped(Operation::phase_wait)) return;
  while (!mbarriers_.has_passed(at, parity)) {
    threads_[thread].mbarrier = at;
    leave(State::at_phase);
  }
}

void Block::copy_bulk(uint32_t to, const void* global, uint32_t bytes, uint32_t at) {
  if (to % 16 != 0 || reinterpret_cast<uintptr_t>(global) % 16 != 0 || bytes % 16 != 0 ||
      to + bytes > shared_memory_.size())
    stop(fmt::format("thread {}: bulk copy of {} bytes from {} to {} of {} bytes", thread, bytes,
                     global, to, shared_memory_.size()));
  start_bulk(
      {to, bytes, at, [=](unsigned char* shared_to) { std::memcpy(shared_to, global, bytes); }});
}

/// The copy of a box of a tensor.
Block::BulkCopy Block::box_copy(uint32_t to, const TensorMap& map, std::array<int32_t, 3> from,
                                uint32_t at) {
  const auto line_bytes = static_cast<uint32_t>(map.box[0] * map.element_bytes);
  const auto lines = static_cast<uint32_t>(map.box[1]);
  if (to % 1024 != 0 || line_bytes != 128 || map.box[2] != 1 ||
      to + lines * line_bytes > shared_memory_.size())
    stop(fmt::format("thread {}: copy of a box of {} x {} to {} of {} bytes", thread, map.box[1],
                     map.box[0], to, shared_memory_.size()));
  return {to, lines * line_bytes, at, [=](unsigned char* shared_to) {
            for (uint32_t line = 0; line < lines; ++line)
              for (int64_t k = 0; k < map.box[0]; ++k) {
                const auto place = line * 128 + static_cast<uint32_t>(k * map.element_bytes);
                read_mapped(map, {from[0] + k, from[1] + line, from[2]},
                            shared_to + (place ^ (place >> 3 & 0x70)));
              }
          }};
}

void Block::copy_box(uint32_t to, const TensorMap& map, std::array<int32_t, 3> from, uint32_t at) {
  start_bulk(box_copy(to, map, from, at));
}

void Block::copy_box_to(uint16_t blocks, uint32_t to, const TensorMap& map,
                        std::array<int32_t, 3> from, uint32_t at) {
  const BulkCopy copy = box_copy(to, map, from, at);
  for (uint32_t rank = 0; rank < 16; ++rank)
    if ((blocks >> rank & 1) != 0) other_block(rank, "a copy").start_bulk(copy);
}

void Block::start_bulk(BulkCopy copy) {
  for (uint32_t i = 0; i < copy.bytes; i += sizeof(kPoison))
    std::memcpy(shared + copy.to + i, &kPoison, sizeof(kPoison));
  bulk_copies_.push_back(std::move(copy));
  if (!adversary_.late_copies) land_bulk(bulk_copies_.size() - 1);
}

void Block::land_bulk(size_t index) {
  const BulkCopy copy = bulk_copies_[index];
  bulk_copies_.erase(bulk_copies_.begin() + static_cast<ptrdiff_t>(index));
  copy.land(shared + copy.to);
  if (mbarriers_.land(copy.mbarrier, copy.bytes)) wake_at_phase(copy.mbarrier);
}

void Block::multiply_async(std::function<void()> product) {
  threads_[thread].open_products.push_back(std::move(product));
}

void Block::commit_products() {
  Thread& self = threads_[thread];
  if (!adversary_.late_copies) {
    for (const auto& product : self.open_products) product();
    self.open_products.clear();
  }
  self.product_groups.push_back(std::move(self.open_products));
  self.open_products.clear();
}

/// A group belongs to the warpgroup: it is complete when the shares of all its threads are.
void Block::wait_products(int32_t pending) {
  if (is_skipped(Operation::product_wait)) return;
  auto& groups = threads_[thread].product_groups;
  if (static_cast<int32_t>(groups.size()) <= pending) return; // nothing joins the threads
  while (static_cast<int32_t>(groups.size()) > pending) {
    for (const auto& product : groups.front()) product();
    groups.erase(groups.begin());
  }
  gather(product_waits_[thread / kWarpgroup], kWarpgroup, false);
}

/// Threads that waited for another block look again.
void Block::wake_waiting() {
  for (size_t t = 0; t < threads_.size(); ++t)
    if (may_wake(threads_[t])) wake(static_cast<int>(t));
}

/// Whether a thread may wait for another block.
bool Block::waits_for_others() const {
  return cluster_->blocks.size() > 1 ||
         std::any_of(threads_.begin(), threads_.end(),
                     [](const Thread& thread) { return thread.state == State::at_count; });
}

void Block::count_up(uint32_t* counter) {
  if (is_skipped(Operation::count_up)) return;
  ++*counter;
  wake_waiting();
  let_others_run();
}

void Block::wait_for_count(const uint32_t* counter, uint32_t count) {
  if (is_skipped(Operation::count_wait)) return;
  while (*counter < count) {
    threads_[thread].counter = counter;
    threads_[thread].count = count;
    leave(State::at_count);
  }
}

uint32_t Block::rank_in_cluster() const {
  return static_cast<uint32_t>(block) % static_cast<uint32_t>(cluster_->blocks.size());
}

void Block::cluster_arrive() {
  if (is_skipped(Operation::cluster_arrival)) return;
  cluster_->arrive(threads_[thread].arrivals++);
  wake_waiting();
  if (random_() % 64 == 0) let_others_run();
}

void Block::cluster_wait() {
  if (is_skipped(Operation::cluster_wait)) return;
  if (threads_[thread].arrivals == 0)
    stop(fmt::format("thread {}: a wait for the cluster without an arrival", thread));
  while (!cluster_->has_passed(threads_[thread].arrivals - 1)) leave(State::in_cluster);
}

/// Block `rank` of the cluster, whose shared memory must still be there.
Block& Block::other_block(uint32_t rank, const std::string& access) {
  if (rank >= cluster_->blocks.size() || cluster_->has_ended[rank])
    stop(fmt::format("thread {}: {} to block {} of a cluster of {}, which is not there", thread,
                     access, rank, cluster_->blocks.size()));
  return *cluster_->blocks[rank];
}

void Block::arrive_at_block(uint32_t at, uint32_t rank) {
  if (is_skipped(Operation::arrival)) return;
  Block& block = other_block(rank, "an arrival");
  if (block.mbarriers_.arrive(at, 0)) block.wake_at_phase(at);
  if (random_() % 64 == 0) let_others_run();
}

void Block::store_to_block(uint32_t at, uint32_t word, uint32_t rank, uint32_t mbarrier) {
  if (at % sizeof(word) != 0 || at + sizeof(word) > shared_memory_.size())
    stop(fmt::format("thread {}: a store to address {}", thread, at));
  other_block(rank, "a store").start_bulk({at, sizeof(word), mbarrier, [=](unsigned char* to) {
                                             std::memcpy(to, &word, sizeof(word));
                                           }});
}

std::string Block::deadlock() const {
  std::array<int, 8> count = {};
  for (const Thread& thread : threads_) ++count[static_cast<size_t>(thread.state)];
  const auto of = [&](State state) { return count[static_cast<size_t>(state)]; };
  return fmt::format("deadlock in block {}: {} threads wait at a barrier, {} for their warp's "
                     "lanes, {} for their group, {} for a phase of an mbarrier, {} for their "
                     "cluster, {} for a count, {} are done",
                     block, of(State::at_barrier), of(State::in_exchange), of(State::in_group),
                     of(State::at_phase), of(State::in_cluster), of(State::at_count),
                     of(State::done));
}

} // namespace ingot::emulation
