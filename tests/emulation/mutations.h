// SPDX-License-Identifier: Apache-2.0
// Kernels that run with one barrier, one wait for copies or one commit of them left out. Used by
// the tests that each of them is missed.
#pragma once

#include "tests/emulation/cases.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <string>

namespace ingot::emulation {

/// Whether results differ, in any of several orders, because of the operation that `options` skip.
inline bool is_noticed(const BuiltCase& built, const Outcome& whole, RunOptions options) {
  for (uint64_t seed = 1; seed <= 128; ++seed)
    for (const bool late : {true, false}) {
      options.adversary.seed = seed;
      options.adversary.late_copies = late;
      const Outcome outcome = built.run(options);
      if (!built.judge(outcome).empty() || !difference(whole, outcome).empty()) return true;
    }
  return false;
}

/// The kind of operation that is left out.
struct Mutation {
  const char* name;
  Operation operation;
};
inline constexpr Mutation kBarrier = {"barrier", Operation::barrier};
inline constexpr Mutation kWait = {"wait", Operation::copy_wait};
inline constexpr Mutation kWarpBarrier = {"warp barrier", Operation::warp_barrier};
inline constexpr Mutation kCommit = {"commit", Operation::copy_commit};
inline constexpr Mutation kGroupBarrier = {"barrier of the group", Operation::group_barrier};
inline constexpr Mutation kArrival = {"arrival", Operation::arrival};
inline constexpr Mutation kPhaseWait = {"wait for a phase", Operation::phase_wait};
inline constexpr Mutation kClusterArrival = {"arrival in the cluster", Operation::cluster_arrival};
inline constexpr Mutation kClusterWait = {"wait for the cluster", Operation::cluster_wait};
inline constexpr Mutation kCountUp = {"count", Operation::count_up};
inline constexpr Mutation kCountWait = {"wait for a count", Operation::count_wait};
inline constexpr Mutation kProductWait = {"wait for products", Operation::product_wait};

/// Leaves out each of them in each kernel in turn; barriers only where there is shared memory.
/// Blocks take several tiles, so that operations between tiles count too, unless there are
/// `most_blocks`. Nothing depends on those of `idle`.
inline void check_each(const Mutation& mutation, const Case& one, int least,
                       llvm::ArrayRef<int> idle = {}, int64_t most_blocks = 1) {
  const BuiltCase built = BuiltCase::make(one);
  RunOptions options;
  options.most_blocks = most_blocks;
  const Outcome whole = built.run(options);
  REQUIRE(built.judge(whole) == "");
  int found = 0;
  for (const Launched& launched : whole.launches) {
    if (mutation.operation == Operation::barrier && launched.shared_bytes == 0) continue;
    // Kernels that pack operands are not asked here.
    if (llvm::StringRef(launched.entry).starts_with("packed_")) continue;
    options.mutated = launched.entry;
    const int count = launched.met[static_cast<size_t>(mutation.operation)];
    found += count;
    for (int skipped = 0; skipped < count; ++skipped) {
      options.adversary.skipped = {mutation.operation, skipped};
      if (llvm::is_contained(idle, skipped)) continue;
      CHECK_MESSAGE(is_noticed(built, whole, options), one.spec, ": nothing misses ",
                    std::string(mutation.name), " ", skipped, " of ", count, " in ",
                    launched.entry);
    }
  }
  CHECK(found >= least);
}

} // namespace ingot::emulation
