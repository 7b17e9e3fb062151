// SPDX-License-Identifier: Apache-2.0
// How much of its tensors a kernel reads and writes: the bytes that explain counts and the cost
// model charges. Caches are taken to keep a row's or a column's worth, and nothing more.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// What a kernel reads through one parameter. A walk goes once over the rows of a tile.
struct ReadTraffic {
  /// Elements that each walk reads, of states results; empty: it reads nothing.
  std::vector<Expr> walks;
};

/// By parameter. Streamed rows are read again by each reduction that needs them, and for the
/// stores. Of operands of which halves are multiplied, the halves are read.
std::vector<ReadTraffic> read_traffic(const Kernel& kernel, const Schedule& schedule);

/// True where a read of the stages has an element of its own at each row and column.
bool is_wide(const TileBody& body, const IndexMap& map);

} // namespace ingot
