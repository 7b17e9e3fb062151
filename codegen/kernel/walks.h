// SPDX-License-Identifier: Apache-2.0
// The walks of a kernel over the rows of its tiles, and the reads of each. Rows that are held are
// walked once; others once for each reduction and once for the stores.
#pragma once

#include "codegen/kernel/kernel.h"

#include <set>

namespace ingot {

/// The reads of stages' expressions, as numbers in PointFrame and of stages.
struct Reads {
  std::set<uint32_t> reads, gathers, merges;
  void add(const Reads& other);
};

/// The reads of each walk under a skeleton. Under the kept skeleton, a walk does not count reads
/// that an earlier walk left in shared memory.
std::vector<Reads> walks_of(const TileBody& body, Skeleton skeleton);

/// The wide reads of reductions, as numbers in PointFrame. The kept skeleton keeps these.
std::vector<uint32_t> kept_reads(const TileBody& body);

/// The reads of stages that vary along the columns alone. The specialised skeleton copies these
/// ahead.
std::vector<uint32_t> reads_along_columns(const TileBody& body);

/// True if stages read an operand that varies along the rows alone.
bool reads_along_rows(const TileBody& body);

/// True if the kept skeleton can run a kernel under a schedule: rows reduced as a whole, with a
/// constant number of columns, whose kept reads have accesses of 16 bytes.
bool can_keep(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
