// SPDX-License-Identifier: Apache-2.0
// The barrier of a cluster of emulated blocks, and the blocks whose memory its stores reach. Used
// by block.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::emulation {

class Block;

/// A phase ends when all threads of all blocks have arrived in it, or have ended.
struct Cluster {
  int threads = 0;             ///< of all blocks
  std::vector<Block*> blocks;  ///< by rank
  std::vector<int> arrivals;   ///< by phase
  std::vector<int> ended;      ///< threads that ended, by the arrivals of each
  std::vector<bool> has_ended; ///< by rank: the block is done

  bool has_passed(int phase) const {
    if (phase >= static_cast<int>(arrivals.size())) return false;
    int here = arrivals[phase];
    for (int made = 0; made <= phase && made < static_cast<int>(ended.size()); ++made)
      here += ended[made];
    return here == threads;
  }
  /// A thread ends that has made so many arrivals.
  void end(int made) {
    if (static_cast<int>(ended.size()) <= made) ended.resize(made + 1);
    ++ended[made];
  }
  void arrive(int phase) {
    if (static_cast<int>(arrivals.size()) <= phase) arrivals.resize(phase + 1);
    ++arrivals[phase];
  }
};

} // namespace ingot::emulation
