// SPDX-License-Identifier: Apache-2.0
// The mbarriers in a block's shared memory. A phase ends when all of its arrivals and announced
// bytes have come. Waits tell phases apart by their parity alone, as the machine does. Used by
// block.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ingot::emulation {

class Mbarriers {
public:
  void make(uint32_t at, uint32_t arrivals);
  /// One arrival, which announces `bytes`. Returns whether a phase ended.
  bool arrive(uint32_t at, int64_t bytes);
  /// Announced bytes have landed. Returns whether a phase ended.
  bool land(uint32_t at, int64_t bytes);
  /// Whether the phase of this parity has ended.
  bool has_passed(uint32_t at, uint32_t parity);
  /// The first misuse, or an empty text.
  const std::string& problem() const { return problem_; }
  /// Whether announced bytes have not landed, or more landed than were announced.
  bool has_open_bytes() const;

private:
  struct Barrier {
    int64_t arrivals = 0; ///< of each phase
    int64_t missing = 0;  ///< arrivals that this phase still waits for
    int64_t bytes = 0;    ///< announced and not landed; negative: landed and not yet announced
    uint32_t parity = 0;  ///< of this phase
  };
  Barrier* find(uint32_t at);
  static bool end_phase(Barrier& barrier);

  std::map<uint32_t, Barrier> barriers_;
  std::string problem_;
};

} // namespace ingot::emulation
