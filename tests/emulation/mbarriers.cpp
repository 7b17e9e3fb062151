// SPDX-License-Identifier: Apache-2.0
// See mbarriers.h.
#include "tests/emulation/mbarriers.h"

#include <algorithm>
#include <fmt/format.h>

namespace ingot::emulation {

void Mbarriers::make(uint32_t at, uint32_t arrivals) {
  if (at % 8 != 0) problem_ = fmt::format("mbarrier at {}: expected a multiple of 8", at);
  if (arrivals == 0) problem_ = fmt::format("mbarrier at {}: no arrivals", at);
  barriers_[at] = {arrivals, arrivals, 0, 0};
}

Mbarriers::Barrier* Mbarriers::find(uint32_t at) {
  const auto found = barriers_.find(at);
  if (found != barriers_.end()) return &found->second;
  problem_ = fmt::format("no mbarrier was made at {}", at);
  return nullptr;
}

bool Mbarriers::end_phase(Barrier& barrier) {
  if (barrier.missing > 0 || barrier.bytes != 0) return false;
  barrier.missing = barrier.arrivals;
  barrier.parity ^= 1;
  return true;
}

bool Mbarriers::arrive(uint32_t at, int64_t bytes) {
  Barrier* barrier = find(at);
  if (!barrier) return false;
  if (barrier->missing == 0) problem_ = fmt::format("mbarrier at {}: an arrival too many", at);
  --barrier->missing;
  barrier->bytes += bytes;
  return end_phase(*barrier);
}

bool Mbarriers::land(uint32_t at, int64_t bytes) {
  Barrier* barrier = find(at);
  if (!barrier) return false;
  barrier->bytes -= bytes;
  return end_phase(*barrier);
}

bool Mbarriers::has_passed(uint32_t at, uint32_t parity) {
  const Barrier* barrier = find(at);
  return barrier && barrier->parity != parity;
}

bool Mbarriers::has_open_bytes() const {
  return std::any_of(barriers_.begin(), barriers_.end(),
                     [](const auto& entry) { return entry.second.bytes != 0; });
}

} // namespace ingot::emulation
